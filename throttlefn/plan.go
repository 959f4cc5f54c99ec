// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"cmp"
	"container/heap"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

// plan is what is to be done with a group.
type plan struct {
	passed    []coders.AckableMessage
	valved    []ValveEvent
	deferrals []deferral
	settled   []Deferral // nothing is left to ask the broker for
}

// deferral is a request to make.
type deferral struct {
	handle  coders.ReceiptHandle
	asked   time.Time // when it was decided
	until   time.Time
	suspend bool
}

// planner decides about groups. It knows nothing of Beam.
type planner struct {
	settings settings
	memory   *memory
	now      func() time.Time
}

// held is a message that will be deferred.
type held struct {
	handle *coders.ReceiptHandle
	asked  time.Duration // by the policy
	most   time.Duration // by the valves
	counts bool          // it must not be suspended, see spent
}

// queue is a lite topic's part of a group.
type queue struct {
	together []held
	alone    []held
	blocked  bool          // a message was deferred, so those behind it are too
	asked    time.Duration // for how long it is held by an earlier group
	counts   bool          // that was not suspended because it had to count
}

func (q *queue) add(h held, alone bool) {
	if alone {
		q.alone = append(q.alone, h)
		return
	}
	q.together = append(q.together, h)
	q.blocked = true
}

// queues are the lite topics of a group, in the order in which they came.
type queues struct {
	list  []*queue
	known map[liteKey]*queue
}

func (q *queues) of(h *coders.ReceiptHandle) (found *queue, fresh bool) {
	key := liteKeyOf(h)
	if found, ok := q.known[key]; ok {
		return found, false
	}
	if q.known == nil {
		q.known = make(map[liteKey]*queue)
	}
	found = &queue{}
	q.known[key] = found
	q.list = append(q.list, found)
	return found, true
}

// queueOf finds the queue of h. The end of a window may cut a delivery in two:
// if the part before it was deferred, this one is held as well.
func (p *planner) queueOf(waiting *queues, h *coders.ReceiptHandle, now time.Time) *queue {
	q, fresh := waiting.of(h)
	if !fresh {
		return q
	}
	s := p.memory.lite(h)
	if now.Before(s.heldUntil) && !h.InvisibleUntil.After(s.heldLease.Add(leaseSpread)) {
		q.blocked, q.asked, q.counts = true, s.heldUntil.Sub(now), s.heldCounts
	}
	return q
}

// plan decides about the messages of one group. It remembers what passes, for
// that is then in work.
func (p *planner) plan(key string, msgs []coders.AckableMessage) plan {
	var out plan
	now := p.now()
	at := Position{Key: key, Now: now}
	var waiting queues
	for m := range oldestFirst(msgs) {
		if m.superseded || p.ended(m.AckableMessage) {
			out.settled = append(out.settled, p.notHeld(m))
			continue
		}
		queue := p.queueOf(&waiting, &m.Handle, now)
		v := Verdict{deferred: true} // with the one before it, not to overtake it
		if !queue.blocked {
			v = p.memory.decide(*m.AckableMessage, at)
			if p.ended(m.AckableMessage) { // while the policy thought it over
				out.settled = append(out.settled, p.notHeld(m))
				continue
			}
		}
		at.Index++
		if !v.deferred {
			p.pass(&out, m.AckableMessage, now)
			at.Passed++
			continue
		}
		spent := p.memory.spentOn(&m.Handle, now)
		open, detail, most := p.settings.valve(&m.Handle, spent.total)
		if open == "" {
			queue.add(held{handle: &m.Handle, asked: v.delay, most: most, counts: spent.counts}, v.alone)
			continue
		}
		out.valved = append(out.valved, ValveEvent{Message: *m.AckableMessage, Reason: open, Detail: detail})
		if !p.settings.DivertValve {
			p.pass(&out, m.AckableMessage, now)
			at.Passed++
		}
	}
	for _, q := range waiting.list {
		out.deferrals = p.deadlines(out.deferrals, q, now)
	}
	return out
}

// handOn gives out what goes on, a message at a time: each may have to wait for
// the policy's word on those behind it, and for the work on those before it.
// What loses its lease meanwhile is settled instead.
func (p *planner) handOn(out *plan, valve func(ValveEvent), passed func(coders.AckableMessage)) {
	valved, msgs := out.valved, out.passed
	out.valved, out.passed = nil, nil
	for i := range valved {
		m := &valved[i].Message
		switch late := p.ended(m); {
		case !late:
			out.valved = append(out.valved, valved[i])
			valve(valved[i])
		case p.settings.DivertValve: // else it is among the passed as well
			out.settled = append(out.settled, p.notHeld(entry{AckableMessage: m}))
		}
	}
	for i := range msgs {
		m := &msgs[i]
		if p.ended(m) {
			out.settled = append(out.settled, p.notHeld(entry{AckableMessage: m}))
			continue
		}
		out.passed = append(out.passed, *m)
		passed(*m)
	}
}

// ended says whether the message's lease is over: the broker is delivering it
// again, and its handle is worth nothing.
func (p *planner) ended(m *coders.AckableMessage) bool {
	until := m.Handle.InvisibleUntil
	return !p.settings.PassExpired && !until.IsZero() && !p.now().Before(until)
}

// notHeld settles a delivery that is of no use any more. No valve opens for it,
// whatever its attempt: the next one is under way.
func (p *planner) notHeld(m entry) Deferral {
	d := Deferral{Handle: m.Handle, Outcome: ackfn.Expired, Detail: "the lease had ended when the message got here"}
	if m.superseded {
		d.Detail = "a later delivery of the message is in the same group"
	} else if n := int(m.Handle.DeliveryAttempt); n >= p.settings.MaxDeliveryAttempt {
		d.Detail += fmt.Sprintf(", at delivery attempt %d: from attempt %d on a valve would let it pass, but not without a lease; make leases longer or windows shorter", n, p.settings.MaxDeliveryAttempt)
	}
	return d
}

func (p *planner) pass(out *plan, m *coders.AckableMessage, now time.Time) {
	out.passed = append(out.passed, *m)
	until := m.Handle.InvisibleUntil
	if w := p.settings.WorkWithin; w > 0 && now.Add(w).Before(until) {
		until = now.Add(w)
	}
	if p.settings.AckPassed {
		until = time.Time{}
	}
	p.memory.hasPassed(&m.Handle, until)
}

// deadlines gives the messages of one lite topic one deadline: the latest that
// was asked for, but no later than the valves allow for any of them. The broker
// goes on with a lite topic when its last un-acknowledged message is visible,
// so different ones would have the same effect; and where it suspends the whole
// lite topic, the request that came last would win.
//
// They are suspended only if the ledger accounts for all of them, so that every
// deferral brings one valve or the other nearer: a suspend of one takes attempts
// back from all.
func (p *planner) deadlines(out []deferral, q *queue, now time.Time) []deferral {
	for _, m := range q.alone {
		until := apart(now.Add(clamp(m.asked, m.most)), m.handle.InvisibleUntil, now, now.Add(m.most))
		out = append(out, deferral{handle: *m.handle, asked: now, until: until})
	}
	if len(q.together) == 0 {
		return out
	}
	asked, most, counts := q.asked, maxDelayLimit, q.counts || p.memory.isForgetful(now)
	for _, m := range q.together {
		asked, most, counts = max(asked, m.asked), min(most, m.most), counts || m.counts
	}
	until := now.Add(clamp(asked, most))
	for _, m := range q.together {
		until = apart(until, m.handle.InvisibleUntil, now, now.Add(most))
	}
	p.memory.isHeld(q.together[0].handle, until, counts)
	for _, m := range q.together {
		out = append(out, deferral{handle: *m.handle, asked: now, until: until, suspend: !counts && p.maySuspend(m.handle, until)})
	}
	return out
}

func clamp(asked, most time.Duration) time.Duration { return max(min(asked, most), minDelay) }

// leaseSpread is how far the ends of lease of messages that were delivered
// together may lie apart: they are stamped one by one as they are read.
const leaseSpread = time.Second

// maySuspend says whether suspending the lite topic until then takes a lease
// away from a message in work. A message that was delivered later than the one
// in work shows that the latter is done: the broker would not have gone on.
func (p *planner) maySuspend(h *coders.ReceiptHandle, until time.Time) bool {
	if !p.settings.Suspend {
		return false
	}
	work := p.memory.lite(h).workUntil
	return !until.Before(work) || h.InvisibleUntil.After(work.Add(leaseSpread)) && p.settings.WorkWithin == 0
}

// entry is a message in the order of deciding.
type entry struct {
	*coders.AckableMessage
	superseded bool // a later delivery of it is there too
}

// oldestFirst lists messages by the time at which the broker stored them, and
// those of one lite topic by their offsets, so that what passes of a lite topic
// is its beginning, and no lite topic of a group always comes last.
func oldestFirst(msgs []coders.AckableMessage) iter.Seq[entry] {
	entries := make([]entry, len(msgs))
	for i := range msgs {
		entries[i].AckableMessage = &msgs[i]
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(
			liteKeyOf(&a.Handle).compare(liteKeyOf(&b.Handle)),
			cmp.Compare(a.QueueOffset, b.QueueOffset),
			a.Handle.InvisibleUntil.Compare(b.Handle.InvisibleUntil),
			cmp.Compare(a.Handle.DeliveryAttempt, b.Handle.DeliveryAttempt),
		)
	})
	return mergeByAge(split(entries))
}

func (k liteKey) compare(o liteKey) int {
	return cmp.Or(cmp.Compare(k.liteTopic, o.liteTopic), cmp.Compare(k.topic, o.topic),
		cmp.Compare(k.group, o.group), cmp.Compare(k.namespace, o.namespace), cmp.Compare(k.endpoints, o.endpoints))
}

// split cuts sorted entries into their lite topics and marks all but the last
// delivery of a message.
func split(entries []entry) heads {
	var out heads
	begin := 0
	for i := range entries {
		if i+1 < len(entries) && liteKeyOf(&entries[i].Handle) == liteKeyOf(&entries[i+1].Handle) {
			a, b := entries[i], entries[i+1]
			entries[i].superseded = a.Handle.MessageID == b.Handle.MessageID && a.QueueOffset == b.QueueOffset
			continue
		}
		out = append(out, entries[begin:i+1])
		begin = i + 1
	}
	return out
}

// heads is a heap of what is left of each lite topic, the one whose first
// message is the oldest on top.
type heads [][]entry

func (h heads) Len() int           { return len(h) }
func (h heads) Less(i, j int) bool { return h[i][0].StoreTime.Before(h[j][0].StoreTime) }
func (h heads) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *heads) Push(x any)        { *h = append(*h, x.([]entry)) }
func (h *heads) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func mergeByAge(queues heads) iter.Seq[entry] {
	heap.Init(&queues)
	return func(yield func(entry) bool) {
		for len(queues) > 0 {
			if !yield(queues[0][0]) {
				return
			}
			if queues[0] = queues[0][1:]; len(queues[0]) == 0 {
				heap.Pop(&queues)
			} else {
				heap.Fix(&queues, 0)
			}
		}
	}
}
