// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"crypto/rand"
	"encoding/binary"
	"sync/atomic"
	"time"
)

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return b
}

// uniqueKeys makes unique keys of 32 hexadecimal digits. As RocketMQ's tools
// expect, bytes 10 to 13 are the milliseconds since the month began here; the
// rest is random for the client, and a count at the end.
type uniqueKeys struct {
	client [10]byte
	last   atomic.Uint64 // time << 16 | count
}

func newUniqueKeys() *uniqueKeys { return &uniqueKeys{client: [10]byte(randomBytes(10))} }

// next returns a key that this client has not made before: the count runs over
// into the time when more than 65536 are made in a millisecond, and neither
// goes back with the clock.
func (u *uniqueKeys) next(now time.Time) string {
	for {
		last := u.last.Load()
		next := max(last+1, uint64(now.UnixMilli())<<16)
		if !u.last.CompareAndSwap(last, next) {
			continue
		}
		at := time.UnixMilli(int64(next >> 16)).In(now.Location())
		month := time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, at.Location())
		var b [16]byte
		copy(b[:], u.client[:])
		binary.BigEndian.PutUint32(b[10:], uint32(at.Sub(month).Milliseconds()))
		binary.BigEndian.PutUint16(b[14:], uint16(next))
		return upperHex(b)
	}
}

// upperHex spares what strings.ToUpper(hex.EncodeToString(b[:])) allocates for each
// message.
func upperHex(b [16]byte) string {
	const digits = "0123456789ABCDEF"
	var text [2 * len(b)]byte
	for i, x := range b {
		text[2*i], text[2*i+1] = digits[x>>4], digits[x&15]
	}
	return string(text[:])
}

// NewUniqueKey makes the id of a message, 32 hexadecimal digits, for those who must
// know it before they send.
func (c *Client) NewUniqueKey() string { return c.keys.next(time.Now()) }
