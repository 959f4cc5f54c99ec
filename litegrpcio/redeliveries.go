// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"log/slog"
	"sync"
)

// redeliveries notices a pipeline that never acknowledges.
type redeliveries struct {
	log *slog.Logger

	mu             sync.Mutex
	seen, repeated int
	told           bool
}

// deferralsReach is the attempt that messages reach by being deferred: the first
// redelivery counts even where the broker suspends.
const deferralsReach = 2

// count takes the attempts of what arrived. When most of a thousand messages
// had been delivered more often than deferring explains, it warns, once.
func (r *redeliveries) count(attempts []int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told {
		return
	}
	for _, a := range attempts {
		r.seen++
		if a > deferralsReach {
			r.repeated++
		}
	}
	const enough = 1000
	if r.seen < enough {
		return
	}
	if r.repeated > r.seen/2 {
		r.told = true
		r.log.Warn("most messages were delivered three times or more: does the pipeline end in ackfn.Ack, and does the invisible duration cover its work?",
			"of", r.seen, "repeated", r.repeated)
	}
	r.seen, r.repeated = 0, 0
}
