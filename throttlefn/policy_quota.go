// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

func init() { RegisterPolicy[Quota]() }

// Quota lets the first messages of each key and window pass and defers the
// rest. The rate that results is about PerWindow a window for as long as
// messages come, no more than the broker delivers: of one lite topic that is
// one batch at a time.
type Quota struct {
	// PerWindow is how many messages of a key pass in each window; at least 1.
	PerWindow int
	// Defer is when the rest is delivered again; from 1 s up to [MaxDelay]'s
	// limit. It should be longer than the window.
	Defer time.Duration
	// Spread makes deferrals uneven, by up to that fraction of Defer either way,
	// and not below 1 s; 0 to 1. A backlog that arrived in one window and is
	// deferred by one and the same time comes back in one window, of which one
	// quota passes while the windows between stay empty: with 0.5 it comes back
	// over as long as Defer. Default 0: all deferrals last Defer.
	Spread float64
}

// Check refuses values out of range.
func (q Quota) Check() error {
	if q.PerWindow < 1 {
		return fmt.Errorf("PerWindow %d is out of range: want 1 or more", q.PerWindow)
	}
	if !(q.Spread >= 0 && q.Spread <= 1) {
		return fmt.Errorf("Spread %v is out of range: want 0 to 1", q.Spread)
	}
	return checkDefer("Defer", q.Defer)
}

// Start returns the deciding function, which keeps nothing.
func (q Quota) Start() Decide {
	return func(_ coders.AckableMessage, at Position) Verdict {
		if at.Passed < q.PerWindow {
			return Pass()
		}
		return Defer(q.delay())
	}
}

// delay is Defer, more or less.
func (q Quota) delay() time.Duration {
	uneven := 1 + q.Spread*(2*rand.Float64()-1)
	return max(time.Duration(float64(q.Defer)*uneven), minDelay)
}

// checkDefer refuses delays that the broker would not grant.
func checkDefer(field string, d time.Duration) error {
	if d < minDelay || d > maxDelayLimit {
		return fmt.Errorf("%s %v is out of range: want %v to %v", field, d, minDelay, maxDelayLimit)
	}
	return nil
}
