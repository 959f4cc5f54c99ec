// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"fmt"
	"slices"
)

// master returns the endpoint of a broker. It panics if there is none of that
// name; an empty one is the first.
func (b *Broker) master(name string) *endpoint {
	i := b.core.brokerIndex(name)
	if i < 0 {
		panic(fmt.Sprintf("embedded: there is no broker %q, only %q", name, b.cfg.brokers))
	}
	return b.endpointsOf(i)[0]
}

// CreateTopic creates a topic of type NORMAL with so many queues at each broker,
// or gives it more of them.
func (b *Broker) CreateTopic(topic string, queues int) { b.shapeTopic(topic, queues) }

// ExpandQueues gives a topic n queues at each broker. Those that it has stay.
func (b *Broker) ExpandQueues(topic string, n int) { b.shapeTopic(topic, n) }

func (b *Broker) shapeTopic(topic string, queues int) {
	if text := badTopic(topic); text != "" {
		panic("embedded: " + text)
	}
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.topicNamed(topic, kindNormal)
	for i := range c.cfg.brokers {
		t.reshape(i, shape{reads: queues, writes: queues, perm: permRead | permWrite})
	}
	c.notify()
	c.log.Info("topic has queues", "topic", topic, "queues", queues)
}

// SetPermission says whether a topic can be read and written, at all brokers.
func (b *Broker) SetPermission(topic string, readable, writable bool) {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.topicNamed(topic, kindNormal)
	for i := range t.shapes {
		t.shapes[i].perm = 0
		if readable {
			t.shapes[i].perm |= permRead
		}
		if writable {
			t.shapes[i].perm |= permWrite
		}
	}
	c.log.Info("topic has permissions", "topic", topic, "readable", readable, "writable", writable)
}

// DeleteTopic removes a topic with its messages; offsets of groups stay, as in
// RocketMQ.
func (b *Broker) DeleteTopic(topic string) {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.topics[topic]
	if t == nil {
		return
	}
	t.stopTimers()
	for _, r := range t.order {
		delete(c.byID, r.id)
	}
	delete(c.topics, topic)
	c.notify()
	c.log.Info("topic deleted", "topic", topic)
}

// ExpireMessages removes the messages of a queue below an offset, as the broker
// does when their retention is over, and returns how many they were.
func (b *Broker) ExpireMessages(q Queue, upTo int64) int {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.expire(c.mustFind(q), upTo)
	c.notify()
	c.log.Info("messages expired", "topic", q.Topic, "queue", q.ID, "below", upTo, "messages", n)
	return n
}

// SetCommitted writes a group's offset, which may be any number.
func (b *Broker) SetCommitted(group string, q Queue, offset int64) {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	c.findGroup(group)
	c.offsets[c.keyOf(group, q)] = offset
	q.Broker = c.cfg.brokers[c.brokerIndex(q.Broker)]
	c.commits.add(Commit{At: c.clock.Now(), Group: group, Queue: q, Offset: offset})
	c.notify()
	c.log.Info("offset set", "group", group, "topic", q.Topic, "queue", q.ID, "offset", offset)
}

func (c *core) keyOf(group string, q Queue) offsetKey {
	return offsetKey{group, q.Topic, c.brokerIndex(q.Broker), int64(q.ID)}
}

// StopBroker closes the port of a broker (empty: the first) and cuts its
// connections, until ResumeBroker. The name server goes on listing it, as it does
// for two minutes after a broker's host has died; UnregisterBroker ends that. Its
// slaves go on.
func (b *Broker) StopBroker(name string) {
	e := b.master(name)
	e.stop()
	b.core.log.Info("broker stopped", "broker", e.name, "address", e.address())
}

// ResumeBroker listens again on the port that StopBroker closed, and registers
// the broker at the name server. It panics if another process has taken the port.
func (b *Broker) ResumeBroker(name string) {
	e := b.master(name)
	if err := e.start(e.address()); err != nil && err != errClosed {
		panic("embedded: resuming a broker: " + err.Error())
	}
	e.hide(false)
	b.core.log.Info("broker listens again", "broker", e.name, "address", e.address())
}

// RestartBroker restarts brokers behind the proxies, all if none is named.
// Messages and committed offsets stay. What a broker keeps in memory is lost: lite
// subscriptions, which messages of lite topics are out, and what heartbeats of
// the remoting side told. Those of one broker of several are lost if it is the
// first, for that is the one that the gRPC side knows.
func (b *Broker) RestartBroker(names ...string) {
	if len(names) == 0 {
		names = b.cfg.brokers
	}
	for _, n := range names {
		b.StopBroker(n)
		if b.core.brokerIndex(n) == 0 {
			b.core.forgetMemory()
		}
		b.ResumeBroker(n)
	}
}

// forgetMemory is what the end of a broker's process does to lite topics.
func (c *core) forgetMemory() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.subs {
		c.unsubscribe(id)
	}
	for _, t := range c.topics {
		for _, q := range t.lites {
			for _, cur := range q.cursors {
				cur.order = nil
				c.armUnlock(cur)
				c.offer(cur)
			}
		}
	}
	c.notify()
}

// FailOver makes a broker go on at another port, as if another host had taken its
// name over: the old port is closed, the name server knows of the new one at
// once. It returns the new address.
func (b *Broker) FailOver(name string) string {
	e := b.master(name)
	if err := e.move("127.0.0.1:0"); err != nil {
		panic("embedded: failing a broker over: " + err.Error())
	}
	e.hide(false)
	b.core.log.Info("broker goes on elsewhere", "broker", e.name, "address", e.address())
	return e.address()
}

// UnregisterBroker takes a broker, but not its slaves, out of the routes, until
// ResumeBroker or FailOver.
func (b *Broker) UnregisterBroker(name string) {
	b.master(name).hide(true)
	b.core.log.Info("broker unregistered", "broker", name)
}

func (e *endpoint) hide(hidden bool) {
	e.mu.Lock()
	e.hidden = hidden
	e.mu.Unlock()
	e.b.core.poke()
}

// SuggestBroker makes a broker end each pull with the advice to go on at the one
// with this id: 0 for itself, 1 for its first slave. Slaves always send back to
// the master.
func (b *Broker) SuggestBroker(name string, id int64) {
	e := b.master(name)
	e.mu.Lock()
	e.suggest = id
	e.mu.Unlock()
	b.core.log.Info("pulls are sent elsewhere", "broker", name, "id", id)
}

// StopNameServer closes the name server's port and cuts its connections, until
// ResumeNameServer.
func (b *Broker) StopNameServer() {
	b.endpoints[0].stop()
	b.core.log.Info("name server stopped", "address", b.NameServer())
}

// ResumeNameServer listens again. It panics if another process has taken the port.
func (b *Broker) ResumeNameServer() {
	if err := b.endpoints[0].start(b.NameServer()); err != nil && err != errClosed {
		panic("embedded: resuming the name server: " + err.Error())
	}
	b.core.log.Info("name server listens again", "address", b.NameServer())
}

// DropConnections breaks all connections of the remoting side. Clients may
// connect again at once.
func (b *Broker) DropConnections() {
	for _, e := range b.endpoints {
		e.cut()
	}
	b.core.log.Info("remoting connections dropped")
}

// Committed returns a group's offset in a queue, and whether it has one.
func (b *Broker) Committed(group string, q Queue) (int64, bool) {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	offset, ok := c.offsets[c.keyOf(group, q)]
	return offset, ok
}

// QueueOffsets returns the offset of the first message of a queue that has not
// expired, and the one that the next message will get.
func (b *Broker) QueueOffsets(q Queue) (least, next int64) {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.mustFind(q)
	return found.min, found.maxOffset()
}

// MessagesIn returns the messages of a queue that have not expired, in order.
func (b *Broker) MessagesIn(q Queue) []Message {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.mustFind(q)
	out := make([]Message, 0, len(found.msgs))
	for _, r := range slices.Compact(slices.Clone(found.msgs[found.min:])) {
		out = append(out, c.view(r))
	}
	return out
}

// Pulls returns the pulls that were answered, in order; the latest 131072.
func (b *Broker) Pulls() []Pull {
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	return b.core.pulls.all()
}

// Commits returns what was written as groups' offsets, in order; the latest
// 131072.
func (b *Broker) Commits() []Commit {
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	return b.core.commits.all()
}

// Consumers returns the client ids of a group that heartbeats have told of.
func (b *Broker) Consumers(group string) []string {
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	var out []string
	if m := b.core.consumers[group]; m != nil {
		for id := range m.clients {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// Committed is Broker.Committed.
func (s Snapshot) Committed(group string, q Queue) (int64, bool) { return s.b.Committed(group, q) }

// Pulls is Broker.Pulls.
func (s Snapshot) Pulls() []Pull { return s.b.Pulls() }

// Commits is Broker.Commits.
func (s Snapshot) Commits() []Commit { return s.b.Commits() }

// Consumers is Broker.Consumers.
func (s Snapshot) Consumers(group string) []string { return s.b.Consumers(group) }
