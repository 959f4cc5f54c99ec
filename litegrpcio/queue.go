// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

// queue holds, in the order of their arrival, the messages that a process has
// received and not yet emitted. Receivers wait for room before they poll, so it
// holds at most its capacity and what the polls then under way bring.
type queue struct {
	capacity int

	mu      sync.Mutex
	waiting []waiting
	changed chan struct{} // closed and replaced at each change
}

// waiting is a message in the queue.
type waiting struct {
	coders.AckableMessage
	since    time.Time
	renewed  int
	renewing bool // its handle is being replaced: it must not leave
}

func newQueue(capacity int) *queue {
	return &queue{capacity: capacity, changed: make(chan struct{})}
}

// announce wakes all who wait. The caller holds the lock.
func (q *queue) announce() {
	close(q.changed)
	q.changed = make(chan struct{})
}

func (q *queue) push(now time.Time, messages ...coders.AckableMessage) {
	if len(messages) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range messages {
		q.waiting = append(q.waiting, waiting{AckableMessage: m, since: now})
	}
	q.announce()
}

// takeAll removes and returns up to most messages from the front, but none that
// is being renewed nor any behind it, for they leave in order. Messages whose
// lease is over are removed as well, and counted.
func (q *queue) takeAll(now time.Time, most int) (out []waiting, expired int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	out = make([]waiting, 0, min(most, len(q.waiting)))
	n := 0
	for n < len(q.waiting) && len(out) < most && !q.waiting[n].renewing {
		if w := q.waiting[n]; now.Before(w.Handle.InvisibleUntil) {
			out = append(out, w)
		} else {
			expired++
		}
		n++
	}
	if n > 0 {
		q.waiting = slices.Delete(q.waiting, 0, n)
		q.announce()
	}
	return out, expired
}

// putBack returns to the front what was taken and could not be emitted.
func (q *queue) putBack(messages []waiting) {
	if len(messages) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.Insert(q.waiting, 0, messages...)
	q.announce()
}

// awaitMessage waits until there is something to take, at most for d.
func (q *queue) awaitMessage(ctx context.Context, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return q.await(ctx, func() bool { return len(q.waiting) > 0 && !q.waiting[0].renewing })
}

// awaitRoom waits until another poll may begin; false if ctx ended.
func (q *queue) awaitRoom(ctx context.Context) bool {
	return q.await(ctx, func() bool { return len(q.waiting) < q.capacity })
}

func (q *queue) await(ctx context.Context, ok func() bool) bool {
	for {
		q.mu.Lock()
		done, changed := ok(), q.changed
		q.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// oldestStored is the earliest store time of what waits.
func (q *queue) oldestStored() (oldest time.Time, some bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range q.waiting {
		if !some || w.StoreTime.Before(oldest) {
			oldest, some = w.StoreTime, true
		}
	}
	return oldest, some
}

// borrow marks and returns the messages whose lease ends before the instant, to
// be renewed, and tells when the next lease ends.
func (q *queue) borrow(before time.Time) (due []waiting, next time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.waiting {
		w := &q.waiting[i]
		switch until := w.Handle.InvisibleUntil; {
		case w.renewing:
		case until.Before(before):
			w.renewing = true
			due = append(due, *w)
		case next.IsZero() || until.Before(next):
			next = until
		}
	}
	return due, next
}

// giveBack ends the renewing of a message. h is the handle to use from now on.
func (q *queue) giveBack(id string, old, h coders.ReceiptHandle, renewed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.waiting {
		w := &q.waiting[i]
		if w.Handle.MessageID != id || w.Handle.Handle != old.Handle {
			continue
		}
		w.renewing = false
		if renewed {
			w.Handle = h
			w.renewed++
		}
	}
	q.announce()
}
