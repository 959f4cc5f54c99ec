// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"slices"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// Bounds of one pull, as 5.5.0 has them by default.
const (
	maxPullCount = 32        // messages, whatever was asked for
	maxPullBytes = 256 << 10 // of stored messages, unless the first alone is larger
	cqUnit       = 20        // bytes of a queue's entry
	maxScanBytes = 16000     // of entries looked at, if a filter matches rarely
)

// pullStatus is what a look into a queue gave, with RocketMQ's name for it.
type pullStatus string

const (
	pullFound         pullStatus = "FOUND"
	pullNoneMatched   pullStatus = "NO_MATCHED_MESSAGE"
	pullQueueEmpty    pullStatus = "NO_MESSAGE_IN_QUEUE"
	pullQueueUnknown  pullStatus = "NO_MATCHED_LOGIC_QUEUE"
	pullOverflowOne   pullStatus = "OFFSET_OVERFLOW_ONE"
	pullOverflowBadly pullStatus = "OFFSET_OVERFLOW_BADLY"
	pullTooSmall      pullStatus = "OFFSET_TOO_SMALL"
)

// pullRequest is what a pull asks of the engine.
type pullRequest struct {
	group  string
	queue  *queue
	offset int64
	max    int
	filter pullFilter
}

// pullResult is what it gets.
type pullResult struct {
	status   pullStatus
	records  []*record
	next     int64
	min, max int64
}

// look reads a queue. The lock is held.
func (r pullRequest) look() pullResult {
	q := r.queue
	res := pullResult{min: q.min, max: q.maxOffset(), next: r.offset}
	switch {
	case res.max == 0:
		res.status, res.next = pullQueueEmpty, 0
	case r.offset < res.min:
		res.status, res.next = pullTooSmall, res.min
	case r.offset == res.max:
		res.status = pullOverflowOne
	case r.offset > res.max:
		res.status, res.next = pullOverflowBadly, res.max
	default:
		r.collect(&res)
	}
	return res
}

// collect takes messages until one of the bounds is reached. next goes past what
// was looked at, whether it matched or not.
func (r pullRequest) collect(res *pullResult) {
	res.status = pullNoneMatched
	bytes, scan := 0, int64(max(maxScanBytes, r.max*cqUnit)/cqUnit)
	for res.next < res.max && res.next-r.offset < scan {
		rec := r.queue.msgs[res.next]
		size := storedSize(rec)
		if n := len(res.records); n > 0 && (n+1 > r.max || n >= maxPullCount || bytes+size > maxPullBytes) {
			return
		}
		res.next = rec.sendOffset + int64(max(1, rec.wireOf().inner))
		if !r.filter.matches(rec) {
			continue
		}
		res.status = pullFound
		res.records = append(res.records, rec)
		bytes += size
	}
}

// storedSize is how long the message is in the commit log.
func storedSize(r *record) int {
	return 91 + len(r.body) + len(r.topic) + len(r.wireOf().properties)
}

// hold is a pull that waits for a message.
type hold struct {
	pullRequest
	until time.Time
	check stopper
	wake  chan struct{} // of size 1
}

// holdCheck is how often a waiting pull is looked at, whether or not a message
// came that it asked for: then it learns that others came.
const holdCheck = 5 * time.Second

// suspend puts a pull on hold until a message that it wants has come, or wait is
// over. The lock is held.
//
// RocketMQ looks at all holds every 5 s and so ends one up to 5 s late; here the
// end is on time. Messages that match no filter end one after 5 s in both.
func (c *core) suspend(r pullRequest, wait time.Duration) *hold {
	h := &hold{pullRequest: r, until: c.clock.Now().Add(wait), wake: make(chan struct{}, 1)}
	r.queue.holds = append(r.queue.holds, h)
	c.holds[h] = struct{}{}
	c.arm(h)
	c.notify()
	return h
}

// arm has the hold looked at later.
func (c *core) arm(h *hold) {
	left := h.until.Sub(c.clock.Now())
	if left <= 0 {
		h.tell()
		return
	}
	h.check = c.after(min(left, holdCheck), func() {
		switch {
		case !slices.Contains(h.queue.holds, h): // released meanwhile
		case h.queue.maxOffset() > h.offset:
			h.tell()
		default:
			c.arm(h)
		}
	})
}

func (h *hold) tell() {
	select {
	case h.wake <- struct{}{}:
	default: // told already
	}
}

// wakeHolds tells the pulls that wait for such a message.
func (q *queue) wakeHolds(r *record) {
	for _, h := range q.holds {
		if q.maxOffset() > h.offset && h.filter.matches(r) {
			h.tell()
		}
	}
}

// awaitHold waits until the hold is over or ctx ends, and says whether there is
// somebody to answer.
func (c *core) awaitHold(ctx context.Context, h *hold) bool {
	defer c.release(h)
	select {
	case <-h.wake:
		return true
	case <-ctx.Done():
		return false
	case <-c.closed:
		return false
	}
}

func (c *core) release(h *hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h.check != nil {
		h.check.Stop()
	}
	delete(c.holds, h)
	if i := slices.Index(h.queue.holds, h); i >= 0 {
		h.queue.holds = slices.Delete(h.queue.holds, i, i+1)
	}
	c.notify()
}

// holdsOf counts the pulls of a group that wait. The lock is held.
func (c *core) holdsOf(group string) int {
	n := 0
	for h := range c.holds {
		if h.group == group {
			n++
		}
	}
	return n
}

// encodeRecords writes messages as they lie in the commit log.
func encodeRecords(recs []*record, at *endpoint) []byte {
	size, host := 0, at.host()
	for _, r := range recs {
		size += storedSize(r) + 24 // two addresses of IPv6
	}
	b := make([]byte, 0, size)
	for _, r := range recs {
		w := r.wire
		b = remoting.AppendMessage(b, &remoting.Message{
			Topic: r.topic, QueueID: int(r.number), QueueOffset: r.sendOffset, PhysicalOffset: r.commitLog,
			Flag: w.flag, SysFlag: w.sysFlag, Born: r.born, BornHost: w.bornHost, Stored: r.stored, StoreHost: host,
			ReconsumeTimes: w.reconsumed, PreparedOffset: w.preparedAt, Properties: w.properties, Body: r.body,
		})
	}
	return b
}
