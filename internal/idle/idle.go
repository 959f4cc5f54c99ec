// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package idle decides how sources pass the time while nothing comes.
package idle

import (
	"sync"
	"time"
)

// Pause decides how a source passes the time while nothing comes. Each call of
// ProcessElement leaves some state with a runner (Flink keeps it until the next
// checkpoint), so the longer nothing comes the longer a call waits; between two
// calls it rests for a moment only, for a message that comes ends a wait and
// cannot end a rest.
//
// The zero value is ready.
type Pause struct {
	mu    sync.Mutex
	empty int // calls in a row that emitted nothing
}

// The waits inside a call, growing, and the rests between calls.
const (
	firstWait   = 50 * time.Millisecond
	longestWait = time.Second
	firstRest   = time.Millisecond
	longestRest = 50 * time.Millisecond
)

// Wait is how long a call waits for a message.
func (p *Pause) Wait() time.Duration { return p.grown(firstWait, longestWait) }

// After is how long to rest after a call that emitted so many.
func (p *Pause) After(emitted int) time.Duration {
	p.mu.Lock()
	if emitted > 0 {
		p.empty = 0
	} else {
		p.empty++
	}
	p.mu.Unlock()
	if emitted > 0 {
		return 0
	}
	return p.grown(firstRest, longestRest)
}

func (p *Pause) grown(first, longest time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	const doublings = 8
	return min(first<<min(p.empty, doublings), longest)
}
