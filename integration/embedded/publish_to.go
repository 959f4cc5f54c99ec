// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"fmt"
	"slices"
)

// PublishTo stores a message in one queue without any client and returns its
// offset there. A topic of any kind takes it. It panics if the queue does not
// exist or an option is wrong: that is a mistake in the test.
func (b *Broker) PublishTo(q Queue, body []byte, opts ...PublishOption) int64 {
	c := b.newContent(q.Topic, slices.Clone(body), opts)
	core := b.core
	core.mu.Lock()
	defer core.mu.Unlock()
	r := core.appendTo(core.mustFind(q), c, true)
	core.notify()
	return r.sendOffset
}

// PublishMany stores messages, one a body, in all queues of a topic in turn,
// fast. Bodies are not copied, and may be the same slice again and again; options
// hold for each of the messages. It panics as PublishTo does.
func (b *Broker) PublishMany(topic string, bodies [][]byte, opts ...PublishOption) {
	core := b.core
	core.mu.Lock()
	defer core.mu.Unlock()
	t := core.topics[topic]
	if t == nil {
		panic(fmt.Sprintf("embedded.PublishMany: there is no topic %q", topic))
	}
	b.publishMany(t.queues, topic, bodies, opts)
}

// PublishManyTo is PublishMany into one queue.
func (b *Broker) PublishManyTo(q Queue, bodies [][]byte, opts ...PublishOption) {
	core := b.core
	core.mu.Lock()
	defer core.mu.Unlock()
	b.publishMany([]*queue{core.mustFind(q)}, q.Topic, bodies, opts)
}

func (b *Broker) publishMany(queues []*queue, topic string, bodies [][]byte, opts []PublishOption) {
	if len(bodies) == 0 {
		return
	}
	core := b.core
	model := b.newContent(topic, bodies[0], opts)
	t := queues[0].topic
	t.order = slices.Grow(t.order, len(bodies))
	for i, body := range bodies {
		c := model
		c.body = body
		if i > 0 {
			c.id = b.ids.next()
		}
		core.appendTo(queues[i%len(queues)], c, true)
	}
	core.notify()
}

func (b *Broker) newContent(topic string, body []byte, opts []PublishOption) content {
	c := content{
		id: b.ids.next(), topic: topic, body: body, properties: map[string]string{},
		born: b.core.clock.Now(), bornHost: "127.0.0.1",
	}
	for _, o := range opts {
		if err := o(&c); err != nil {
			panic("embedded: publishing to topic " + topic + ": " + err.Error())
		}
	}
	return c
}

// mustFind returns a queue that has to exist. The lock is held.
func (c *core) mustFind(q Queue) *queue {
	t := c.topics[q.Topic]
	if t != nil {
		if found := t.find(c.brokerIndex(q.Broker), int64(q.ID)); found != nil {
			return found
		}
	}
	panic(fmt.Sprintf("embedded: there is no queue %d of topic %q at broker %q", q.ID, q.Topic, q.Broker))
}

// brokerIndex is that of a broker's name; no name is the first one.
func (c *core) brokerIndex(name string) int {
	if name == "" {
		return 0
	}
	return slices.Index(c.cfg.brokers, name)
}
