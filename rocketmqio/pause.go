// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import "time"

// pause decides how long a queue that had nothing rests before its next bundle.
// Each bundle leaves some state with a runner, so the rests grow.
type pause struct{ empty int }

// The rests: none after messages, then growing to a second.
const (
	firstRest   = 5 * time.Millisecond
	longestRest = time.Second
)

func (p *pause) after(emitted int) time.Duration {
	if emitted > 0 {
		p.empty = 0
		return 0
	}
	p.empty++
	const doublings = 8
	return min(firstRest<<min(p.empty-1, doublings), longestRest)
}
