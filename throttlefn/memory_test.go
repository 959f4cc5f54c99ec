// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTheLedgerForgetsWhatWasUsedLongestAgo(t *testing.T) {
	r := newRecent[string, int](3)
	for i, k := range []string{"a", "b", "c"} {
		r.put(k, i)
	}
	r.get("a")
	r.put("d", 3)
	if _, ok := r.get("b"); ok || r.len() != 3 {
		t.Errorf("b is there: %v; %d entries", ok, r.len())
	}
	for _, k := range []string{"a", "c", "d"} {
		if _, ok := r.get(k); !ok {
			t.Errorf("%s is gone", k)
		}
	}
	r.remove("a")
	r.remove("a")
	if r.len() != 2 {
		t.Errorf("%d entries after a removal", r.len())
	}
}

// The bounded map answers like one without bounds that is told what to forget.
func TestRecentAgreesWithAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 4
		r := newRecent[int, int](most)
		model, order := map[int]int{}, []int{} // used last is at the end
		touch := func(k int) {
			for i, o := range order {
				if o == k {
					order = append(order[:i], order[i+1:]...)
					break
				}
			}
			order = append(order, k)
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			k := rapid.IntRange(0, 7).Draw(t, "key")
			switch rapid.IntRange(0, 2).Draw(t, "op") {
			case 0:
				v := rapid.Int().Draw(t, "value")
				r.put(k, v)
				model[k] = v
				touch(k)
				if len(order) > most {
					delete(model, order[0])
					order = order[1:]
				}
			case 1:
				got, ok := r.get(k)
				if want, wantOK := model[k]; got != want || ok != wantOK {
					t.Fatalf("get(%d) = %d, %v; want %d, %v", k, got, ok, want, wantOK)
				}
				if ok {
					touch(k)
				}
			case 2:
				r.remove(k)
				if _, ok := model[k]; ok {
					delete(model, k)
					touch(k)
					order = order[:len(order)-1]
				}
			}
			if r.len() != len(model) {
				t.Fatalf("%d entries, want %d", r.len(), len(model))
			}
		}
	})
}

func TestTheMemoryStaysBoundedAndIsSafeForConcurrentUse(t *testing.T) {
	m := newMemory(Quota{PerWindow: 1, Defer: time.Second}, time.Minute)
	m.ledger.most, m.lites.most = 50, 50
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 500 {
				msg := message(fmt.Sprint("lite", worker, i), int64(i), 0)
				m.wasDeferred(&msg.Handle, time.Second, noon)
				m.isHeld(&msg.Handle, noon, false)
				m.spentOn(&msg.Handle, noon)
				if i%3 == 0 {
					m.hasPassed(&msg.Handle, noon)
				}
				m.lite(&msg.Handle)
			}
		})
	}
	wg.Wait()
	if m.ledger.len() > 50 || m.lites.len() > 50 {
		t.Errorf("%d and %d entries, want at most 50", m.ledger.len(), m.lites.len())
	}
}
