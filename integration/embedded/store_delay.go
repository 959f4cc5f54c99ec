// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"strconv"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// delayLevels are RocketMQ's, from level 1 on.
var delayLevels = [...]time.Duration{
	time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 3 * time.Minute,
	4 * time.Minute, 5 * time.Minute, 6 * time.Minute, 7 * time.Minute, 8 * time.Minute, 9 * time.Minute,
	10 * time.Minute, 20 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
}

const scheduleTopic = "SCHEDULE_TOPIC_XXXX"

// put stores a message in its queue, at once or when its delay level is over.
// The record that it returns for the latter is that in the schedule's own topic,
// where the sender is told that it lies. The lock is held.
func (c *core) put(q *queue, m content) *record {
	level, err := strconv.Atoi(m.wire.properties.Get(remoting.PropertyDelayLevel))
	if err != nil || level <= 0 {
		return c.appendTo(q, m, true)
	}
	level = min(level, len(delayLevels))
	t := c.topicNamed(scheduleTopic, kindNormal)
	if !t.at(q.broker).exists() {
		t.reshape(q.broker, shape{reads: len(delayLevels), writes: len(delayLevels), perm: permRead | permWrite})
	}
	// The properties that the schedule needs stay with the message to the end.
	w := *m.wire
	w.properties = addProperty(addProperty(w.properties, propertyRealTopic, m.topic), propertyRealQueue, strconv.Itoa(int(q.number)))
	m.wire = &w
	waiting := m
	waiting.topic = scheduleTopic
	r := c.appendTo(t.find(q.broker, int64(level-1)), waiting, true)
	c.later(delayLevels[level-1], func() { c.appendTo(q, m, true) })
	return r
}

// later runs fn under the lock once d has passed, and is undone by close.
func (c *core) later(d time.Duration, fn func()) {
	var mine stopper
	mine = c.after(d, func() {
		delete(c.delayed, mine)
		fn()
	})
	c.delayed[mine] = struct{}{}
}
