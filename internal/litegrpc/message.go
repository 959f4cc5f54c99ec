// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

// maxBody bounds what a compressed body may grow to: four times the most that
// brokers are usually told to take.
const maxBody = 128 << 20

// fillMessage copies what the proxy sent into out. It fails if the body is not
// the one that the producer sent, or if what is needed to settle the message is
// missing.
func fillMessage(out *coders.AckableMessage, m *v2.Message) error {
	p := m.GetSystemProperties()
	if err := checkHandle(p); err != nil {
		return err
	}
	out.Keys, out.Tag, out.Properties = p.GetKeys(), p.GetTag(), userProperties(m)
	out.BornTime, out.StoreTime = asTime(p.GetBornTimestamp()), asTime(p.GetStoreTimestamp())
	out.BornHost, out.QueueOffset = p.GetBornHost(), p.GetQueueOffset()
	body := m.GetBody()
	if body == nil {
		body = []byte{} // the wire does not tell an empty body from none
	}
	if err := checkDigest(p.GetBodyDigest(), body); err != nil {
		return err
	}
	var err error
	out.Body, err = decompress(p.GetBodyEncoding(), body)
	return err
}

// checkHandle looks for that without which nobody could acknowledge or defer
// the message: it would fail the work far from here, and all that shares its
// bundle with it.
func checkHandle(p *v2.SystemProperties) error {
	switch {
	case p == nil:
		return errors.New("it came without system properties")
	case p.GetReceiptHandle() == "":
		return errors.New("it came without a receipt handle")
	case p.GetLiteTopic() == "":
		return errors.New("it came without the name of its lite topic")
	}
	return nil
}

// dispatchProperty is the broker's own, which the proxy passes on with the
// user's.
const dispatchProperty = "INNER_MULTI_DISPATCH"

func userProperties(m *v2.Message) map[string]string {
	properties := m.GetUserProperties()
	delete(properties, dispatchProperty)
	if len(properties) == 0 {
		return nil
	}
	return properties
}

// farthest is how many whole seconds before and after 1970 records hold, which
// count nanoseconds; a little less, for the nanoseconds beside the seconds.
const farthest = math.MaxInt64/int64(time.Second) - 10

// asTime reads an instant. A producer writes into its messages what it likes,
// and a wrong clock is no reason to refuse them: what records cannot hold (years
// before 1678 and after 2262) becomes the nearest instant that they can.
func asTime(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	switch s := t.GetSeconds(); {
	case t.AsTime().IsZero():
		return time.Time{} // what producers in Go send who know none
	case s < -farthest:
		return time.Unix(-farthest, 0).UTC()
	case s > farthest:
		return time.Unix(farthest, 0).UTC()
	}
	return t.AsTime()
}

// checkDigest compares the checksum over the body as it was sent, compressed or
// not. CRC-32 comes as a hexadecimal number without leading zeros.
func checkDigest(d *v2.Digest, body []byte) error {
	var got string
	want := strings.ToLower(d.GetChecksum())
	switch d.GetType() {
	case v2.DigestType_CRC32:
		got = strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 16)
		want = strings.TrimLeft(want, "0")
		got = strings.TrimLeft(got, "0")
	case v2.DigestType_MD5:
		sum := md5.Sum(body)
		got = hex.EncodeToString(sum[:])
	case v2.DigestType_SHA1:
		sum := sha1.Sum(body)
		got = hex.EncodeToString(sum[:])
	default:
		return nil // none was sent, or of a kind that later versions know
	}
	if got != want {
		return fmt.Errorf("body of %d bytes has %v checksum %s, the producer's is %s", len(body), d.GetType(), got, want)
	}
	return nil
}

// decompress undoes the producer's compression. The encoding says GZIP whatever
// the algorithm was; the first bytes tell which.
func decompress(e v2.Encoding, body []byte) ([]byte, error) {
	if e != v2.Encoding_GZIP {
		return body, nil
	}
	r, err := decompressor(body)
	if err != nil {
		return nil, fmt.Errorf("decompressing a body of %d bytes: %w", len(body), err)
	}
	defer r.Close()
	out, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("decompressing a body of %d bytes: %w", len(body), err)
	}
	if len(out) > maxBody {
		return nil, fmt.Errorf("a body of %d bytes decompresses to more than %d", len(body), maxBody)
	}
	return out, nil
}

func decompressor(body []byte) (io.ReadCloser, error) {
	in := bytes.NewReader(body)
	switch {
	case bytes.HasPrefix(body, []byte{0x1f, 0x8b}):
		return gzip.NewReader(in)
	case bytes.HasPrefix(body, []byte{0x78}):
		return zlib.NewReader(in)
	case bytes.HasPrefix(body, []byte{0x04, 0x22, 0x4d, 0x18}):
		return io.NopCloser(lz4.NewReader(in)), nil
	case bytes.HasPrefix(body, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		d, err := zstd.NewReader(in, zstd.WithDecoderMaxMemory(maxBody), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return nil, errors.New("it is neither gzip, zlib, lz4 nor zstd")
}
