// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"time"
)

// A bundle costs a runner about a millisecond, whatever is in it, and prism of
// Beam 2.77 spins between a bundle's last output and its answer. A bundle of a
// queue that lags behind therefore goes on for a while with what comes, instead
// of ending with the few messages that one pull brings.
const (
	// worthwhile is for how many messages a bundle goes on.
	worthwhile = 256
	// longestLull is how long nothing may come of a queue that has more.
	longestLull = 50 * time.Millisecond
	// fairWait is after how long it is another queue's turn, manyWait if it has
	// much ready, for soon it will have to stop pulling: with 30 ms four queues that
	// lag behind were read a fifth slower.
	fairWait = 100 * time.Millisecond
	manyWait = 3 * time.Millisecond
)

// awaitMore waits until enough has come of a queue that lags behind, and says
// whether there is something to go on with. It does not wait for a queue that
// has been read to its end, nor while other queues of the bundle may wait for
// their turn, or the budget is full of what they have.
func (s *session) awaitMore(ctx context.Context, r *reader, until time.Time) bool {
	if r.limiter != nil {
		return false // what comes is not what may be taken
	}
	lull := time.NewTimer(min(longestLull, time.Until(until)))
	defer lull.Stop()
	for {
		waiting, enough, came := r.harvest(s.worthwhile())
		if enough || s.othersWait(r) {
			return waiting > 0
		}
		select {
		case <-came:
		case <-lull.C:
			return r.ready()
		case <-ctx.Done():
			return false
		}
	}
}

// harvest says how many messages wait, whether they are enough or all that can
// be had, and what to wait on otherwise.
func (r *reader) harvest(worthwhile int) (waiting int, enough bool, came <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting = r.waiting.count
	lags := r.pulled < min(r.max, r.end) && r.fault == nil && !r.ended
	return waiting, waiting >= worthwhile || !lags, r.came
}

// worthwhile is less where thresholds leave no room for so many.
func (s *session) worthwhile() int {
	s.mu.Lock()
	readers := max(len(s.readers), 1)
	s.mu.Unlock()
	return max(min(worthwhile, s.cfg.QueueThreshold/2, s.cfg.TotalThreshold/readers/2), 1)
}

// othersWait says that it is another queue's turn.
func (s *session) othersWait(r *reader) bool {
	if s.budget.isSpent() {
		return true
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.readers {
		if other != r && other.presses(now) {
			return true
		}
	}
	return false
}

// presses says that messages have waited for a while without any bundle taking
// some of them; a shorter while if the reader has half of what it may keep ready.
func (r *reader) presses(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	patience := fairWait
	if r.waiting.count >= max(r.session.cfg.QueueThreshold/2, 1) || r.waiting.bytes >= mostQueueBytes/2 {
		patience = manyWait
	}
	return r.waiting.count > 0 && now.Sub(r.since) >= patience
}
