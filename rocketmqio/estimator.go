// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import "time"

// queueEstimator tells a runner the watermark of the whole source in this
// process, and keeps that of its queue in the checkpoint.
type queueEstimator struct {
	own    time.Time // of the queue
	source time.Time // the lowest of all queues of this process
}

// CurrentWatermark is the source's.
func (e *queueEstimator) CurrentWatermark() time.Time { return e.source }

// advance never lets the queue's watermark fall.
func (e *queueEstimator) advance(to time.Time) {
	if to.After(e.own) {
		e.own = to
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
