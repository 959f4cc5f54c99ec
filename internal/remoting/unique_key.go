// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"strings"
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
		b := append(make([]byte, 0, 16), u.client[:]...)
		b = binary.BigEndian.AppendUint32(b, uint32(at.Sub(month).Milliseconds()))
		b = binary.BigEndian.AppendUint16(b, uint16(next))
		return strings.ToUpper(hex.EncodeToString(b))
	}
}
