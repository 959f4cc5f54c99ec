// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"maps"
	"slices"
	"sort"
	"sync"
	"time"
)

// Delivery is one time that a message was handed to a consumer.
type Delivery struct {
	Group          string
	At             time.Time
	Handle         string
	Attempt        int       // as told to the consumer
	InvisibleUntil time.Time // as of the delivery
}

// Deferral is one change of a message's invisibility.
type Deferral struct {
	Group    string
	At       time.Time
	Duration time.Duration
	Suspend  bool
	Handle   string // the new one
	Stale    bool   // answered OK without effect, for the handle was of an earlier delivery
}

// Message is what the broker knows of a message: a copy, safe to keep.
type Message struct {
	ID           string
	Topic        string
	LiteTopic    string
	Body         []byte // as stored
	Keys         []string
	Tag          string
	Properties   map[string]string
	MessageGroup string
	Born         time.Time
	Stored       time.Time
	Offset       int64 // in its lite topic, or in its queue
	QueueID      int32

	Deliveries []Delivery // over all groups, in order of time
	Deferrals  []Deferral
	Attempt    int // highest attempt told to a consumer, 0 if none was

	// AckedBy and DeadLetteredBy tell per group when that happened.
	AckedBy        map[string]time.Time
	DeadLetteredBy map[string]time.Time
	// StaleAcks counts acks that were answered OK without effect.
	StaleAcks int
	// InvisibleUntil is the latest instant up to which a group holds the message,
	// zero if none does.
	InvisibleUntil time.Time
}

// Acked reports whether some group has acked the message.
func (m Message) Acked() bool { return len(m.AckedBy) > 0 }

// DeadLettered reports whether some group has given the message up.
func (m Message) DeadLettered() bool { return len(m.DeadLetteredBy) > 0 }

// Session is what a proxy knows of a client.
type Session struct {
	Proxy      int
	ClientID   string
	Type       string // name of the client type
	Group      string
	Subscribed bool     // has a lite subscription
	Wildcard   bool     // to all lite topics
	LiteTopics []string // or to these
	Stream     bool     // has an open telemetry stream
}

// Message returns what is known of a message, by its id.
func (b *Broker) Message(id string) (Message, bool) {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.byID[id]
	if r == nil {
		return Message{}, false
	}
	return c.view(r), true
}

// Messages returns all messages of a topic in the order of their arrival. The
// dead letters of a group lie in topic "%DLQ%" + group.
func (b *Broker) Messages(topic string) []Message {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.topics[topic]
	if t == nil {
		return nil
	}
	out := make([]Message, 0, len(t.order))
	for _, r := range t.order {
		out = append(out, c.view(r))
	}
	return out
}

// Pending returns how many messages of a topic wait to be acked or given up by
// the group that lags most among those that have received from the topic. As
// long as no group has, all messages are pending.
func (b *Broker) Pending(topic string) int {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.topics[topic]
	if t == nil {
		return 0
	}
	if len(t.settled) == 0 {
		return len(t.order)
	}
	most := 0
	for _, n := range t.settled {
		most = max(most, len(t.order)-n)
	}
	return most
}

// PendingIn is Pending for one group, whether it has received anything or not.
func (b *Broker) PendingIn(topic, group string) int {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.topics[topic]
	if t == nil {
		return 0
	}
	return len(t.order) - t.settled[group]
}

// LongPolls returns how many ReceiveMessages and pulls of a group wait for
// messages. Wait for it before moving a Clock past their time.
func (b *Broker) LongPolls(group string) int {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.holdsOf(group)
	if g := c.groups[group]; g != nil {
		for _, p := range g.polls {
			if !p.abandoned {
				n++
			}
		}
	}
	return n
}

// Sessions returns the sessions of all proxies, ordered by proxy and client id.
func (b *Broker) Sessions() []Session {
	var out []Session
	for _, p := range b.proxies {
		p.mu.Lock()
		for _, s := range p.sessions {
			out = append(out, Session{Proxy: p.index, ClientID: s.clientID, Type: s.kind().String(), Group: s.group(), Stream: s.stream != nil})
		}
		p.mu.Unlock()
	}
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	for i := range out {
		if s := b.core.subs[out[i].ClientID]; s != nil {
			out[i].Subscribed, out[i].Wildcard = true, s.wildcard
			out[i].LiteTopics = slices.Sorted(maps.Keys(s.lites))
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Proxy != out[j].Proxy {
			return out[i].Proxy < out[j].Proxy
		}
		return out[i].ClientID < out[j].ClientID
	})
	return out
}

// Connections returns how many connections are open, over all proxies, name
// servers and brokers.
func (b *Broker) Connections() int {
	n := 0
	for _, p := range b.proxies {
		p.mu.Lock()
		n += len(p.conns)
		p.mu.Unlock()
	}
	for _, e := range b.endpoints {
		n += e.connections()
	}
	return n
}

// Requests returns how many requests of a method have arrived since Start,
// whatever became of them. AnyMethod sums all.
func (b *Broker) Requests(m Method) int { return b.counts.get(m) }

type counts struct {
	mu sync.Mutex
	n  map[Method]int
}

func (c *counts) get(m Method) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m != AnyMethod {
		return c.n[m]
	}
	sum := 0
	for _, n := range c.n {
		sum += n
	}
	return sum
}

func (b *Broker) count(r *Request) {
	b.counts.mu.Lock()
	if b.counts.n == nil {
		b.counts.n = map[Method]int{}
	}
	b.counts.n[r.Method]++
	b.counts.mu.Unlock()
	b.core.poke()
}

// Wait returns when cond holds, or with the context's error. cond is asked again
// after each change in the broker (a request, a message, a delivery, an ack, a
// session, a connection, a timer); it should be quick and must not call Wait.
func (b *Broker) Wait(ctx context.Context, cond func(Snapshot) bool) error {
	c := b.core
	c.mu.Lock()
	c.watchers++
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.watchers--
		c.mu.Unlock()
	}()
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		if cond(Snapshot{b}) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-c.closed:
			return errClosed
		}
	}
}

// Snapshot is what a condition of Wait may look at. Its methods are those of the
// same names of Broker.
type Snapshot struct{ b *Broker }

// Message is Broker.Message.
func (s Snapshot) Message(id string) (Message, bool) { return s.b.Message(id) }

// Messages is Broker.Messages.
func (s Snapshot) Messages(topic string) []Message { return s.b.Messages(topic) }

// Pending is Broker.Pending.
func (s Snapshot) Pending(topic string) int { return s.b.Pending(topic) }

// PendingIn is Broker.PendingIn.
func (s Snapshot) PendingIn(topic, group string) int { return s.b.PendingIn(topic, group) }

// LongPolls is Broker.LongPolls.
func (s Snapshot) LongPolls(group string) int { return s.b.LongPolls(group) }

// Sessions is Broker.Sessions.
func (s Snapshot) Sessions() []Session { return s.b.Sessions() }

// Connections is Broker.Connections.
func (s Snapshot) Connections() int { return s.b.Connections() }

// Requests is Broker.Requests.
func (s Snapshot) Requests(m Method) int { return s.b.Requests(m) }

// WaitIdle returns when no message of the topic is pending (see Pending).
func (b *Broker) WaitIdle(ctx context.Context, topic string) error {
	return b.Wait(ctx, func(s Snapshot) bool { return s.Pending(topic) == 0 })
}

// view copies a record. The lock is held.
func (c *core) view(r *record) Message {
	m := Message{
		ID: r.id, Topic: r.topic, LiteTopic: r.liteTopic, Body: slices.Clone(r.body), Keys: slices.Clone(r.keys),
		Tag: r.tag, Properties: maps.Clone(r.properties), MessageGroup: r.messageGroup, Born: r.born, Stored: r.stored,
		Offset: r.queueOffset, QueueID: r.queueID,
		AckedBy: map[string]time.Time{}, DeadLetteredBy: map[string]time.Time{},
	}
	for g, tr := range r.trails {
		m.Deliveries = append(m.Deliveries, tr.deliveries...)
		m.Deferrals = append(m.Deferrals, tr.deferrals...)
		m.StaleAcks += tr.staleAcks
		if !tr.acked.IsZero() {
			m.AckedBy[g] = tr.acked
		}
		if !tr.deadLettered.IsZero() {
			m.DeadLetteredBy[g] = tr.deadLettered
		}
	}
	slices.SortStableFunc(m.Deliveries, func(a, b Delivery) int { return a.At.Compare(b.At) })
	slices.SortStableFunc(m.Deferrals, func(a, b Deferral) int { return a.At.Compare(b.At) })
	for _, d := range m.Deliveries {
		m.Attempt = max(m.Attempt, d.Attempt)
	}
	m.InvisibleUntil = c.heldUntil(r)
	return m
}

func (c *core) heldUntil(r *record) time.Time {
	if r.home == nil {
		return time.Time{}
	}
	var until int64
	for _, cur := range r.home.cursors {
		if o := cur.order; o != nil {
			if i := o.index(r.queueOffset); i >= 0 && !o.acked[i] {
				until = max(until, o.visibleAt(r.queueOffset))
			}
		}
		for k, l := range cur.leases {
			if k.commitLog == r.commitLog {
				until = max(until, l.until)
			}
		}
	}
	if until <= c.nowMillis() {
		return time.Time{}
	}
	return time.UnixMilli(until)
}

// forgetMessages takes a lite topic's messages out of the topic's list.
func (c *core) forgetMessages(t *topic, lite string) {
	t.drop(func(r *record) bool { return r.liteTopic == lite })
}

// drop takes messages out of the topic's list.
func (t *topic) drop(gone func(*record) bool) {
	t.keys = keyIndex{}
	t.order = slices.DeleteFunc(t.order, func(r *record) bool {
		if !gone(r) {
			return false
		}
		for g, tr := range r.trails {
			if !tr.acked.IsZero() || !tr.deadLettered.IsZero() {
				t.settled[g]--
			}
		}
		return true
	})
}
