// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import "github.com/rocketmq-beam/rocketmq-beam/internal/remoting"

// commit answers UPDATE_CONSUMER_OFFSET (15). Any offset is taken, one that goes
// backwards or is negative too. The group has to exist, the queue has not.
func (c *remotingCall) commit() *remoting.Command {
	if a := c.missing("consumerGroup", "topic", "queueId", "commitOffset"); a != nil {
		return a
	}
	core := c.at.b.core
	core.mu.Lock()
	defer core.mu.Unlock()
	group, topic := c.text("consumerGroup"), c.text("topic")
	if core.groups[group] == nil {
		return c.refuse(remoting.CodeGroupNotExist, "Group %s not exist!", group)
	}
	if t := core.topics[topic]; t == nil || !t.at(c.at.broker).exists() {
		return c.refuse(remoting.CodeTopicNotExist, "Topic %s not exist!", topic)
	}
	c.commitOffset(c.number("queueId", 0), c.number("commitOffset", 0))
	core.notify()
	return c.ok(nil)
}

// commitOffset writes the group's offset. The lock is held.
func (c *remotingCall) commitOffset(number, offset int64) {
	core := c.at.b.core
	k := c.offsetKey(number)
	core.offsets[k] = offset
	core.commits.add(Commit{
		At: core.clock.Now(), Group: k.group, Offset: offset, Connection: c.conn.remote,
		Queue: Queue{Topic: k.topic, Broker: c.at.name, ID: int(number)},
	})
}
