// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"math"
	"strconv"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// uniqueFlag in a query's fields says that the key is the unique one.
const uniqueFlag = "_UNIQUE_KEY_QUERY"

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
	return &remoting.Command{Body: encodeRecords(nil, found, c.at), Fields: map[string]string{
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
	unique, most := c.flag(uniqueFlag, false) || c.text("indexType") == "U", int(c.number("maxNum", 0))
	if unique {
		most = maxUnique
	}
	from, to := c.number("beginTimestamp", 0), c.number("endTimestamp", math.MaxInt64)
	found := t.lookUp(c.at.broker, c.text("key"), unique, most, time.UnixMilli(from), time.UnixMilli(min(to, 1<<50)))
	for _, r := range found {
		r.wireOf()
	}
	return found
}
