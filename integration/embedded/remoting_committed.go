// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"strconv"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// committed answers QUERY_CONSUMER_OFFSET (14).
//
// A group without an offset is told 0 where the queue's first message is still
// there, unless it says setZeroIfNotFound=false; else that there is none (22).
func (c *remotingCall) committed() *remoting.Command {
	if a := c.missing("consumerGroup", "topic", "queueId"); a != nil {
		return a
	}
	core := c.at.b.core
	core.mu.Lock()
	defer core.mu.Unlock()
	offset, ok := core.offsets[c.offsetKey(c.number("queueId", 0))]
	if ok && offset >= 0 {
		return c.ok(map[string]string{"offset": strconv.FormatInt(offset, 10)})
	}
	if !c.flag("setZeroIfNotFound", true) {
		return c.refuse(remoting.CodeQueryNotFound, "Not found, do not set to zero, maybe this group boot first")
	}
	if q := c.queue(); q != nil && q.min == 0 && q.maxOffset() > 0 {
		return c.ok(map[string]string{"offset": "0"})
	}
	return c.refuse(remoting.CodeQueryNotFound, "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first")
}

func (c *remotingCall) offsetKey(number int64) offsetKey {
	return offsetKey{c.text("consumerGroup"), c.text("topic"), c.at.broker, number}
}
