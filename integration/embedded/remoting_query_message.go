// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"strconv"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// uniqueFlag in a query's fields says that the key is the unique one.
const uniqueFlag = "_UNIQUE_KEY_QUERY"

// maxQueried is how many messages a query returns at most (maxMsgsNumBatch).
const maxQueried = 64

// maxUnique is how many messages a query by unique key returns, whatever it asks
// for.
const maxUnique = 32

// queryMessage answers QUERY_MESSAGE (12).
func (c *remotingCall) queryMessage() *remoting.Command {
	if a := c.missing("topic", "key", "maxNum", "beginTimestamp", "endTimestamp"); a != nil {
		return a
	}
	found := c.lookUp()
	if len(found) == 0 {
		return c.refuse(remoting.CodeQueryNotFound, "can not find message, maybe time range not correct")
	}
	last := found[len(found)-1]
	return &remoting.Command{Body: encodeRecords(found, c.at), Fields: map[string]string{
		"indexLastUpdateTimestamp": strconv.FormatInt(last.stored.UnixMilli(), 10),
		"indexLastUpdatePhyoffset": strconv.FormatInt(last.commitLog, 10),
	}}
}

func (c *remotingCall) lookUp() []*record {
	core := c.at.b.core
	core.mu.Lock()
	defer core.mu.Unlock()
	t := core.topics[c.text("topic")]
	if t == nil {
		return nil
	}
	key, most := c.text("key"), min(int(c.number("maxNum", 0)), maxQueried)
	switch {
	case c.flag(uniqueFlag, false):
		most = maxUnique
	case c.text("indexType") == "T":
		key = tagKey + key
	}
	found := core.lookUp(t, c.at.broker, key, most, c.number("beginTimestamp", 0), c.number("endTimestamp", 0))
	for _, r := range found {
		r.wireOf()
	}
	return found
}
