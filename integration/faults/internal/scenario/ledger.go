// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"fmt"
	"sync"

	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/report"
)

// ledger is what is known of a row's messages: what was published, and what the
// workers told.
type ledger struct {
	mu        sync.Mutex
	published map[string]bool
	delivered map[string]int    // how often each reached the work step
	acked     map[string]int    // how often "acked" was told of each
	owed      map[string]bool   // told not to be acked, for its handle was over; they come again
	outcomes  map[string]int    // of acknowledgements
	deferrals map[string]int    // outcomes of deferrals
	emitted   map[string]bool   // went to a sink, by number
	written   map[string]string // a sink told so, by number; the broker's id
	workers   map[string]*tally
	faults    []string
	changed   chan struct{} // closed and replaced at each change
}

// tally is what one worker told.
type tally struct{ delivered, answered int }

func newLedger() *ledger {
	return &ledger{
		published: map[string]bool{}, delivered: map[string]int{}, acked: map[string]int{}, owed: map[string]bool{},
		outcomes: map[string]int{}, deferrals: map[string]int{}, workers: map[string]*tally{},
		emitted: map[string]bool{}, written: map[string]string{}, changed: make(chan struct{}),
	}
}

// change runs do and wakes all who wait.
func (l *ledger) change(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
	close(l.changed)
	l.changed = make(chan struct{})
}

// take enters what a worker told.
func (l *ledger) take(worker string, line report.Line) {
	l.change(func() {
		t := l.workers[worker]
		if t == nil {
			t = &tally{}
			l.workers[worker] = t
		}
		switch line.Kind {
		case report.Delivered:
			t.delivered++
			l.delivered[line.ID]++
			delete(l.owed, line.ID)
		case report.Acked:
			t.answered++
			l.outcomes[line.Detail]++
			if line.Detail == "acked" {
				l.acked[line.ID]++
				delete(l.owed, line.ID)
			} else if l.acked[line.ID] == 0 {
				l.owed[line.ID] = true
			}
		case report.Emitted:
			l.emitted[line.ID] = true
		case report.Written:
			l.written[line.ID] = line.Detail
		case report.Deferred:
			l.deferrals[line.Detail]++
		}
	})
}

// fault enters what should not have happened, though nothing need be lost by it.
func (l *ledger) fault(format string, args ...any) {
	l.change(func() { l.faults = append(l.faults, fmt.Sprintf(format, args...)) })
}

// inWork is how many messages a worker has taken up and not told the end of.
// The lock is held.
func (l *ledger) inWork(worker string) int {
	if t := l.workers[worker]; t != nil {
		return t.delivered - t.answered
	}
	return 0
}

// await waits until cond holds, which is called with the lock held.
func (l *ledger) await(ctx context.Context, what string, cond func() bool) error {
	for {
		l.mu.Lock()
		ok, changed := cond(), l.changed
		l.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w: %s", what, context.Cause(ctx), l.summary())
		}
	}
}

// see runs do with the lock held.
func (l *ledger) see(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
}

// missing are the published messages that never reached the work step. The lock
// is held.
func (l *ledger) missing() []string {
	var out []string
	for id := range l.published {
		if l.delivered[id] == 0 {
			out = append(out, id)
		}
	}
	return out
}

func (l *ledger) summary() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprintf("published %d, delivered %d, acked %d, never delivered %d, outcomes %v, deferrals %v",
		len(l.published), len(l.delivered), len(l.acked), len(l.missing()), l.outcomes, l.deferrals)
}
