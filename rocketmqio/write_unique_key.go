// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"sync/atomic"
	"time"
)

// uniqueKeys makes the ids of messages that have none, before they are first
// sent: a repetition must have the same. They look like those of RocketMQ's own
// clients, whose tools read the time from bytes 10 to 13: milliseconds since the
// month began.
type uniqueKeys struct {
	process [10]byte
	count   atomic.Uint32
}

func newUniqueKeys() *uniqueKeys {
	k := &uniqueKeys{}
	rand.Read(k.process[:]) // never fails
	return k
}

// next returns another key. Within a millisecond there are 65536; the count
// spills into the random part of the process, so that there are more.
func (k *uniqueKeys) next(now time.Time) string {
	var b [16]byte
	copy(b[:], k.process[:])
	n := k.count.Add(1)
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	binary.BigEndian.PutUint16(b[8:], binary.BigEndian.Uint16(b[8:])^uint16(n>>16))
	binary.BigEndian.PutUint32(b[10:], uint32(now.Sub(month).Milliseconds()))
	binary.BigEndian.PutUint16(b[14:], uint16(n))
	return strings.ToUpper(hex.EncodeToString(b[:]))
}
