// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"encoding/hex"
	"hash/fnv"
	"io"
	"strconv"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

// idOfNormal is an id of a message that is the same each time it is read, and
// another for what stands in its place when the topic is made anew.
func idOfNormal(m *coders.Message) string {
	return m.Broker + "/" + m.MessageID + "/" + m.UniqueKey + "/" + strconv.FormatInt(m.StoreTime.UnixMilli(), 36)
}

// idOf is the unique key of a message that is written: the same when a runner
// repeats a bundle, so that consumers can drop repetitions. It looks as the ids
// of producers do.
func idOf(statement, message string, row int) string {
	h := fnv.New128a()
	io.WriteString(h, statement) // a hash takes everything
	io.WriteString(h, "/"+message+"/"+strconv.Itoa(row))
	return strings.ToUpper(hex.EncodeToString(h.Sum(nil)))
}
