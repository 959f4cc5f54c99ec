// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"crypto/sha256"
	"strconv"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

// appendID appends an id of a message that is the same each time it is read, and
// another for what stands in its place when the topic is made anew.
func appendID(b []byte, m *coders.Message) []byte {
	b = append(b, m.Broker...)
	b = append(append(b, '/'), m.MessageID...)
	b = append(append(b, '/'), m.UniqueKey...)
	return strconv.AppendInt(append(b, '/'), m.StoreTime.UnixMilli(), 36)
}

// idOf is the unique key of a message that is written: the same when a runner
// repeats a bundle, so that consumers can drop repetitions. It looks as the ids
// of producers do.
func idOf[ID string | []byte](statement string, message ID, row int) string {
	var room [320]byte
	b := append(room[:0], statement...)
	b = append(append(b, '/'), message...)
	b = strconv.AppendInt(append(b, '/'), int64(row), 10)
	sum := sha256.Sum256(b) // processors are fast at it
	const digits = "0123456789ABCDEF"
	var id [32]byte
	for i, v := range sum[:len(id)/2] {
		id[2*i], id[2*i+1] = digits[v>>4], digits[v&15]
	}
	return string(id[:])
}
