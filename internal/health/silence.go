// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"log/slog"
	"sync"
	"time"
)

// Silence warns of requests that do not get through: failures that may pass are waited
// out, for minutes, and nobody would know. The zero value is ready.
type Silence struct {
	mu     sync.Mutex
	since  time.Time // begin of the first request that failed since one got through; zero: none
	warned time.Time
}

// warnAfter is how long nothing gets through before a warning, and between two.
const warnAfter = 5 * time.Second

// Broken notes that something got through.
func (s *Silence) Broken() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since, s.warned = time.Time{}, time.Time{}
}

// Failed notes that a request, which began at an instant, failed and is to be
// repeated. args say which, as those of the logger do.
func (s *Silence) Failed(log *slog.Logger, began time.Time, err error, args ...any) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		s.since, s.warned = began, began
	}
	if now.Sub(s.warned) < warnAfter {
		return
	}
	s.warned = now
	log.Warn("nothing gets through; trying again", append(args, "for", now.Sub(s.since).Round(time.Second).String(), "error", err)...)
}
