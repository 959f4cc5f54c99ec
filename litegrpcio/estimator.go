// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"sync"
	"time"
)

// estimator is the watermark of a shard. It is Beam's manual estimator with a
// lock: a runner that splits asks for the watermark on another goroutine than
// the one that processes, and Beam 2.77 does not keep them apart.
type estimator struct {
	mu sync.Mutex
	at time.Time
}

// CurrentWatermark is what Beam asks for.
func (e *estimator) CurrentWatermark() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.at
}

// advance never lets the watermark fall.
func (e *estimator) advance(to time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if to.After(e.at) {
		e.at = to
	}
}
