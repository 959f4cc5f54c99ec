// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// The broker's own topics for transactions, each with one queue at each broker.
const (
	halfTopic    = "RMQ_SYS_TRANS_HALF_TOPIC"    // half messages and their copies
	opTopic      = "RMQ_SYS_TRANS_OP_HALF_TOPIC" // which of them were ended
	discardTopic = "TRANS_CHECK_MAX_TIME_TOPIC"  // those that were checked too often
)

// checkerGroup is the group as which a broker notes how far its checks have got.
const checkerGroup = "CID_RMQ_SYS_TRANS"

// ownTopics hold copies of messages that have the same id.
var ownTopics = map[string]bool{halfTopic: true, opTopic: true, discardTopic: true}

// Properties of half messages.
const (
	propertyProducerGroup  = "PGROUP"
	propertyImmunity       = "CHECK_IMMUNITY_TIME_IN_SECONDS"
	propertyCheckTimes     = "TRANSACTION_CHECK_TIMES"
	propertyPreparedOffset = "TRAN_PREPARED_QUEUE_OFFSET"
	propertyTransactionID  = "__transactionId__"
)

// transactionTimes are a broker's settings; the defaults are RocketMQ's.
type transactionTimes struct {
	interval time.Duration // transactionCheckInterval
	timeout  time.Duration // transactionTimeOut
	checks   int           // transactionCheckMax
}

// opDelay is how long the broker collects ended half messages before it writes
// down which they are (transactionOpBatchInterval). Until then a check does not
// know of them.
const opDelay = 3 * time.Second

// opTag marks the messages that list ended half messages.
const opTag = "d"

// halves are the transactions of one broker.
type halves struct {
	next    int64    // offset of the first half message that the next round looks at
	ops     int64    // likewise of the list of ended ones
	ended   []string // offsets that are still to be written down
	ticking bool     // a round is to come
}

func (c *core) halvesAt(broker int) *halves {
	h := c.halves[broker]
	if h == nil {
		h = &halves{}
		c.halves[broker] = h
	}
	return h
}

// ownQueue is the queue of one of the broker's own topics.
func (c *core) ownQueue(topic string, broker int) *queue {
	t := c.topicNamed(topic, kindNormal)
	if !t.at(broker).exists() {
		t.reshape(broker, shape{reads: 1, writes: 1, perm: permRead | permWrite})
	}
	return t.find(broker, 0)
}

// putHalf stores a half message. It keeps where it is to go in its properties.
// The lock is held.
func (c *core) putHalf(q *queue, m content) *record {
	w := *m.wire
	if m.id != "" {
		w.properties = setProperty(w.properties, propertyTransactionID, m.id)
	}
	w.properties = setProperty(w.properties, propertyRealTopic, m.topic)
	w.properties = setProperty(w.properties, propertyRealQueue, strconv.Itoa(int(q.number)))
	w.sysFlag &^= sysEnded
	m.wire, m.topic = &w, halfTopic
	r := c.appendTo(c.ownQueue(halfTopic, q.broker), m, true)
	c.tick(q.broker)
	return r
}

// tick has the next round of checks come.
func (c *core) tick(broker int) {
	h := c.halvesAt(broker)
	if h.ticking {
		return
	}
	h.ticking = true
	c.later(c.cfg.transactions.interval, func() {
		h.ticking = false
		c.checkRound(broker)
		if h.next < c.ownQueue(halfTopic, broker).maxOffset() {
			c.tick(broker)
		}
	})
}

// end notes that a half message was committed or rolled back.
func (c *core) end(broker int, r *record) {
	h := c.halvesAt(broker)
	if len(h.ended) == 0 {
		c.later(opDelay, func() { c.writeEnded(broker) })
	}
	h.ended = append(h.ended, strconv.FormatInt(r.queueOffset, 10))
}

// writeEnded writes down which half messages were ended.
func (c *core) writeEnded(broker int) {
	h := c.halvesAt(broker)
	if len(h.ended) == 0 {
		return
	}
	now := c.clock.Now()
	c.opCount++
	id := "OP-" + strconv.FormatInt(c.opCount, 10)
	c.appendTo(c.ownQueue(opTopic, broker), content{
		id: id, topic: opTopic, tag: opTag, body: []byte(strings.Join(h.ended, ",") + ","), born: now,
	}, true)
	h.ended = nil
}

// commitHalf stores the message that a half message holds, for consumers to see.
// Doing it again stores it again. The lock is held.
func (c *core) commitHalf(r *record) *record {
	p := r.wireOf().properties
	t := c.topics[p.Get(propertyRealTopic)]
	if t == nil {
		return nil
	}
	number, err := strconv.ParseInt(p.Get(propertyRealQueue), 10, 64)
	if err != nil {
		return nil
	}
	q := t.find(r.home.broker, number)
	if q == nil {
		return nil
	}
	m := r.content
	w := *r.wire
	w.sysFlag |= sysCommitted
	w.preparedAt = r.commitLog
	// TRAN_MSG stays, for the broker takes it away when it has written the others.
	w.properties = dropProperties(p, propertyRealTopic, propertyRealQueue)
	m.wire, m.topic, m.stored = &w, t.name, time.Time{}
	m.properties = userProperties(w.properties)
	return c.appendTo(q, m, true)
}

// ended returns which half messages are known to be ended. Those before the place
// where a round begins do not count: that their copies live on is RocketMQ's doing.
func (h *halves) known(ops *queue) map[int64]bool {
	out := map[int64]bool{}
	done := true
	for at := h.ops; at < ops.maxOffset(); at++ {
		for text := range strings.SplitSeq(string(ops.msgs[at].body), ",") {
			if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= h.next {
				out[n] = true
				done = false
			}
		}
		if done {
			h.ops = at + 1
		}
	}
	return out
}

// checkRound looks at all half messages that were not looked at before. What is
// not decided it writes anew, at a new offset, so that the next round finds it
// there. The lock is held.
func (c *core) checkRound(broker int) {
	q, h, now := c.ownQueue(halfTopic, broker), c.halvesAt(broker), c.clock.Now()
	ended := h.known(c.ownQueue(opTopic, broker))
	for end := q.maxOffset(); h.next < end; h.next++ {
		if ended[h.next] {
			continue
		}
		if !c.checkHalf(broker, q.msgs[h.next], ended, now) {
			break
		}
	}
	c.offsets[offsetKey{checkerGroup, halfTopic, broker, 0}] = h.next
	c.offsets[offsetKey{checkerGroup, opTopic, broker, 0}] = h.ops
	c.notify()
}

// checkHalf does with a half message what is due. False ends the round.
func (c *core) checkHalf(broker int, r *record, ended map[int64]bool, now time.Time) bool {
	set := c.cfg.transactions
	p := r.wireOf().properties
	// Each round counts, also those that do not ask the producer.
	checks, _ := strconv.Atoi(p.Get(propertyCheckTimes))
	if checks >= set.checks {
		c.discardHalf(broker, r, p)
		return true
	}
	p = setProperty(p, propertyCheckTimes, strconv.Itoa(checks+1))
	age := now.Sub(r.born)
	immunity := set.timeout
	if text := p.Get(propertyImmunity); text != "" {
		if seconds, err := strconv.ParseInt(text, 10, 64); err == nil && seconds != -1 {
			immunity = time.Duration(seconds) * time.Second
		}
		if age <= immunity {
			c.keepHalf(broker, r, p, ended)
			return true
		}
	} else if age >= 0 && age <= immunity {
		return false // those behind it are younger
	}
	c.ask(c.copyHalf(broker, r, p))
	return true
}

// keepHalf writes a half message anew that must not be checked yet.
func (c *core) keepHalf(broker int, r *record, p remoting.Properties, ended map[int64]bool) {
	first := p.Get(propertyPreparedOffset)
	if first == "" {
		p = setProperty(p, propertyPreparedOffset, strconv.FormatInt(r.queueOffset, 10))
	} else if n, err := strconv.ParseInt(first, 10, 64); err == nil && ended[n] {
		delete(ended, n)
		return
	}
	c.copyHalf(broker, r, p)
}

func (c *core) copyHalf(broker int, r *record, p remoting.Properties) *record {
	m := r.content
	w := *r.wireOf()
	w.properties = p
	m.wire, m.stored = &w, time.Time{}
	return c.appendTo(c.ownQueue(halfTopic, broker), m, true)
}

// discardHalf puts away what was looked at too often.
func (c *core) discardHalf(broker int, r *record, p remoting.Properties) {
	m := r.content
	w := *r.wireOf()
	w.properties = p
	m.wire, m.topic, m.stored = &w, discardTopic, time.Time{}
	c.appendTo(c.ownQueue(discardTopic, broker), m, true)
	c.log.Info("half message was checked too often", "id", r.id, "group", p.Get(propertyProducerGroup))
}

// ask asks a producer of the group how the transaction ended, if there is one.
func (c *core) ask(r *record) {
	p := r.wireOf().properties
	group := p.Get(propertyProducerGroup)
	c.checks.add(TransactionCheck{At: c.clock.Now(), Group: group, UniqueKey: r.id, Offset: r.queueOffset, Asked: len(c.producers[group]) > 0})
	conn := c.nextProducer(group)
	if conn == nil {
		return
	}
	shown := *r
	shown.topic = p.Get(propertyRealTopic)
	if n, err := strconv.ParseInt(p.Get(propertyRealQueue), 10, 32); err == nil {
		shown.number = int32(n)
	}
	cmd := &remoting.Command{
		Code: codeCheckTransaction, Flag: flagOneWay, Language: "JAVA", Version: serverVersion, Opaque: int32(c.opCount) + int32(r.queueOffset),
		Body: encodeRecords([]*record{&shown}, conn.at),
		Fields: map[string]string{
			"topic": halfTopic, "tranStateTableOffset": strconv.FormatInt(r.queueOffset, 10), "commitLogOffset": strconv.FormatInt(r.commitLog, 10),
			"msgId": r.id, "transactionId": r.id, "offsetMsgId": remoting.OffsetID(conn.at.host(), r.commitLog), "bname": conn.at.name,
		},
	}
	conn.spawn(func() { conn.send(cmd) })
}

// nextProducer returns one of the group's connections in turn.
func (c *core) nextProducer(group string) *remotingConn {
	clients := c.producers[group]
	if len(clients) == 0 {
		return nil
	}
	ids := make([]string, 0, len(clients))
	for id := range clients {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	c.producerTurn++
	return clients[ids[c.producerTurn%len(ids)]]
}

// setProperty sets a property in the place where it is, or at the end.
func setProperty(p remoting.Properties, name, value string) remoting.Properties {
	if p.Get(name) != "" {
		p = dropProperties(p, name)
	}
	return addProperty(p, name, value)
}

func dropProperties(p remoting.Properties, names ...string) remoting.Properties {
	var out remoting.Properties
	for entry := range strings.SplitSeq(string(p), "\x02") {
		name, value, ok := strings.Cut(entry, "\x01")
		if ok && !slices.Contains(names, name) {
			out = addProperty(out, name, value)
		}
	}
	return out
}
