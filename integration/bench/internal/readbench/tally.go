// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package readbench

import (
	"sync/atomic"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/usage"
)

// tally counts what a leg read, each message once. Nothing in it waits or
// allocates.
type tally struct {
	seen [][]atomic.Bool // by queue id and offset

	distinct         atomic.Int64
	calls, largest   atomic.Int64 // requests or bundles that had messages
	begun            atomic.Bool
	from, to         atomic.Int64 // in ns since 1970
	cpuFrom, cpuTo   atomic.Int64
	twice, elsewhere atomic.Int64 // messages that should not have come
}

func newTally(ends []int64) *tally {
	t := &tally{seen: make([][]atomic.Bool, len(ends))}
	for i, end := range ends {
		t.seen[i] = make([]atomic.Bool, end)
	}
	return t
}

// begin starts the clock, the first time.
func (t *tally) begin() {
	if t.begun.Load() || t.begun.Swap(true) {
		return
	}
	t.from.Store(time.Now().UnixNano())
	t.cpuFrom.Store(int64(usage.CPU()))
}

// mark notes a message and says whether it is a new one of the backlog.
func (t *tally) mark(queue int, offset int64) bool {
	switch {
	case queue < 0 || queue >= len(t.seen) || offset < 0 || offset >= int64(len(t.seen[queue])):
		t.elsewhere.Add(1)
		return false
	case t.seen[queue][offset].Swap(true):
		t.twice.Add(1)
		return false
	}
	return true
}

// call notes a request or bundle that brought n new messages. The one that
// brings the last of them stops the clock.
func (t *tally) call(n int) {
	if n == 0 {
		return
	}
	t.calls.Add(1)
	for {
		largest := t.largest.Load()
		if int64(n) <= largest || t.largest.CompareAndSwap(largest, int64(n)) {
			break
		}
	}
	if t.distinct.Add(int64(n)) == int64(t.all()) {
		t.to.Store(time.Now().UnixNano())
		t.cpuTo.Store(int64(usage.CPU()))
	}
}

func (t *tally) all() (n int) {
	for _, q := range t.seen {
		n += len(q)
	}
	return n
}

func (t *tally) elapsed() time.Duration { return time.Duration(t.to.Load() - t.from.Load()) }

// cpu is the processor time that this process used meanwhile.
func (t *tally) cpu() time.Duration { return time.Duration(t.cpuTo.Load() - t.cpuFrom.Load()) }
