// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package asyncsink

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// W17: grows by the step for a window that was used, shrinks by the factor for
// one that had too many refusals, and only once for what was sent before.
func TestAIMDGrowsByTheStepAndShrinksByTheFactor(t *testing.T) {
	a, err := NewAIMD(AIMDConfig{Initial: 100, Min: 10, Max: 120, Step: 7, Factor: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	fill := func() (marks []uint64) {
		for a.Admit(1) == 1 {
			marks = append(marks, a.Started(1))
		}
		return marks
	}
	end := func(marks []uint64, congested int) {
		for _, m := range marks {
			a.Ended(m, Report{Entries: 1, Acknowledged: 1 - congested, Congested: congested})
		}
	}
	for _, step := range []struct {
		what      string
		congested int
		want      int
	}{
		{"a good window", 0, 107},
		{"another", 0, 114},
		{"one that reaches the bound", 0, 120},
		{"a bad one, however bad", 1, 60},
		{"a good one", 0, 67},
	} {
		end(fill(), step.congested)
		if a.Limit() != step.want {
			t.Errorf("after %s the limit is %d, want %d", step.what, a.Limit(), step.want)
		}
	}
	for range 5 {
		end([]uint64{a.Started(1)}, 0) // far from the limit
	}
	for range 20 {
		a.Ended(a.Started(10), Report{Entries: 10, Acknowledged: 10})
	}
	if a.Limit() != 67 {
		t.Errorf("windows that did not use the limit changed it to %d", a.Limit())
	}
	for range 10 {
		end(fill(), 1)
	}
	if a.Limit() != 10 {
		t.Errorf("the limit is %d, want the lowest, 10", a.Limit())
	}
}

func TestAIMDBearsRefusalsUpToItsTolerance(t *testing.T) {
	a, err := NewAIMD(AIMDConfig{Initial: 100, Max: 100, Tolerance: 0.2, Factor: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	window := func(congested int) { // of 20 requests with 5 entries
		for i := range 20 {
			r := Report{Entries: 5, Acknowledged: 5}
			if i < congested {
				r = Report{Entries: 5, Congested: 5}
			}
			a.Ended(a.Started(5), r)
		}
	}
	if window(4); a.Limit() != 100 {
		t.Errorf("4 of 20 refused made the limit %d", a.Limit())
	}
	if window(5); a.Limit() != 50 {
		t.Errorf("5 of 20 refused made the limit %d, want 50", a.Limit())
	}
}

func TestAIMDRefusesSettingsThatCannotWork(t *testing.T) {
	for want, cfg := range map[string]AIMDConfig{
		"between 1 and 0":  {},
		"step -1":          {Max: 10, Step: -1},
		"factor 1:":        {Max: 10, Factor: 1},
		"factor NaN":       {Max: 10, Factor: nan()},
		"tolerance 1:":     {Max: 10, Tolerance: 1},
		"between 20 and 1": {Max: 10, Min: 20},
	} {
		if _, err := NewAIMD(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want an error with %q", cfg, err, want)
		}
	}
}

func nan() float64 { var zero float64; return zero / zero }

// W17, X27: a destination that serves 100 entries at a time, refuses more, and is
// busy for one in twenty anyway, gets at least 80 % of what it could take; the
// limit ends near what it bears.
func TestTheLimitSettlesAtWhatTheDestinationBears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bears, serves = 100, 5 * time.Millisecond
		var mu sync.Mutex
		now, most, done := 0, 0, 0
		random := rand.New(rand.NewPCG(1, 2))
		submit := func(ctx context.Context, entries []int, verdicts []Verdict[string]) {
			mu.Lock()
			refused := now >= bears || random.Float64() < 0.05
			if !refused {
				now++
				most = max(most, now)
			}
			mu.Unlock()
			if refused {
				time.Sleep(200 * time.Microsecond) // on the test's clock
				verdicts[0].Err = errBusy
				return
			}
			time.Sleep(serves)
			mu.Lock()
			now--
			done++
			mu.Unlock()
			verdicts[0] = Verdict[string]{}
		}
		strategy, err := NewAIMD(AIMDConfig{Initial: 1000, Max: 1000, Step: 5, Factor: 0.9, Tolerance: 0.2})
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(testConfig{
			Convert: func(_ context.Context, n int) (int, error) { return n, nil }, Submit: submit, Classify: testClasses,
			MaxBatch: 1, MaxInFlight: 1000, MaxBuffered: 2000, Strategy: strategy, FirstPause: 20 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		w := s.NewWriter(t.Context())
		const all, settled = 60000, 20000
		var begin time.Time
		var before int
		lowest, highest := 1000, 0
		for n := range all {
			if n == settled {
				mu.Lock()
				begin, before = time.Now(), done
				mu.Unlock()
			}
			write(t, w, n)
			if n > settled && n%100 == 0 {
				limit := s.Stats().Limit
				lowest, highest = min(lowest, limit), max(highest, limit)
			}
		}
		took := time.Since(begin)
		mu.Lock()
		rate := float64(done-before) / took.Seconds()
		mu.Unlock()
		if err := w.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		best := bears / serves.Seconds()
		got := fmt.Sprintf("%.0f of %.0f a second, limit between %d and %d, %+v", rate, best, lowest, highest, s.Stats())
		t.Log(got)
		if rate < 0.8*best || highest > 2*bears || lowest < bears/2 {
			t.Error(got + ": want 80 %, and a limit between half and twice what it bears")
		}
		if len(w.Take()) != all {
			t.Error("outcomes are missing")
		}
	})
}
