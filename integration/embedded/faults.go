// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"sync"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// faults are what verbs have ordered for coming requests.
type faults struct {
	mu   sync.Mutex
	busy map[Method]int
	cuts []int
	acks map[int]*v2.Status
}

func (f *faults) addBusy(m Method, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy == nil {
		f.busy = map[Method]int{}
	}
	f.busy[m] += n
}

func (f *faults) takeBusy(m Method) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range []Method{m, AnyMethod} {
		if f.busy[k] > 0 {
			f.busy[k]--
			return true
		}
	}
	return false
}

func (f *faults) addCut(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cuts = append(f.cuts, n)
}

// takeCut returns after how many messages to cut, or -1.
func (f *faults) takeCut() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.cuts) == 0 {
		return -1
	}
	n := f.cuts[0]
	f.cuts = f.cuts[1:]
	return n
}

func (f *faults) addAckFailure(k int, st *v2.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.acks == nil {
		f.acks = map[int]*v2.Status{}
	}
	f.acks[k] = st
}

// takeAckFailures returns which of an ack's n entries have to fail.
func (f *faults) takeAckFailures(n int) map[int]*v2.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	var now map[int]*v2.Status
	for k, st := range f.acks {
		if k < n {
			if now == nil {
				now = map[int]*v2.Status{}
			}
			now[k] = st
			delete(f.acks, k)
		}
	}
	return now
}
