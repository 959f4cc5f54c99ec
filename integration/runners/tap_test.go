// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package runners

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

func init() {
	beam.RegisterDoFn(&tapFn{})
}

// taps hold what pipelines of the tests have seen, by the test's name: the
// workers are in this process.
var taps sync.Map

type tap struct {
	mu   sync.Mutex
	seen map[string]int
	more chan struct{}
}

func newTap(t *testing.T) *tap {
	t.Helper()
	tp := &tap{seen: map[string]int{}, more: make(chan struct{})}
	taps.Store(t.Name(), tp)
	t.Cleanup(func() { taps.Delete(t.Name()) })
	return tp
}

func (tp *tap) add(key string, n int) {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	tp.seen[key] += n
	close(tp.more)
	tp.more = make(chan struct{})
}

// set is for what may be seen again when a bundle is repeated: it is then the
// same.
func (tp *tap) set(key string, n int) {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	tp.seen[key] = max(tp.seen[key], n)
	close(tp.more)
	tp.more = make(chan struct{})
}

// await waits until the condition holds of what was seen.
func (tp *tap) await(t *testing.T, what string, cond func(seen map[string]int) bool) {
	t.Helper()
	timeout := time.After(patience)
	for {
		tp.mu.Lock()
		met, more := cond(tp.seen), tp.more
		seen := len(tp.seen)
		tp.mu.Unlock()
		if met {
			return
		}
		select {
		case <-more:
		case <-timeout:
			t.Fatalf("%s did not come in %v; seen: %d %v", what, patience, seen, tp.snapshot())
		}
	}
}

// bodies counts the different messages, windowed what is counted in windows.
func bodies(seen map[string]int) (n int) {
	for key := range seen {
		if !strings.HasPrefix(key, "queue ") {
			n++
		}
	}
	return n
}

func windowed(seen map[string]int) (n int) {
	for key, k := range seen {
		if strings.HasPrefix(key, "queue ") {
			n += k
		}
	}
	return n
}

// counts returns how many came, and how many different ones.
func (tp *tap) counts() (all, distinct int) {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	for _, n := range tp.seen {
		all += n
	}
	return all, len(tp.seen)
}

// tapFn shows messages to a test.
type tapFn struct{ Test string }

func (fn *tapFn) ProcessElement(_ context.Context, m coders.Message) {
	if tp, ok := taps.Load(fn.Test); ok {
		tp.(*tap).add(string(m.Body), 1)
	}
}

func (tp *tap) snapshot() map[string]int {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	return maps.Clone(tp.seen)
}

// poll waits until the condition holds, asking again and again: what it asks has
// no way to tell.
func poll(t *testing.T, what string, cond func() bool) {
	t.Helper()
	timeout := time.After(patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("%s: not in %v", what, patience)
		}
	}
}
