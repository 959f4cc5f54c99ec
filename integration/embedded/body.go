// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"crypto/md5"  //nolint:gosec // the protocol's checksum
	"crypto/sha1" //nolint:gosec // the protocol's checksum
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// DigestKind is a checksum of message bodies.
type DigestKind string

// The kinds of checksum that the protocol knows, and none.
const (
	DigestMD5   DigestKind = "MD5"
	DigestSHA1  DigestKind = "SHA1"
	DigestCRC32 DigestKind = "CRC32"
	DigestNone  DigestKind = "NONE"
)

// checksum computes the digest of a body as clients compute it: over the bytes
// as they travel, in upper-case hexadecimal.
func checksum(kind DigestKind, body []byte) string {
	var sum string
	switch kind {
	case DigestSHA1:
		s := sha1.Sum(body) //nolint:gosec // the protocol's checksum
		sum = hex.EncodeToString(s[:])
	case DigestCRC32:
		sum = fmt.Sprintf("%X", crc32.ChecksumIEEE(body))
	default:
		s := md5.Sum(body) //nolint:gosec // the protocol's checksum
		sum = hex.EncodeToString(s[:])
	}
	return strings.ToUpper(sum)
}

// Compression is a format of compressed bodies. On the wire each of them is
// announced as GZIP; readers tell them apart by their first bytes.
type Compression string

// The formats in which RocketMQ producers compress bodies. Zlib is the usual one.
const (
	Gzip Compression = "GZIP"
	Zlib Compression = "ZLIB"
	LZ4  Compression = "LZ4"
	Zstd Compression = "ZSTD"
)

func compress(format Compression, body []byte) ([]byte, error) {
	var buf bytes.Buffer
	var w io.WriteCloser
	switch format {
	case Gzip:
		w = gzip.NewWriter(&buf)
	case Zlib:
		w = zlib.NewWriter(&buf)
	case LZ4:
		w = lz4.NewWriter(&buf)
	case Zstd:
		z, err := zstd.NewWriter(&buf, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, fmt.Errorf("compressing a body with zstd: %w", err)
		}
		w = z
	default:
		return nil, fmt.Errorf("unknown compression %q", format)
	}
	if _, err := w.Write(body); err != nil {
		return nil, fmt.Errorf("compressing a body with %s: %w", format, err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compressing a body with %s: %w", format, err)
	}
	return buf.Bytes(), nil
}
