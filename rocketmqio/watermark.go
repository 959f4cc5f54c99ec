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
//
// Of a queue that a bundle reads, what counts for the others is the watermark that
// the runner has kept, not what the bundle has come to: a runner splits bundles
// between queues, the two parts run beside each other, and the one that ends first
// must not tell that the messages of the other one have passed.
type watermarks struct {
	mu     sync.Mutex
	queues map[Queue]mark
}

type mark struct {
	at      time.Time
	touched time.Time
	end     int64     // where the queue ended, once ended is set
	ended   time.Time // when its last bundle came to its end, which may not be finished
}

// forgottenAfter is how long a queue counts that no bundle has touched: by then
// another worker has it. It is long, for on prism the queues of a bundle wait for
// each other, and for the work behind each of them.
const forgottenAfter = 5 * time.Minute

// endedAfter is how long a queue counts that has been read to its end, if nobody
// tells that its last bundle is finished: positions may be committed elsewhere, or
// not at all.
const endedAfter = 30 * time.Second

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

// begin counts a queue that a bundle begins to read, with the watermark that the
// runner has kept of it: all before that has left its bundles.
func (w *watermarks) begin(q Queue, kept, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queues[q] = mark{at: kept, touched: now}
}

// lowest is the watermark to show for a bundle that has come to own in q.
func (w *watermarks) lowest(q Queue, own, now time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m, ok := w.queues[q]; ok {
		m.touched = now
		w.queues[q] = m
	}
	lowest := own
	for other, m := range w.queues {
		switch {
		case other == q:
		case now.Sub(m.touched) > forgottenAfter, !m.ended.IsZero() && now.Sub(m.ended) > endedAfter:
			delete(w.queues, other)
		case m.at.Before(lowest):
			lowest = m.at
		}
	}
	return lowest
}

// finish notes that a bundle has read a queue to its end. If that bundle emitted
// something, the queue counts until the bundle is finished.
func (w *watermarks) finish(q Queue, end int64, emitted bool, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m, ok := w.queues[q]; ok && emitted {
		m.end, m.ended = end, now
		w.queues[q] = m
		return
	}
	delete(w.queues, q)
}

// left notes that the bundle which read a queue up to an offset is finished.
func (w *watermarks) left(q Queue, offset int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m, ok := w.queues[q]; ok && !m.ended.IsZero() && offset >= m.end {
		delete(w.queues, q)
	}
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
