// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package watermark holds the watermark estimator of the sources.
package watermark

import (
	"sync"
	"time"
)

// Estimator is the watermark of one restriction. It is like Beam's manual
// estimator, with a lock: a runner that splits asks for the watermark on another
// goroutine than the one that processes, and Beam 2.77 does not keep them apart.
// It also tells two watermarks apart, that of the restriction, which is its
// state, and the one shown to the runner, which may be lower.
type Estimator struct {
	mu         sync.Mutex
	own, shown time.Time
}

// New goes on from a state, in milliseconds since 1970.
func New(ms int64) *Estimator {
	at := time.UnixMilli(ms)
	return &Estimator{own: at, shown: at}
}

// State is the restriction's own watermark in milliseconds since 1970.
func (e *Estimator) State() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.own.UnixMilli()
}

// CurrentWatermark is what the runner is shown.
func (e *Estimator) CurrentWatermark() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.shown
}

// Advance moves the watermark on; it never falls.
func (e *Estimator) Advance(to time.Time) {
	e.AdvanceAmong(to, func(own time.Time) time.Time { return own })
}

// AdvanceAmong moves the restriction's own watermark on, and shows the lowest of
// all that are processed here, which the function is asked for.
func (e *Estimator) AdvanceAmong(to time.Time, lowest func(own time.Time) time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if to.After(e.own) {
		e.own = to
	}
	e.shown = lowest(e.own)
}
