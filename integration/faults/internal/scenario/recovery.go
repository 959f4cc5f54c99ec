// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import "time"

// recovery is the longest of several recoveries.
type recovery struct {
	known   bool
	longest time.Duration
}

func (r *recovery) add(d time.Duration) { r.known, r.longest = true, max(r.longest, d) }

// seconds is -1 if there was none.
func (r *recovery) seconds() float64 {
	if !r.known {
		return -1
	}
	return r.longest.Seconds()
}
