// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"strconv"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// minOffset answers GET_MIN_OFFSET (31).
func (c *remotingCall) minOffset() *remoting.Command {
	return c.ofQueue(func(q *queue) int64 { return q.min })
}

// ofQueue answers with a number of a queue; 0 for a queue that does not exist.
func (c *remotingCall) ofQueue(get func(*queue) int64) *remoting.Command {
	if a := c.missing("topic", "queueId"); a != nil {
		return a
	}
	core := c.at.b.core
	core.mu.Lock()
	defer core.mu.Unlock()
	offset := int64(0)
	if q := c.queue(); q != nil {
		offset = get(q)
	}
	return c.ok(map[string]string{"offset": strconv.FormatInt(offset, 10)})
}

// queue is the one that the request names, nil if there is none. The lock is held.
func (c *remotingCall) queue() *queue {
	t := c.at.b.core.topics[c.text("topic")]
	if t == nil {
		return nil
	}
	return t.find(c.at.broker, c.number("queueId", -1))
}
