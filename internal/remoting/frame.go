// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// A frame is its own length (4 bytes, big endian, not counting itself), the
// header's length (4 bytes, of which the first names the header's encoding),
// the header, and the body.

// DefaultMaxFrame is the longest frame that servers and Java clients take.
const DefaultMaxFrame = 16 << 20

// ErrMalformed is in the chain of errors about bytes that are no frame or no
// message.
var ErrMalformed = errors.New("malformed")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
}

// The encodings of a header.
const (
	headerJSON   = 0
	headerBinary = 1
)

// wireHeader is the header in JSON.
type wireHeader struct {
	Code      int               `json:"code"`
	Language  string            `json:"language"`
	Version   int               `json:"version"`
	Opaque    int32             `json:"opaque"`
	Flag      int32             `json:"flag"`
	Remark    string            `json:"remark,omitempty"`
	ExtFields map[string]string `json:"extFields,omitempty"`
}

// AppendCommand appends the frame of cmd, with a JSON header, which every
// server reads. It refuses fields that are no UTF-8, which JSON would change,
// and a frame longer than limit.
func AppendCommand(b []byte, cmd *Command, limit int) ([]byte, error) {
	return appendCommand(b, cmd, limit, len(cmd.Body))
}

// appendCommand is the same with the first bytes of the body only; whoever sends it
// has the others follow.
func appendCommand(b []byte, cmd *Command, limit, bodyPart int) ([]byte, error) {
	for k, v := range cmd.Fields {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return b, fmt.Errorf("field %q is not valid UTF-8", k)
		}
	}
	head, err := json.Marshal(wireHeader{Code: cmd.Code, Language: cmd.Language, Version: cmd.Version,
		Opaque: cmd.Opaque, Flag: cmd.Flag, Remark: cmd.Remark, ExtFields: cmd.Fields})
	if err != nil {
		return b, err
	}
	size := 4 + len(head) + len(cmd.Body)
	if size > limit || len(head) > 0xffffff {
		return b, fmt.Errorf("request of %d bytes, more than the %d that a server takes", size, limit)
	}
	b = slices.Grow(b, 4+size-len(cmd.Body)+bodyPart)
	b = binary.BigEndian.AppendUint32(b, uint32(size))
	b = binary.BigEndian.AppendUint32(b, uint32(len(head)))
	b = append(b, head...)
	return append(b, cmd.Body[:bodyPart]...), nil
}

// Reader reads commands from a stream. It is for one goroutine.
type Reader struct {
	r     io.Reader
	limit int
	head  []byte // reused from header to header
}

// NewReader returns a Reader of r, which should be buffered, that refuses
// frames longer than limit.
func NewReader(r io.Reader, limit int) *Reader { return &Reader{r: r, limit: limit} }

// Next reads one command. An error that is no [ErrMalformed] is the stream's;
// after either, the stream is of no further use. io.EOF means that the stream
// ended between two commands.
func (d *Reader) Next() (*Command, error) {
	var prefix [8]byte
	if _, err := io.ReadFull(d.r, prefix[:4]); err != nil {
		return nil, err
	}
	size := int64(binary.BigEndian.Uint32(prefix[:4]))
	if size < 4 || size > int64(d.limit) {
		return nil, malformed("frame of %d bytes, want 4 to %d%s", size, d.limit, notRemoting(prefix[:4]))
	}
	if _, err := io.ReadFull(d.r, prefix[4:]); err != nil {
		return nil, noEOF(err)
	}
	kind, n := prefix[4], int64(binary.BigEndian.Uint32(prefix[4:])&0xffffff)
	if n > size-4 {
		return nil, malformed("header of %d bytes in a frame of %d", n, size)
	}
	var err error
	if d.head, err = readInto(d.r, d.head[:0], int(n)); err != nil {
		return nil, err
	}
	cmd, err := decodeHeader(kind, d.head)
	if err != nil {
		return nil, err
	}
	if rest := int(size - 4 - n); rest > 0 {
		if cmd.Body, err = readInto(d.r, nil, rest); err != nil {
			return nil, err
		}
	}
	if cap(d.head) > 64<<10 {
		d.head = nil // one long header is no reason to keep its memory
	}
	return cmd, nil
}

func decodeHeader(kind byte, b []byte) (*Command, error) {
	switch kind {
	case headerJSON:
		var h wireHeader
		if err := json.Unmarshal(b, &h); err != nil {
			return nil, malformed("header: %v", err)
		}
		return &Command{Code: h.Code, Language: h.Language, Version: h.Version, Opaque: h.Opaque,
			Flag: h.Flag, Remark: h.Remark, Fields: h.ExtFields}, nil
	case headerBinary:
		return decodeBinaryHeader(b)
	}
	return nil, malformed("header encoding %d, want 0 (JSON) or 1 (binary)", kind)
}

// readStep is how much is allocated on the word of the other side. What is
// longer grows with what has come.
const readStep = 1 << 20

// readInto appends n bytes of r to b.
func readInto(r io.Reader, b []byte, n int) ([]byte, error) {
	for n > 0 {
		step := min(n, max(len(b), readStep))
		b = slices.Grow(b, step)
		part := b[len(b) : len(b)+step]
		if _, err := io.ReadFull(r, part); err != nil {
			return nil, noEOF(err)
		}
		b, n = b[:len(b)+step], n-step
	}
	return b, nil
}

// noEOF makes the end of a stream within a frame what it is.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// notRemoting knows servers of other protocols by their first bytes.
func notRemoting(prefix []byte) string {
	switch {
	case string(prefix) == "HTTP":
		return ": an HTTP server answered"
	case prefix[0] == 0x15 && prefix[1] == 0x03, prefix[0] == 0x16 && prefix[1] == 0x03:
		return ": the server speaks TLS"
	}
	return ""
}
