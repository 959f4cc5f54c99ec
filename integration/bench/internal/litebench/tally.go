// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litebench

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/usage"
)

// tally counts what a leg did. Nothing in it waits or allocates.
type tally struct {
	acked   []atomic.Bool // by message number
	count   atomic.Int64  // of those
	want    int64         // how many shall be
	done    chan struct{} // closed when they are
	first   atomic.Int64  // when the first message was received, in ns since 1970
	begun   atomic.Int64  // when the first ack was answered
	last    atomic.Int64  // when the last ack was answered
	calls   atomic.Int64  // requests or bundles that had messages
	largest atomic.Int64

	cpuLast atomic.Int64 // processor time of this process at last
}

func newTally(messages, want int) *tally {
	t := &tally{acked: make([]atomic.Bool, messages), want: int64(want), done: make(chan struct{})}
	t.first.Store(math.MaxInt64)
	return t
}

// received notes when a message came.
func (t *tally) received(at time.Time) {
	ns := at.UnixNano()
	for {
		first := t.first.Load()
		if ns >= first {
			return
		}
		if t.first.CompareAndSwap(first, ns) {
			return
		}
	}
}

// call notes a request or bundle with n messages.
func (t *tally) call(n int) {
	t.calls.Add(1)
	for {
		largest := t.largest.Load()
		if int64(n) <= largest || t.largest.CompareAndSwap(largest, int64(n)) {
			return
		}
	}
}

// ack notes that message i was acknowledged; the last one that is wanted stops the
// clock.
func (t *tally) ack(i int) {
	if i < 0 || i >= len(t.acked) || t.acked[i].Swap(true) {
		return
	}
	n := t.count.Add(1)
	if n == 1 {
		t.begun.Store(time.Now().UnixNano())
	}
	if n == t.want {
		t.last.Store(time.Now().UnixNano())
		t.cpuLast.Store(int64(usage.CPU()))
		close(t.done)
	}
}

func (t *tally) distinct() int { return int(t.count.Load()) }

func (t *tally) elapsed() time.Duration { return time.Duration(t.last.Load() - t.first.Load()) }

func (t *tally) firstAck() time.Duration { return time.Duration(t.begun.Load() - t.first.Load()) }
