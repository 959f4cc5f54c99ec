// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"
)

// messageIDs makes ids in the form of RocketMQ 5: version 01, six bytes for the
// host, two for the process, four for the seconds since 2021, four that count.
// In place of host and process stand random bytes, so that two producers of one
// process differ too.
type messageIDs struct {
	prefix [8]byte
	count  atomic.Uint32
}

// idEpoch is where the seconds of an id begin.
var idEpoch = time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)

func newMessageIDs() *messageIDs {
	m := &messageIDs{}
	rand.Read(m.prefix[:]) // never fails
	return m
}

func (m *messageIDs) next(now time.Time) string {
	var b [16]byte
	copy(b[:], m.prefix[:])
	binary.BigEndian.PutUint32(b[8:], uint32(now.Sub(idEpoch)/time.Second))
	binary.BigEndian.PutUint32(b[12:], m.count.Add(1))
	return fmt.Sprintf("01%X", b)
}
