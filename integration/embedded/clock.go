// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"container/heap"
	"sync"
	"time"
)

// timeSource is the one clock of a broker: every lease, long poll, suspension
// and expiry is measured and fired by it.
type timeSource interface {
	Now() time.Time
	afterFunc(d time.Duration, fn func()) stopper
}

type stopper interface{ Stop() bool }

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func (wallClock) afterFunc(d time.Duration, fn func()) stopper { return time.AfterFunc(d, fn) }

// Clock is a clock that stands still until somebody moves it.
//
// Give it to a broker by WithClock. It is safe for concurrent use.
type Clock struct {
	moving sync.Mutex // held while timers fire, so that two moves do not interleave

	mu     sync.Mutex
	now    time.Time
	timers timerHeap
	seq    uint64
}

// NewClock returns a clock that stands at start.
func NewClock(start time.Time) *Clock { return &Clock{now: start} }

// Now returns the instant at which the clock stands.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward by d and fires, in order of their instants
// and before it returns, all timers that fall due on the way. A long poll that
// ends this way has been woken when Advance returns; its answer is sent by its
// own goroutine. A negative d moves the clock back and fires nothing.
func (c *Clock) Advance(d time.Duration) {
	c.moving.Lock()
	defer c.moving.Unlock()
	c.moveTo(c.Now().Add(d))
}

// Set moves the clock to t. Forward it fires what is due, as Advance does;
// backward it fires nothing, as when the time of a machine is corrected.
func (c *Clock) Set(t time.Time) {
	c.moving.Lock()
	defer c.moving.Unlock()
	c.moveTo(t)
}

func (c *Clock) moveTo(target time.Time) {
	for {
		fn, ok := c.popDue(target)
		if !ok {
			return
		}
		fn()
	}
}

// popDue takes the next timer due at or before target and sets the clock to its
// instant. With none left it sets the clock to target.
func (c *Clock) popDue(target time.Time) (func(), bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.timers) == 0 || c.timers[0].when.After(target) {
		c.now = target
		return nil, false
	}
	t := heap.Pop(&c.timers).(*clockTimer)
	if t.when.After(c.now) {
		c.now = t.when
	}
	return t.fn, true
}

func (c *Clock) afterFunc(d time.Duration, fn func()) stopper {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d <= 0 {
		// What is due at once must not wait for somebody to move the clock.
		t := &clockTimer{clock: c, index: -1}
		go fn()
		return t
	}
	c.seq++
	t := &clockTimer{clock: c, when: c.now.Add(d), seq: c.seq, fn: fn}
	heap.Push(&c.timers, t)
	return t
}

type clockTimer struct {
	clock *Clock
	when  time.Time
	seq   uint64
	fn    func()
	index int
}

func (t *clockTimer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	if t.index < 0 {
		return false
	}
	heap.Remove(&t.clock.timers, t.index)
	return true
}

type timerHeap []*clockTimer

func (h timerHeap) Len() int { return len(h) }

func (h timerHeap) Less(i, j int) bool {
	if !h[i].when.Equal(h[j].when) {
		return h[i].when.Before(h[j].when)
	}
	return h[i].seq < h[j].seq
}

func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *timerHeap) Push(x any) {
	t := x.(*clockTimer)
	t.index = len(*h)
	*h = append(*h, t)
}

func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.index = -1
	return t
}
