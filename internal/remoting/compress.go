// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Compression is how a body is compressed, as bits 8 to 10 of a message's
// system flag say.
type Compression int

// The kinds of compression. A compressed message without a kind, as clients
// before 5.0 send it, is zlib.
const (
	NoCompression Compression = iota
	LZ4
	Zstd
	Zlib
)

func (c Compression) String() string {
	switch c {
	case NoCompression:
		return "none"
	case LZ4:
		return "lz4"
	case Zstd:
		return "zstd"
	case Zlib:
		return "zlib"
	}
	return fmt.Sprintf("compression %d", int(c))
}

// errTooLarge is what decompress says of a body that would grow over the limit.
var errTooLarge = errors.New("decompressed body is larger than the limit")

// inflater decompresses bodies. It keeps a zstd decoder, which has no
// goroutine, from body to body; the zero value is ready.
type inflater struct {
	once sync.Once
	zstd *zstd.Decoder
	err  error
}

func (f *inflater) decompress(kind Compression, b []byte, limit int) ([]byte, error) {
	switch kind {
	case LZ4:
		return readAll(lz4.NewReader(bytes.NewReader(b)), len(b), limit)
	case Zstd:
		return f.unzstd(b, limit)
	case NoCompression, Zlib:
		r, err := zlib.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		return readAll(r, len(b), limit)
	}
	return nil, fmt.Errorf("%v is unknown", kind)
}

func (f *inflater) unzstd(b []byte, limit int) ([]byte, error) {
	f.once.Do(func() {
		f.zstd, f.err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(uint64(limit)))
	})
	if f.err != nil {
		return nil, f.err
	}
	// A frame may say its length, true or not: the decoder allocates no more
	// than its limit for it.
	out, err := f.zstd.DecodeAll(b, nil)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return nil, errTooLarge
	}
	if err == nil && len(out) > limit {
		return nil, errTooLarge
	}
	return out, err
}

// readAll reads r to its end, at most limit bytes.
func readAll(r io.Reader, compressed, limit int) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(min(4*compressed, limit))
	n, err := out.ReadFrom(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if n > int64(limit) {
		return nil, errTooLarge
	}
	return out.Bytes(), nil
}

// compress is for bodies that are sent.
func compress(kind Compression, b []byte) ([]byte, error) {
	var out bytes.Buffer
	var w io.WriteCloser
	switch kind {
	case LZ4:
		w = lz4.NewWriter(&out)
	case Zlib:
		w = zlib.NewWriter(&out)
	case Zstd:
		enc, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		w = enc
	default:
		return nil, fmt.Errorf("%v is unknown", kind)
	}
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
