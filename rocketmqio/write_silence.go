// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"log/slog"
	"sync"
	"time"
)

// silence warns of a sink whose messages do not get through: failures that may pass
// are waited out, for WritePatience, and nobody would know.
type silence struct {
	mu     sync.Mutex
	since  time.Time // of the first failure since something was stored; zero: none
	warned time.Time
}

// warnAfter is how long nothing gets through before a warning, and between two.
const warnAfter = 5 * time.Second

func (w *silence) broken() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since, w.warned = time.Time{}, time.Time{}
}

func (w *silence) failed(log *slog.Logger, topic string, err error, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since.IsZero() {
		w.since, w.warned = now, now
	}
	if now.Sub(w.warned) < warnAfter {
		return
	}
	w.warned = now
	log.Warn("nothing gets through; trying again", "topic", topic, "for", now.Sub(w.since).Round(time.Second).String(), "error", err)
}
