// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package health judges how the polls of a source go, so that one which cannot
// receive says so instead of looking idle.
package health

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// ErrStalled is the cause of a bundle's failure when nobody answered for long.
var ErrStalled = errors.New("no answer to polls")

// Health is the judgement about one stream of polls.
type Health struct {
	stall time.Duration
	log   *slog.Logger

	mu        sync.Mutex
	answered  time.Time // last answer, an empty one too
	last      error     // last failure since the last answer
	permanent int       // permanent failures since the last answer
	warned    time.Time
}

// permanentTries is how often a poll may fail for a reason that only somebody's
// change can mend before the bundle fails.
const permanentTries = 3

// New makes a judge that lets silence last for stall, and warns a tenth of that
// after the last answer and as often again. It begins as if an answer had come
// now.
func New(stall time.Duration, log *slog.Logger, now time.Time) *Health {
	return &Health{stall: stall, log: log, answered: now}
}

// Answered records an answer, an empty one too.
func (h *Health) Answered(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answered, h.last, h.permanent = now, nil, 0
}

// Failed records a poll without an answer. permanent says that only somebody's
// change can mend it.
func (h *Health) Failed(now time.Time, err error, permanent bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = err
	if permanent {
		h.permanent++
	}
	const warnings = 10 // a stall timeout
	if quiet := h.stall / warnings; now.Sub(h.answered) >= quiet && now.Sub(h.warned) >= quiet {
		h.warned = now
		h.log.Warn("no answer to polls", "since", now.Sub(h.answered).Round(time.Second), "error", err)
	}
}

// Verdict is the error with which a bundle should fail, or nil.
func (h *Health) Verdict(now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.last == nil:
		return nil
	case h.permanent >= permanentTries:
		return h.last
	case now.Sub(h.answered) >= h.stall:
		return fmt.Errorf("%w for %v: %w", ErrStalled, now.Sub(h.answered).Round(time.Second), h.last)
	}
	return nil
}

// Quiet is how long nobody has answered.
func (h *Health) Quiet(now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return now.Sub(h.answered)
}
