// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import "time"

// topicKind is the message type that a topic was created for.
type topicKind string

const (
	kindNormal topicKind = "NORMAL"
	kindFIFO   topicKind = "FIFO"
	kindLite   topicKind = "LITE"
	kindDLQ    topicKind = "DLQ"
)

// topic is a main topic with its queues and, for kindLite, its lite topics.
type topic struct {
	name    string
	kind    topicKind
	queues  []*queue // of all brokers, in the order in which they came into being
	shapes  []shape  // by broker
	keys    keyIndex
	lites   map[string]*queue
	order   []*record      // in order of arrival, for inspection
	next    int            // queue for the next message without a sharding key
	settled map[string]int // messages done, by group that has received any
}

// newTopic makes a topic with so many queues at each of the first brokers.
func newTopic(name string, kind topicKind, brokers, queues int) *topic {
	t := &topic{name: name, kind: kind, lites: map[string]*queue{}, settled: map[string]int{}}
	for i := range brokers {
		t.reshape(i, shape{reads: queues, writes: queues, perm: permRead | permWrite})
	}
	return t
}

func (t *topic) stopTimers() {
	for _, q := range t.queues {
		q.stopTimers()
	}
	for _, q := range t.lites {
		q.stopTimers()
	}
}

// queue is an append-only list of messages: one queue of a topic, or a lite topic.
type queue struct {
	topic   *topic
	lite    string // empty for a queue of a normal topic
	id      int32  // its place among the topic's queues, by which the gRPC side knows it
	broker  int    // which broker it lies at
	number  int32  // its id there, by which the remoting side knows it
	msgs    []*record
	min     int64              // offset of the first message that has not expired
	cursors map[string]*cursor // by group
	holds   []*hold            // pulls that wait for a message
	echoes  int                // dead letters that stand in the places of coming messages
}

func newQueue(t *topic, lite string, id int32) *queue {
	return &queue{topic: t, lite: lite, id: id, cursors: map[string]*cursor{}}
}

func (q *queue) maxOffset() int64 { return int64(len(q.msgs)) }

func (q *queue) stopTimers() {
	for _, cur := range q.cursors {
		cur.stopTimers()
	}
}

// cursor is how far one group has got in one queue.
type cursor struct {
	queue *queue
	group *group
	dead  bool // the queue was deleted

	// Ordered consumption: everything below committed is done, order says what
	// is out, unlock fires when order stops blocking.
	committed int64
	order     *orderInfo
	unlock    stopper
	ready     bool

	// Unordered consumption.
	next   int64
	leases map[leaseKey]*lease
	retry  []*lease

	lastPop     int64 // keeps pop times of one queue and group apart
	voidThrough int64 // handles popped up to here were made to expire by a verb
}

func (q *queue) cursor(g *group) *cursor {
	cur := q.cursors[g.name]
	if cur == nil {
		cur = &cursor{queue: q, group: g, leases: map[leaseKey]*lease{}, committed: q.min, next: q.min}
		q.cursors[g.name] = cur
	}
	return cur
}

// offsetOf is where a message lies in the queue that the cursor reads. A message
// of a lite topic lies in two: its lite topic and a queue of the main topic.
func (cur *cursor) offsetOf(r *record) int64 {
	if cur.queue.lite != "" {
		return r.queueOffset
	}
	return r.sendOffset
}

func (cur *cursor) stopTimers() {
	if cur.unlock != nil {
		cur.unlock.Stop()
		cur.unlock = nil
	}
	for _, l := range cur.leases {
		l.timer.Stop()
	}
}

// stamp returns a pop time that no earlier handle of this queue and group has, so
// that two deliveries in one millisecond (or at a standing clock) have different
// handles, and the invisible time that goes with it: together they make the
// deadline that was asked for.
func (cur *cursor) stamp(now int64, d time.Duration) (pop, invisible int64) {
	cur.lastPop = max(now, cur.lastPop+1)
	return cur.lastPop, now + d.Milliseconds() - cur.lastPop
}

// record is a stored message and the story of its delivery.
type record struct {
	content
	queueID     int32 // in the main topic
	number      int32 // of that queue, at its broker
	queueOffset int64 // in its queue, or in its lite topic
	sendOffset  int64 // in the queue of the main topic, as answered to the sender
	commitLog   int64
	home        *queue // nil for what no queue serves
	dead        bool   // a copy among the dead letters
	trails      map[string]*trail
}

// content is what a sender decides about a message.
type content struct {
	id           string
	topic        string
	liteTopic    string
	parent       string // main topic of the lite topic
	body         []byte
	compressed   bool
	compression  Compression
	digest       *digest // nil: computed from the body when delivered
	keys         []string
	tag          string
	properties   map[string]string
	born         time.Time
	bornHost     string
	messageGroup string
	traceContext string
	attemptsHad  int // deliveries that the message pretends to have had before
	delivery     time.Time
	stored       time.Time // zero: when it is stored
	wire         *wire     // nil until somebody pulls the message
}

type digest struct {
	kind     DigestKind
	checksum string
}

// trail is the story of one message in one group.
type trail struct {
	deliveries   []Delivery
	deferrals    []Deferral
	acked        time.Time
	staleAcks    int
	deadLettered time.Time
}

func (r *record) trail(group string) *trail {
	tr := r.trails[group]
	if tr == nil {
		if r.trails == nil {
			r.trails = map[string]*trail{}
		}
		tr = &trail{}
		r.trails[group] = tr
	}
	return tr
}

// settle marks a message as done for a group, once.
func (r *record) settle(t *topic, group string, at time.Time, dead bool) {
	tr := r.trail(group)
	if tr.acked.IsZero() && tr.deadLettered.IsZero() {
		t.settled[group]++
	}
	switch {
	case dead:
		tr.deadLettered = at
	case tr.acked.IsZero():
		tr.acked = at
	}
}

// append stores a message and offers it to every group that may want it.
// Without inLite a message with a lite topic reaches no consumer of lite topics.
func (c *core) append(t *topic, m content, inLite bool) (*record, error) {
	lite := t.lites[m.liteTopic]
	if m.liteTopic != "" && inLite && (lite == nil || len(lite.msgs) == 0) && c.liteCount >= c.cfg.liteTopicQuota {
		return nil, refuse(reasonLiteTopicQuota, "[LMQ_CONSUME_QUEUE_NUM_EXCEEDED]lmq consume queue num exceeded.")
	}
	if m.liteTopic != "" {
		m.parent = t.name
	}
	r := c.appendTo(c.pickQueue(t, m), m, inLite)
	c.notify()
	return r, nil
}

// appendTo stores a message in a queue of a main topic.
func (c *core) appendTo(main *queue, m content, inLite bool) *record {
	t := main.topic
	r := &record{content: m}
	if r.stored.IsZero() {
		r.stored = c.clock.Now()
	}
	if c.firstStored == 0 {
		c.firstStored = r.stored.UnixMilli()
	}
	c.commitLog += int64(len(m.body)) + 128
	r.commitLog = c.commitLog
	r.queueID, r.number, r.sendOffset = main.id, main.number, main.maxOffset()
	main.msgs = append(main.msgs, r)
	if m.wire != nil {
		for range m.wire.inner - 1 {
			main.msgs = append(main.msgs, r) // it stands at all of its offsets
		}
	}
	t.order = append(t.order, r)
	if !ownTopics[t.name] || c.byID[r.id] == nil {
		c.byID[r.id] = r // copies of half messages do not hide what was committed
	}
	switch {
	case m.liteTopic == "" || t.kind != kindLite:
		r.home, r.queueOffset = main, r.sendOffset
		c.offerNormal(t)
	case inLite:
		c.appendLite(t, r)
	}
	main.wakeHolds(r)
	return r
}

func (c *core) appendLite(t *topic, r *record) {
	q := t.lites[r.liteTopic]
	if q == nil {
		q = newQueue(t, r.liteTopic, 0)
		t.lites[r.liteTopic] = q
	}
	if len(q.msgs) == 0 {
		c.liteCount++
	}
	if q.echoes > 0 {
		q.echoes-- // its place is taken: nobody ever gets it
		return
	}
	r.home, r.queueOffset = q, q.maxOffset()
	q.msgs = append(q.msgs, r)
	for _, g := range c.groups {
		if g.bindTopic == t.name {
			c.offerLite(q.cursor(g))
		}
	}
}

func (c *core) pickQueue(t *topic, m content) *queue {
	key := m.messageGroup
	if key == "" {
		key = m.liteTopic
	}
	if key != "" {
		return t.queues[consistentBucket(key, len(t.queues))]
	}
	t.next++
	return t.queues[t.next%len(t.queues)]
}

// delivery is a message on its way to a consumer.
type delivery struct {
	rec     *record
	attempt int
	handle  string
}

// deliver makes a handle and writes the delivery into the message's trail.
func (c *core) deliver(r *record, g *group, h handle, attempt int) delivery {
	d := delivery{rec: r, attempt: attempt, handle: h.String()}
	if t := c.topics[r.topic]; t != nil {
		t.settled[g.name] += 0 // from now on the group counts as one that receives
	}
	tr := r.trail(g.name)
	tr.deliveries = append(tr.deliveries, Delivery{
		Group: g.name, At: c.clock.Now(), Handle: d.handle, Attempt: attempt,
		InvisibleUntil: time.UnixMilli(h.deadline()),
	})
	return d
}

// deadLetter moves a message to the group's dead-letter topic.
//
// RocketMQ 5.5.0 copies a lite message with the property that had filed it under
// its lite topic, so the copy is filed there once more, behind all others, for
// every group, in the place of the next message that is sent, which is lost. It
// keeps the offset of the original in its handle: acks of it are
// answered OK and have no effect, it comes again after each invisible duration,
// and when it has had its attempts there are two of it. WithDeadLetterEcho(false)
// ends that.
func (c *core) deadLetter(r *record, g *group) {
	name := "%DLQ%" + g.name
	t := c.topics[name]
	if t == nil {
		t = newTopic(name, kindDLQ, 1, 1)
		c.topics[name] = t
	}
	main := t.queues[0]
	dead := &record{content: r.content, home: main, dead: true}
	dead.topic, dead.attemptsHad, dead.stored = name, 0, c.clock.Now()
	dead.queueOffset, dead.sendOffset = r.queueOffset, main.maxOffset()
	c.commitLog += int64(len(r.body)) + 128
	dead.commitLog = c.commitLog
	main.msgs = append(main.msgs, dead)
	t.order = append(t.order, dead)
	r.settle(c.topics[r.topic], g.name, c.clock.Now(), true)
	if r.home != nil && r.home.lite != "" && c.cfg.deadLetterEcho {
		dead.home = r.home
		dead.home.echoes++
		r.home.msgs = append(r.home.msgs, dead)
		for _, cur := range r.home.cursors {
			c.offerLite(cur)
		}
	}
	c.log.Info("message goes to the dead letters", "topic", r.topic, "lite_topic", r.liteTopic, "group", g.name, "id", r.id)
}
