// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"sync"
	"time"
)

// watermarks holds the watermark of each queue of a source that this process
// reads. Each bundle reports the lowest: prism takes the watermark of the bundle
// that finished last for that of the source, and the queues of a bundle finish
// in any order.
type watermarks struct {
	mu     sync.Mutex
	queues map[Queue]mark
}

type mark struct {
	at      time.Time
	touched time.Time
}

// forgottenAfter is how long a queue counts that no bundle has touched: by then
// another worker has it. It is long, for on prism the queues of a bundle wait for
// each other, and for the work behind each of them.
const forgottenAfter = 5 * time.Minute

func newWatermarks() *watermarks { return &watermarks{queues: make(map[Queue]mark)} }

// expect counts a queue that is going to be read here, whose watermark is not
// known yet.
func (w *watermarks) expect(q Queue, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.queues[q]; !ok {
		w.queues[q] = mark{touched: now}
	}
}

// set tells the watermark of a queue and returns the lowest of all.
func (w *watermarks) set(q Queue, at, now time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queues[q] = mark{at: at, touched: now}
	lowest := at
	for other, m := range w.queues {
		if now.Sub(m.touched) > forgottenAfter {
			delete(w.queues, other)
			continue
		}
		if m.at.Before(lowest) {
			lowest = m.at
		}
	}
	return lowest
}

// done takes a queue out that was read to its end.
func (w *watermarks) done(q Queue) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.queues, q)
}

// queueWatermark is the instant before which a queue holds nothing more. Behind
// the last message, as long as there are more; behind the clock when the queue
// has been read to its end: a pull is then waiting at the broker and would have
// come back with whatever is new.
func (c *readConfig) queueWatermark(r *reader, some readSome, now time.Time) time.Time {
	if c.TimeSource == ArrivalTime {
		return now
	}
	var at time.Time
	if some.emitted > 0 {
		at = some.latest.Add(-c.MaxDisorder)
	}
	if c.IdleDelay >= 0 && r.isIdle() {
		if idle := now.Add(-c.IdleDelay - c.MaxDisorder); idle.After(at) {
			at = idle
		}
	}
	return at
}
