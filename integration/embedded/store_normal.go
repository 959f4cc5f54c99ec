// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"slices"
	"time"
)

// leaseKey tells the deliveries of one message apart.
type leaseKey struct {
	commitLog int64
	popTime   int64
}

// lease is a message of a normal topic that a consumer holds, or one that waits
// to be delivered again.
type lease struct {
	rec   *record
	had   int // deliveries so far, without those that were suspended
	retry bool
	timer stopper
	until int64
}

// popNormal delivers messages of a normal or FIFO topic. A group that consumes
// in order has one batch out per queue; any other one has a lease per message,
// and what expires comes back through a retry queue, behind nothing.
func (c *core) popNormal(ctx context.Context, r popRequest) (popResult, error) {
	c.mu.Lock()
	t, g := c.topics[r.topic], c.findGroup(r.group)
	c.mu.Unlock()
	if t == nil {
		return popResult{}, topicNotFound(r.topic)
	}
	if g == nil {
		return popResult{}, refuse(reasonGroupNotFound, "subscription group [%s] not exist, \nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.", r.group)
	}
	p := &poll{group: g, client: r.client, topic: t.name}
	return c.await(ctx, p, r.wait, func() popResult { return c.lookNormal(g, t, r) })
}

func (c *core) lookNormal(g *group, t *topic, r popRequest) popResult {
	var res popResult
	res.got = c.popExtra(g, r)
	res.found = len(res.got) > 0
	limit := min(r.max, maxBatch)
	g.turn++
	for i := range t.queues {
		left := limit - len(res.got)
		if left <= 0 {
			break
		}
		cur := t.queues[(g.turn+i)%len(t.queues)].cursor(g)
		if g.ordered {
			if b, ok := c.popOrdered(cur, r, left); ok {
				res.found = true
				res.got = append(res.got, c.handOver(g, t, []batch{b}, r)...)
			}
			continue
		}
		got, found := c.popLeases(cur, r, left)
		res.found = res.found || found
		res.got = append(res.got, got...)
	}
	return res
}

// popLeases takes what waits for redelivery, then what is new.
func (c *core) popLeases(cur *cursor, r popRequest, limit int) (got []delivery, found bool) {
	for len(got) < limit {
		var l *lease
		switch {
		case len(cur.retry) > 0:
			l = cur.retry[0]
			cur.retry = cur.retry[1:]
		case cur.next < cur.queue.maxOffset():
			rec := cur.queue.msgs[cur.next]
			cur.next++
			l = &lease{rec: rec, had: rec.attemptsHad}
		default:
			return got, found
		}
		if !r.filter.matches(l.rec.tag) {
			l.rec.settle(cur.queue.topic, cur.group.name, c.clock.Now(), false)
			continue
		}
		found = true
		if l.had >= cur.group.maxAttempts {
			c.deadLetter(l.rec, cur.group)
			continue
		}
		h := c.lend(cur, l, r.invisible)
		got = append(got, c.deliver(l.rec, cur.group, h, l.had+1))
	}
	return got, found
}

// lend starts a lease and returns its handle.
func (c *core) lend(cur *cursor, l *lease, d time.Duration) handle {
	pop, invisible := cur.stamp(c.nowMillis(), d)
	h := handle{
		startOffset: cur.offsetOf(l.rec), popTime: pop, invisible: invisible,
		kind: handleOfTopic, broker: c.cfg.brokers[0], queue: cur.queue.id,
		offset: cur.offsetOf(l.rec), commitLog: l.rec.commitLog,
	}
	if l.retry {
		h.kind = handleOfRetry
	}
	c.hold(cur, l, h, false)
	return h
}

func (c *core) hold(cur *cursor, l *lease, h handle, suspended bool) {
	key := leaseKey{h.commitLog, h.popTime}
	cur.leases[key] = l
	l.until = h.deadline()
	l.timer = c.after(time.Duration(h.deadline()-c.nowMillis())*time.Millisecond, func() {
		if cur.leases[key] != l {
			return
		}
		delete(cur.leases, key)
		c.revive(cur, l, suspended)
	})
}

// revive puts an expired message up for delivery again.
func (c *core) revive(cur *cursor, l *lease, suspended bool) {
	if !suspended {
		l.had++
	}
	l.retry = true
	cur.retry = append(cur.retry, l)
	c.wake(cur.group, func(p *poll) bool { return p.topic == cur.queue.topic.name })
}

func (c *core) offerNormal(t *topic) {
	for _, g := range c.groups {
		c.wake(g, func(p *poll) bool { return p.topic == t.name })
	}
}

// ackNormal ends a lease. A handle that no lease fits is answered OK: RocketMQ
// only writes a note that nobody looks for.
func (c *core) ackNormal(t *topic, a liteAck) error {
	cur := c.cursorOf(a)
	if cur == nil || a.handle.offset > cur.queue.maxOffset() {
		return errAbnormalAck
	}
	if a.handle.reviveQueue == orderedReviveQueue {
		return c.ackOrdered(cur, a.handle)
	}
	key := leaseKey{a.handle.commitLog, a.handle.popTime}
	if l := cur.leases[key]; l != nil {
		l.timer.Stop()
		delete(cur.leases, key)
		l.rec.settle(t, a.group, c.clock.Now(), false)
	} else if rec := cur.record(a.handle.offset); rec != nil {
		rec.trail(a.group).staleAcks++
	}
	return nil
}

func (c *core) changeNormal(t *topic, g *group, a liteAck, d time.Duration, suspend bool) (string, error) {
	cur := c.cursorOf(a)
	if cur == nil || a.handle.offset >= cur.queue.maxOffset() {
		return "", errAbnormalChange
	}
	if a.handle.reviveQueue == orderedReviveQueue {
		return c.changeOrdered(cur, a.handle, d, false), nil
	}
	key := leaseKey{a.handle.commitLog, a.handle.popTime}
	l := cur.leases[key]
	h := a.handle
	h.popTime, h.invisible = cur.stamp(c.nowMillis(), d)
	if l != nil {
		l.timer.Stop()
		delete(cur.leases, key)
		c.hold(cur, l, h, suspend)
	}
	tr := cur.queue.msgs[h.offset].trail(g.name)
	tr.deferrals = append(tr.deferrals, Deferral{
		Group: g.name, At: c.clock.Now(), Duration: d, Suspend: suspend, Handle: h.String(), Stale: l == nil,
	})
	return h.String(), nil
}

// expireNow makes all leases of a cursor run out.
func (c *core) expireNow(cur *cursor) int {
	n := 0
	keys := make([]leaseKey, 0, len(cur.leases))
	for k := range cur.leases {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b leaseKey) int { return int(a.commitLog - b.commitLog) })
	for _, k := range keys {
		l := cur.leases[k]
		l.timer.Stop()
		delete(cur.leases, k)
		c.revive(cur, l, false)
		n++
	}
	now := c.nowMillis()
	if o := cur.order; o != nil && o.freeAt() > now {
		for i := range o.offsets {
			if !o.acked[i] {
				n++
			}
		}
		o.visible, o.invisible = nil, min(o.invisible, now-o.popTime)
		c.armUnlock(cur)
	}
	cur.voidThrough = cur.lastPop
	return n
}
