// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"time"
)

// maxBatch is the most that one pop returns, whatever it asks for.
const maxBatch = 32

// popRequest is what a receive asks of the engine.
type popRequest struct {
	group     string
	topic     string
	client    string
	max       int
	invisible time.Duration
	wait      time.Duration
	attemptID string
	filter    tagFilter
	lives     func() bool // the proxy that it came by has not ended
}

// popLite delivers messages of the lite topics that the client is subscribed to,
// waiting for some if there are none.
func (c *core) popLite(ctx context.Context, r popRequest) (popResult, error) {
	c.mu.Lock()
	g, t, err := c.checkPopLite(r)
	c.mu.Unlock()
	if err != nil {
		return popResult{}, err
	}
	p := &poll{group: g, client: r.client, topic: t.name, proxyLives: r.lives}
	return c.await(ctx, p, r.wait, func() popResult { return c.lookLite(g, t, r) })
}

func (c *core) checkPopLite(r popRequest) (*group, *topic, error) {
	t := c.topics[r.topic]
	if t == nil {
		return nil, nil, topicNotFound(r.topic)
	}
	if t.kind != kindLite {
		return nil, nil, refuse(reasonInternal, "the topic [%s] message type not match", r.topic)
	}
	g := c.findGroup(r.group)
	if g == nil {
		return nil, nil, refuse(reasonGroupNotFound, "subscription group [%s] not exist, \nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.", r.group)
	}
	if g.bindTopic != t.name {
		return nil, nil, refuse(reasonInternal, "subscription bind topic not match, %s", r.group)
	}
	return g, t, nil
}

func (c *core) lookLite(g *group, t *topic, r popRequest) popResult {
	var res popResult
	limit := min(r.max, maxBatch)
	var out []batch
	total := 0
	ready := g.ready
	g.ready = nil
	var kept []*cursor
	for len(ready) > 0 && total < limit {
		cur := ready[0]
		ready = ready[1:]
		if !c.subscribed(r.client, g, cur.queue.lite) {
			kept = append(kept, cur)
			continue
		}
		cur.ready = false
		if b, ok := c.popOrdered(cur, r, limit-total); ok {
			out = append(out, b)
			total += len(b.recs)
		}
	}
	if len(kept) > 0 {
		ready = append(kept, ready...)
	}
	g.ready = append(ready, g.ready...)
	res.got = c.popExtra(g, r)
	res.found = total > 0 || len(res.got) > 0
	res.got = append(res.got, c.handOver(g, t, out, r)...)
	if total >= limit && len(g.ready) > 0 {
		c.wake(g, func(*poll) bool { return true })
	}
	return res
}

// batch is what one pop took from one ordered queue.
type batch struct {
	cur    *cursor
	recs   []*record
	counts []int
	pop    int64
	invis  int64
}

// popOrdered takes what follows the committed offset, unless the queue is
// blocked. It includes messages that were acked behind one that was not.
func (c *core) popOrdered(cur *cursor, r popRequest, limit int) (batch, bool) {
	now := c.nowMillis()
	if cur.dead || limit <= 0 || cur.order.blocks(r.attemptID, now) {
		return batch{}, false
	}
	from := cur.committed
	to := min(from+int64(limit), cur.queue.maxOffset())
	if from >= to {
		return batch{}, false
	}
	b := batch{cur: cur, recs: cur.queue.msgs[from:to]}
	b.pop, b.invis = cur.stamp(now, r.invisible)
	offsets := make([]int64, 0, to-from)
	for off := from; off < to; off++ {
		offsets = append(offsets, off)
	}
	cur.order = newOrderInfo(cur.order, r.attemptID, b.pop, b.invis, offsets)
	b.counts = cur.order.counts()
	c.armUnlock(cur)
	return b, true
}

// handOver turns batches into deliveries, after the filters that the proxy
// applies: what does not match the tag is acked, what had its attempts goes to
// the dead letters.
func (c *core) handOver(g *group, t *topic, out []batch, r popRequest) []delivery {
	known := true
	for _, b := range out {
		known = known && b.counts != nil
	}
	var got []delivery
	for _, b := range out {
		for i, rec := range b.recs {
			h := handle{
				startOffset: b.cur.offsetOf(rec), popTime: b.pop, invisible: b.invis,
				reviveQueue: orderedReviveQueue, kind: handleOfTopic, broker: c.cfg.brokers[0],
				queue: b.cur.queue.id, offset: b.cur.offsetOf(rec), commitLog: rec.commitLog,
			}
			had := rec.attemptsHad
			if known {
				had += b.counts[i]
			}
			switch {
			case !r.filter.matches(rec.tag):
				c.commit(b.cur, h.offset, h.popTime)
				rec.settle(t, g.name, c.clock.Now(), false)
			case had >= g.maxAttempts:
				c.deadLetter(rec, g)
				c.commit(b.cur, h.offset, h.popTime)
			default:
				got = append(got, c.deliver(rec, g, h, had+1))
			}
		}
	}
	return got
}

// extra is a delivery beside the rules, ordered by DeliverTwice.
type extra struct {
	cur *cursor
	rec *record
}

func (c *core) popExtra(g *group, r popRequest) []delivery {
	var got []delivery
	var kept []*extra
	for _, e := range g.again {
		if e.cur.queue.topic.name != r.topic || e.cur.queue.lite != "" && !c.subscribed(r.client, g, e.cur.queue.lite) {
			kept = append(kept, e)
			continue
		}
		pop, invisible := e.cur.stamp(c.nowMillis(), r.invisible)
		h := handle{
			startOffset: e.cur.offsetOf(e.rec), popTime: pop, invisible: invisible,
			reviveQueue: orderedReviveQueue, kind: handleOfTopic, broker: c.cfg.brokers[0],
			queue: e.cur.queue.id, offset: e.cur.offsetOf(e.rec), commitLog: e.rec.commitLog,
		}
		got = append(got, c.deliver(e.rec, g, h, len(e.rec.trail(g.name).deliveries)+1))
	}
	g.again = kept
	return got
}

// offerLite puts a lite topic on the list of those that have something for the
// group, if it has and is not blocked.
func (c *core) offerLite(cur *cursor) {
	if cur.ready || cur.dead || cur.committed >= cur.queue.maxOffset() || cur.order.blocks("", c.nowMillis()) {
		return
	}
	cur.ready = true
	cur.group.ready = append(cur.group.ready, cur)
	c.wake(cur.group, func(p *poll) bool { return c.subscribed(p.client, cur.group, cur.queue.lite) })
}

// offer is offerLite for any ordered queue.
func (c *core) offer(cur *cursor) {
	if cur.queue.lite != "" {
		c.offerLite(cur)
		return
	}
	c.wake(cur.group, func(p *poll) bool { return p.topic == cur.queue.topic.name })
}

// armUnlock sets the timer at which the queue stops being blocked.
func (c *core) armUnlock(cur *cursor) {
	if cur.unlock != nil {
		cur.unlock.Stop()
		cur.unlock = nil
	}
	if cur.order == nil {
		return
	}
	left := cur.order.freeAt() - c.nowMillis()
	if left <= 0 {
		c.offer(cur) // all acked, or visible at once
		return
	}
	var mine stopper
	mine = c.after(time.Duration(left)*time.Millisecond, func() {
		if cur.unlock != mine {
			return // replaced while this one waited for the lock
		}
		cur.unlock = nil
		c.offer(cur)
	})
	cur.unlock = mine
}

// commit marks an offset as consumed and moves the group on. It is false for a
// handle of an earlier pop: RocketMQ says OK to it and does nothing.
func (c *core) commit(cur *cursor, offset, popTime int64) (known, effective bool) {
	next := offset + 1
	if o := cur.order; o != nil {
		if o.popTime != popTime {
			return true, false
		}
		i := o.index(offset)
		if i < 0 {
			return false, false
		}
		o.acked[i] = true
		next = o.next()
	}
	cur.committed = next
	c.armUnlock(cur)
	return true, true
}

// liteAck is one entry of an ack, or a change of one message's invisibility.
type liteAck struct {
	group  string
	topic  string
	lite   string
	handle handle
}

// toLite reports whether the handle points into a lite topic. A regular group
// that reads the main topic of lite topics has handles of another kind.
func (a liteAck) toLite(t *topic) bool {
	return t.kind == kindLite && (a.lite != "" || a.handle.reviveQueue == orderedReviveQueue)
}

var errAbnormalAck = refuse(reasonAbnormalAck, "ack failed: status is abnormal")

// ack acknowledges one message by its handle.
func (c *core) ack(a liteAck) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.notify()
	if err := c.checkHandle(a); err != nil {
		return err
	}
	t := c.topics[a.topic]
	if t == nil {
		return errAbnormalAck
	}
	if !a.toLite(t) {
		return c.ackNormal(t, a)
	}
	g := c.findGroup(a.group)
	if a.lite == "" && g != nil {
		return c.ackAstray(t, g, a.handle)
	}
	if g == nil || g.bindTopic != t.name || a.handle.queue != 0 || a.handle.reviveQueue != orderedReviveQueue {
		return errAbnormalAck
	}
	q := t.lites[a.lite]
	if q == nil {
		q = newQueue(t, a.lite, 0)
		t.lites[a.lite] = q
	}
	if a.handle.offset > q.maxOffset() {
		return errAbnormalAck
	}
	return c.ackOrdered(q.cursor(g), a.handle)
}

// ackAstray is an ack that does not name its lite topic. The broker takes the
// handle for one of a queue of the main topic: it refuses an offset that this
// queue does not reach, and says OK to any other, without any effect on the
// message that was meant.
func (c *core) ackAstray(t *topic, g *group, h handle) error {
	cur := t.mainCursor(g, h)
	if cur == nil || h.offset > cur.queue.maxOffset() {
		return errAbnormalAck
	}
	cur.committed = max(cur.committed, h.offset+1)
	return nil
}

// mainCursor is a group's cursor in the queue of the main topic that a handle
// seems to point into, nil if there is none.
func (t *topic) mainCursor(g *group, h handle) *cursor {
	if h.queue < 0 || int(h.queue) >= len(t.queues) || h.offset < 0 {
		return nil
	}
	return t.queues[h.queue].cursor(g)
}

func (c *core) ackOrdered(cur *cursor, h handle) error {
	rec := cur.record(h.offset)
	if h.offset < cur.committed {
		return nil // acked before, or passed over
	}
	known, effective := c.commit(cur, h.offset, h.popTime)
	switch {
	case !known:
		return errAbnormalAck
	case rec == nil:
	case effective:
		rec.settle(cur.queue.topic, cur.group.name, c.clock.Now(), false)
	default:
		rec.trail(cur.group.name).staleAcks++
	}
	return nil
}

func (cur *cursor) record(offset int64) *record {
	if offset < 0 || offset >= cur.queue.maxOffset() {
		return nil
	}
	return cur.queue.msgs[offset]
}

// checkHandle refuses handles that ran out or were made to.
func (c *core) checkHandle(a liteAck) error {
	if a.handle.deadline() <= c.nowMillis() {
		return expiredHandle()
	}
	if a.handle.broker != c.cfg.brokers[0] {
		return refuse(reasonExpiredHandle, "org.apache.rocketmq.proxy.common.ProxyException: cannot find broker %s", a.handle.broker)
	}
	if cur := c.cursorOf(a); cur != nil && a.handle.popTime <= cur.voidThrough {
		return expiredHandle()
	}
	return nil
}

// cursorOf finds the cursor that a handle belongs to, without making one.
func (c *core) cursorOf(a liteAck) *cursor {
	t := c.topics[a.topic]
	if t == nil {
		return nil
	}
	q := t.lites[a.lite]
	if !a.toLite(t) {
		if a.handle.queue < 0 || int(a.handle.queue) >= len(t.queues) {
			return nil
		}
		q = t.queues[a.handle.queue]
	}
	if q == nil {
		return nil
	}
	return q.cursors[a.group]
}
