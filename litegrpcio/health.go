// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
)

// health judges how the polls of a fetcher go, so that a source which cannot
// receive says so instead of looking idle.
type health struct {
	stall time.Duration
	log   *slog.Logger

	mu        sync.Mutex
	answered  time.Time // last answer, an empty one too
	arrived   time.Time // last message
	last      error     // last failure since the last answer
	permanent int       // permanent failures since the last answer
	warned    time.Time
	again     redeliveries
}

// permanentTries is how often a poll may fail for a reason that only somebody's
// change can mend before the bundle fails.
const permanentTries = 3

func newHealth(stall time.Duration, log *slog.Logger) *health {
	now := time.Now()
	return &health{stall: stall, log: log, answered: now, arrived: now}
}

// succeeded records an answer that brought n messages, and says whether a
// failure had come before it.
func (h *health) succeeded(now time.Time, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answered, h.last, h.permanent = now, nil, 0
	if n > 0 {
		h.arrived = now
	}
}

// failed records a poll without an answer.
func (h *health) failed(now time.Time, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = err
	if litegrpc.ClassOf(err) == litegrpc.Permanent {
		h.permanent++
	}
	const warnings = 10 // a stall timeout
	if quiet := h.stall / warnings; now.Sub(h.answered) >= quiet && now.Sub(h.warned) >= quiet {
		h.warned = now
		h.log.Warn("no answer to polls", "since", now.Sub(h.answered).Round(time.Second), "error", err)
	}
}

// verdict is the error with which a bundle should fail, or nil.
func (h *health) verdict(now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.last == nil:
		return nil
	case h.permanent >= permanentTries:
		return fmt.Errorf("litegrpcio.Read: %w", h.last)
	case now.Sub(h.answered) >= h.stall:
		return fmt.Errorf("litegrpcio.Read: %w for %v: %w", errStalled, now.Sub(h.answered).Round(time.Second), h.last)
	}
	return nil
}

// quiet is how long no proxy has answered.
func (h *health) quiet(now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return now.Sub(h.answered)
}

// redeliveries notices a pipeline that never acknowledges.
type redeliveries struct {
	seen, repeated int
	told           bool
}

// deferralsReach is the attempt that messages reach by being deferred: the first
// redelivery counts even where the broker suspends.
const deferralsReach = 2

// count takes the attempts of what arrived. When most of a thousand messages
// had been delivered more often than deferring explains, it warns, once.
func (h *health) count(attempts []int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &h.again
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
		h.log.Warn("most messages were delivered three times or more: does the pipeline end in ackfn.Ack, and does the invisible duration cover its work?",
			"of", r.seen, "repeated", r.repeated)
	}
	r.seen, r.repeated = 0, 0
}
