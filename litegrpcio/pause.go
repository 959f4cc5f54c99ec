// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"sync"
	"time"
)

// pause decides how long a source that found nothing rests before it is called
// again. Each call leaves some state with a runner (Flink keeps it until the
// next checkpoint), so the longer nothing comes the longer it rests.
type pause struct {
	mu    sync.Mutex
	empty int // calls in a row that emitted nothing
}

// The rests: none after messages, then growing to a second.
const (
	firstRest   = 5 * time.Millisecond
	longestRest = time.Second
)

func (p *pause) after(emitted int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if emitted > 0 {
		p.empty = 0
		return 0
	}
	p.empty++
	const doublings = 8
	return min(firstRest<<min(p.empty-1, doublings), longestRest)
}
