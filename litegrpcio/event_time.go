// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"sync"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

// eventTimes decides on event times and the watermark of one fetcher, and so of
// all its shards in this process: prism takes the watermark of the bundle that
// finished last for that of the whole source.
type eventTimes struct {
	publish     bool
	maxDisorder time.Duration

	mu     sync.Mutex
	newest time.Time // latest store time emitted
	floor  time.Time // watermark last told; it never falls
}

// of is the event time of a message that is emitted now.
func (e *eventTimes) of(m *coders.AckableMessage, now time.Time) time.Time {
	if !e.publish {
		return now
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if m.StoreTime.After(e.newest) {
		e.newest = m.StoreTime
	}
	return m.StoreTime
}

// watermark is the instant before which nothing more is expected. With event
// times at arrival that is the present. With publish times it stays behind the
// newest message, or behind the clock when nothing waits, and before all that
// is queued.
func (e *eventTimes) watermark(q *queue, now time.Time) time.Time {
	if !e.publish {
		return now
	}
	oldest, some := q.oldestStored()
	e.mu.Lock()
	defer e.mu.Unlock()
	mark := now.Add(-e.maxDisorder)
	if some {
		mark = e.newest.Add(-e.maxDisorder)
		if oldest.Before(mark) {
			mark = oldest
		}
	}
	if mark.After(e.floor) {
		e.floor = mark
	}
	return e.floor
}
