// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"fmt"
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
}

// Check refuses values out of range.
func (q Quota) Check() error {
	if q.PerWindow < 1 {
		return fmt.Errorf("PerWindow %d is out of range: want 1 or more", q.PerWindow)
	}
	return checkDefer("Defer", q.Defer)
}

// Start returns the deciding function, which keeps nothing.
func (q Quota) Start() Decide {
	return func(_ coders.AckableMessage, at Position) Verdict {
		if at.Passed < q.PerWindow {
			return Pass()
		}
		return Defer(q.Defer)
	}
}

// checkDefer refuses delays that the broker would not grant.
func checkDefer(field string, d time.Duration) error {
	if d < minDelay || d > maxDelayLimit {
		return fmt.Errorf("%s %v is out of range: want %v to %v", field, d, minDelay, maxDelayLimit)
	}
	return nil
}
