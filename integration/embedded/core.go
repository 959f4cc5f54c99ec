// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"log/slog"
	"sync"
	"time"
)

// core is the store and delivery engine. It knows no protocol: the gRPC front
// end and any other one call it. One lock guards it; timers take the lock when
// they fire, and nothing calls out of the engine while it is held.
type core struct {
	cfg    *config
	clock  timeSource
	log    *slog.Logger
	closed chan struct{} // closed once, when the broker ends

	mu        sync.Mutex
	topics    map[string]*topic
	groups    map[string]*group
	subs      map[string]*subscription // lite subscriptions by client id
	byID      map[string]*record
	commitLog int64
	liteCount int // lite topics that hold messages, against the quota
	subCount  int // active lite subscriptions, against the quota
	evicted   []eviction

	// changed is closed and replaced at each change that somebody waits for.
	changed  chan struct{}
	watchers int

	strays sync.WaitGroup // long polls that go on without their clients

	// What only the remoting side knows.
	offsets     map[offsetKey]int64  // committed by groups
	consumers   map[string]*members  // by group, from heartbeats
	holds       map[*hold]struct{}   // pulls that wait
	pulls       journal[Pull]        // for inspection
	commits     journal[Commit]      // for inspection
	firstStored int64                // when the first message was stored, in milliseconds
	delayed     map[stopper]struct{} // messages with a delay level that are not due

	// Transactions, by broker, and the producers that may be asked about them.
	halves       map[int]*halves
	producers    map[string]map[string]*remotingConn // by group and client
	producerTurn int
	opCount      int64
	checks       journal[TransactionCheck] // for inspection
	ends         journal[TransactionEnd]   // for inspection

	onUnsubscribe func(clientID, liteTopic string) // set once, before the broker serves
}

func newCore(cfg *config) *core {
	c := &core{
		cfg: cfg, clock: cfg.clock, log: cfg.log, closed: make(chan struct{}),
		topics: map[string]*topic{}, groups: map[string]*group{},
		subs: map[string]*subscription{}, byID: map[string]*record{},
		changed: make(chan struct{}), onUnsubscribe: func(string, string) {},
		offsets: map[offsetKey]int64{}, consumers: map[string]*members{},
		holds: map[*hold]struct{}{}, delayed: map[stopper]struct{}{},
		halves: map[int]*halves{}, producers: map[string]map[string]*remotingConn{},
	}
	for _, t := range cfg.topics {
		c.topics[t.name] = newTopic(t.name, t.kind, len(cfg.brokers), cfg.queues)
	}
	for _, g := range cfg.groups {
		g := g
		c.groups[g.name] = &g
	}
	return c
}

// group is a consumer group with its attributes and its waiting long polls.
type group struct {
	name        string
	bindTopic   string // lite.bind.topic; empty for a regular group
	wildcard    bool   // lite.sub.wildcard
	exclusive   bool   // lite.sub.model is Exclusive
	ordered     bool   // consumes normal queues in order
	maxAttempts int    // deliveries before a message goes to the dead letters
	clientQuota int    // lite.sub.client.quota

	polls []*poll   // in order of arrival
	ready []*cursor // lite topics that may have something for the group
	again []*extra  // deliveries asked for by DeliverTwice
	turn  int       // queue of a normal topic to look at first
}

func (g *group) lite() bool { return g.bindTopic != "" }

// findGroup returns a group. RocketMQ creates an unknown one, as a regular
// group, the first time that anybody asks for it (autoCreateSubscriptionGroup).
func (c *core) findGroup(name string) *group {
	if g := c.groups[name]; g != nil || !c.cfg.autoCreateGroup {
		return g
	}
	g := &group{name: name, maxAttempts: c.cfg.maxAttempts, clientQuota: c.cfg.clientQuota}
	c.groups[name] = g
	return g
}

func (c *core) nowMillis() int64 { return c.clock.Now().UnixMilli() }

// after runs fn under the lock once d has passed, unless the broker has ended.
func (c *core) after(d time.Duration, fn func()) stopper {
	return c.clock.afterFunc(d, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.isClosed() {
			return
		}
		fn()
		c.notify()
	})
}

func (c *core) isClosed() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}

// notify tells those in Wait that something changed. The lock is held.
func (c *core) notify() {
	if c.watchers == 0 {
		return
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

// poke is notify for callers that do not hold the lock.
func (c *core) poke() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notify()
}

// close ends all long polls and timers.
func (c *core) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.closed)
	for _, t := range c.topics {
		t.stopTimers()
	}
	for _, s := range c.subs {
		s.expiry.Stop()
	}
	for s := range c.delayed {
		s.Stop()
	}
}
