// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import "time"

var errAbnormalChange = refuse(reasonAbnormalAck, "changeInvisibleDuration failed: status is abnormal")

// change gives a message a new deadline, d from now, and returns its new handle.
// For what is already acked it returns a handle of zeros, as RocketMQ does.
func (c *core) change(a liteAck, d time.Duration, suspend bool) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.notify()
	if err := c.checkHandle(a); err != nil {
		return "", err
	}
	t := c.topics[a.topic]
	if t == nil {
		return "", errAbnormalChange
	}
	g := c.findGroup(a.group)
	if g == nil {
		return "", errAbnormalChange
	}
	if !a.toLite(t) {
		return c.changeNormal(t, g, a, d, suspend)
	}
	if a.lite == "" {
		return c.changeAstray(t, g, a.handle, d)
	}
	q := t.lites[a.lite]
	if q == nil || a.handle.offset > q.maxOffset() {
		return "", errAbnormalChange
	}
	return c.changeOrdered(q.cursor(g), a.handle, d, suspend), nil
}

// changeAstray is to change what ackAstray is to ack.
func (c *core) changeAstray(t *topic, g *group, h handle, d time.Duration) (string, error) {
	cur := t.mainCursor(g, h)
	if cur == nil || h.offset >= cur.queue.maxOffset() {
		return "", errAbnormalChange
	}
	if h.offset < cur.committed {
		return zeroHandle(h), nil
	}
	return renewed(h, c.nowMillis()+d.Milliseconds()).String(), nil
}

// renewed is the handle after a change. At a standing clock it could be equal to
// the old one; its first number, which nobody reads, then keeps them apart.
func renewed(h handle, until int64) handle {
	n := h
	n.startOffset, n.invisible = h.offset, until-h.popTime
	if n == h {
		n.startOffset++
	}
	return n
}

// zeroHandle is what a change answers for a message that is acked already.
func zeroHandle(h handle) string {
	return handle{startOffset: h.offset, kind: handleOfTopic, broker: h.broker, queue: h.queue, offset: h.offset, commitLog: h.commitLog}.String()
}

func (c *core) changeOrdered(cur *cursor, h handle, d time.Duration, suspend bool) string {
	if h.offset < cur.committed {
		return zeroHandle(h)
	}
	until := c.nowMillis() + d.Milliseconds()
	effective := cur.order != nil && cur.order.popTime == h.popTime
	if effective {
		if suspend {
			cur.order.suspend(until)
		} else {
			cur.order.postpone(h.offset, until)
		}
		c.armUnlock(cur)
	}
	h = renewed(h, until)
	if rec := cur.record(h.offset); rec != nil {
		tr := rec.trail(cur.group.name)
		tr.deferrals = append(tr.deferrals, Deferral{
			Group: cur.group.name, At: c.clock.Now(), Duration: d, Suspend: suspend,
			Handle: h.String(), Stale: !effective,
		})
	}
	return h.String()
}
