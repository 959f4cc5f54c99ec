// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package asyncsink

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// scenario is a random run: settings, writers, and a destination that fails in
// every way it can.
type scenario struct {
	cfg     testConfig
	ordered bool
	lanes   int
	seed    uint64
	writers []writerPlan
	close   time.Duration // when the sink is closed under way; 0 for not
	weights [numFates]int
}

type writerPlan struct {
	elements int
	pause    time.Duration // between elements
	flushes  int           // a flush after so many elements; 0 for only at the end
	cancel   time.Duration // when its context ends; 0 for never
}

// fate is what the destination does with an entry.
type fate int

const (
	acknowledged fate = iota
	lost              // stored, but the answer is an error
	refused           // not stored, for reasons that pass
	putOff
	asksForLess
	wrongBatch
	refusedForGood
	forgotten // no verdict
	silent    // no answer in time, stored or not
	numFates
)

func drawScenario(t *rapid.T) *scenario {
	ms := func(name string, low, high int) time.Duration {
		return time.Duration(rapid.IntRange(low, high).Draw(t, name)) * time.Millisecond
	}
	n := func(name string, low, high int) int { return rapid.IntRange(low, high).Draw(t, name) }
	yes := func(name string) bool { return rapid.Bool().Draw(t, name) }
	sc := &scenario{ordered: yes("ordered"), lanes: n("lanes", 1, 3), seed: rapid.Uint64().Draw(t, "seed")}
	sc.cfg = testConfig{
		MaxBatch: n("batch", 1, 5), MaxBatchBytes: n("bytes", 1, 20), MaxInFlight: n("in flight", 1, 4), MaxInFlightBytes: n("bytes in flight", 1, 60), MaxBuffered: n("buffered", 1, 10),
		Linger: ms("linger", 0, 50), RequestTimeout: ms("timeout", 100, 300), MaxAttempts: n("attempts", 1, 4), MaxWait: ms("patience", 100, 3000),
		FailOnTimeout: yes("fail on timeout"), StopOnFailure: yes("stop"), MaxRecord: 9,
	}
	if yes("aimd") {
		sc.cfg.Strategy, _ = NewAIMD(AIMDConfig{Max: n("limit", 1, 20), Step: n("step", 1, 5), Factor: 0.5})
	}
	for range n("writers", 1, 3) {
		w := writerPlan{elements: n("elements", 0, 40), pause: ms("pause", 0, 10), flushes: n("flushes", 0, 15)}
		if yes("cancelled") {
			w.cancel = ms("cancel", 1, 1500)
		}
		sc.writers = append(sc.writers, w)
	}
	if n("closed", 0, 4) == 0 {
		sc.close = ms("close", 1, 1500)
	}
	for i := range sc.weights {
		sc.weights[i] = n("weight", 0, 3)
	}
	sc.weights[acknowledged] += 3
	return sc
}

// run is a scenario under way, and what was seen of it.
type run struct {
	*scenario
	sink *testSink

	mu      sync.Mutex
	random  *rand.Rand
	running int
	flying  int // bytes
	inLane  map[int]int
	stored  map[int]int // by entry
	acked   map[int]int
	order   map[int][]int // entries as they were first stored, by lane
	faults  []string
}

func (r *run) fault(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// Elements are 1000 times the writer and a number. Some cannot be converted,
// some are too large.
func (r *run) convert(_ context.Context, n int) (int, error) {
	if n%17 == 16 {
		return 0, errFinal
	}
	return n, nil
}

func sizeOf(n int) int { return n % 11 }

func (r *run) laneOf(n int) int { return n % r.lanes }

func (r *run) draw() fate {
	total := 0
	for _, w := range r.weights {
		total += w
	}
	at := r.random.IntN(total)
	for f, w := range r.weights {
		if at -= w; at < 0 {
			return fate(f)
		}
	}
	return acknowledged
}

// begin checks a request and draws what becomes of it. A destination with order
// does not take half a batch.
func (r *run) begin(entries []int) (fates []fate, takes time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lane, bytes := r.laneOf(entries[0]), 0
	for _, e := range entries {
		bytes += sizeOf(e)
	}
	r.running++
	r.flying += bytes
	r.inLane[lane]++
	switch {
	case r.running > r.cfg.MaxInFlight:
		r.faults = append(r.faults, fmt.Sprintf("%d requests at a time", r.running))
	case r.running > 1 && r.flying > r.cfg.MaxInFlightBytes:
		r.faults = append(r.faults, fmt.Sprintf("%d bytes in flight", r.flying))
	case r.ordered && r.inLane[lane] > 1:
		r.faults = append(r.faults, "two requests of an ordered lane at a time")
	case len(entries) > r.cfg.MaxBatch:
		r.faults = append(r.faults, fmt.Sprintf("a batch of %d", len(entries)))
	}
	for i, e := range entries {
		if r.laneOf(e) != lane {
			r.faults = append(r.faults, "a batch of two lanes")
		}
		if i == 0 || !r.ordered {
			fates = append(fates, r.draw())
		} else {
			fates = append(fates, fates[0])
		}
		if fates[i] == silent {
			takes = 10 * time.Second
		}
	}
	if len(entries) > 1 && bytes > r.cfg.MaxBatchBytes {
		r.faults = append(r.faults, fmt.Sprintf("a batch of %d bytes", bytes))
	}
	return fates, max(takes, time.Duration(r.random.IntN(50))*time.Millisecond)
}

func (r *run) submit(ctx context.Context, entries []int, verdicts []Verdict[string]) {
	fates, takes := r.begin(entries)
	if st := r.sink.Stats(); st.Buffered > r.cfg.MaxBuffered+r.cfg.MaxInFlight*r.cfg.MaxBatch {
		r.fault("%d are buffered", st.Buffered)
	}
	timer := time.NewTimer(takes)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running--
	for _, e := range entries {
		r.flying -= sizeOf(e)
	}
	r.inLane[r.laneOf(entries[0])]--
	late := ctx.Err() != nil
	keep := r.random.IntN(2) == 0
	for i, e := range entries {
		verdicts[i].Err = r.decide(e, fates[i], late, keep)
		if verdicts[i].Err == nil {
			verdicts[i].Ack = fmt.Sprint("ack ", e)
			r.acked[e]++
		}
	}
}

// decide carries a fate out. The lock is held.
func (r *run) decide(e int, f fate, late, keep bool) error {
	if late {
		if keep {
			r.store(e)
		}
		return context.DeadlineExceeded
	}
	switch f {
	case acknowledged:
		r.store(e)
		return nil
	case lost:
		r.store(e)
		return errPasses
	case putOff:
		return errDown
	case asksForLess:
		return errBusy
	case wrongBatch:
		return errSplit
	case refusedForGood:
		return errFinal
	case forgotten:
		r.store(e)
		return ErrNoVerdict
	}
	return errPasses
}

func (r *run) store(e int) {
	r.stored[e]++
	if r.stored[e] == 1 {
		r.order[r.laneOf(e)] = append(r.order[r.laneOf(e)], e)
	}
}

// writer writes what is planned and checks what it is told.
func (r *run) writer(number int, plan writerPlan) {
	cause := errors.New("cancelled")
	ctx := context.Background()
	if plan.cancel > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, plan.cancel, cause)
		defer cancel()
	}
	w := r.sink.NewWriter(ctx)
	accepted := map[int]bool{}
	seen := map[int]bool{}
	failed := false
	take := func() {
		for _, o := range w.Take() {
			if seen[o.In] || !accepted[o.In] {
				r.fault("element %d has an outcome too much", o.In)
			}
			seen[o.In] = true
			failed = failed || o.Err != nil
			r.checkOutcome(o)
		}
	}
	for i := range plan.elements {
		n := 1000*number + i
		accepted[n] = true
		if err := w.Write(ctx, n); err != nil {
			delete(accepted, n)
			if !errors.Is(err, cause) && !errors.Is(err, ErrClosed) && !r.cfg.StopOnFailure {
				r.fault("writing %d: %v", n, err)
			}
		}
		time.Sleep(plan.pause) // on the test's clock
		if plan.flushes > 0 && i%plan.flushes == 0 {
			w.Flush(context.Background())
		}
		if i%3 == 0 {
			take()
		}
	}
	err := w.Flush(context.Background())
	take()
	if err == nil && failed || err != nil && !failed && r.close == 0 && ctx.Err() == nil {
		r.fault("writer %d: flush says %v, an element failed: %v", number, err, failed)
	}
	if len(seen) != len(accepted) {
		r.fault("writer %d: %d elements, %d outcomes", number, len(accepted), len(seen))
	}
}

func (r *run) checkOutcome(o testOutcome) {
	r.mu.Lock()
	stored, acked := r.stored[o.In], r.acked[o.In]
	r.mu.Unlock()
	switch {
	case o.Err == nil && (acked != 1 || o.Ack != fmt.Sprint("ack ", o.In)):
		r.fault("element %d is acknowledged with %q, the destination did so %d times", o.In, o.Ack, acked)
	case o.Err != nil && acked > 0 && !o.Uncertain:
		r.fault("element %d failed with %v, the destination had acknowledged it", o.In, o.Err)
	case o.Err != nil && stored > 0 && !o.Uncertain:
		r.fault("element %d failed with %v and no doubt, but is stored", o.In, o.Err)
	case stored > 1 && !o.Uncertain:
		r.fault("element %d is stored %d times, and nothing says so", o.In, stored)
	}
}

// checkOrder: in an ordered lane the elements of a writer are first stored in
// their order.
func (r *run) checkOrder() {
	for lane, order := range r.order {
		last := map[int]int{}
		for _, e := range order {
			if before, ok := last[e/1000]; ok && before > e {
				r.faults = append(r.faults, fmt.Sprintf("lane %d: %d was stored before %d", lane, before, e))
			}
			last[e/1000] = e
		}
	}
}

// play runs the scenario and returns what was wrong.
func (sc *scenario) play(t *testing.T) (faults []string) {
	synctest.Test(t, func(t *testing.T) {
		r := &run{scenario: sc, random: rand.New(rand.NewPCG(sc.seed, 1)), inLane: map[int]int{}, stored: map[int]int{}, acked: map[int]int{}, order: map[int][]int{}}
		cfg := sc.cfg
		cfg.Convert, cfg.Submit, cfg.Size, cfg.Classify = r.convert, r.submit, sizeOf, testClasses
		cfg.Lane = func(n int) Lane { return Lane{Key: fmt.Sprint(r.laneOf(n)), Ordered: sc.ordered} }
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		r.sink = s
		var wg sync.WaitGroup
		for i, plan := range sc.writers {
			wg.Go(func() { r.writer(i, plan) })
		}
		if sc.close > 0 {
			time.Sleep(sc.close) // on the test's clock
			s.Close()
		}
		wg.Wait()
		s.Close()
		if st := s.Stats(); st.Buffered != 0 || st.Bytes != 0 || st.InFlight != 0 || st.Flights != 0 || st.Accepted != st.Acknowledged+st.Failed {
			r.fault("at the end: %+v", st)
		}
		if sc.ordered {
			r.checkOrder()
		}
		faults = r.faults
	})
	return faults
}

// L50, W02: whatever happens, each element is acknowledged or reported failed,
// never both, never neither, never twice; nothing is stored twice without a word;
// order is kept where it is promised; the bounds hold; and nothing is left.
func TestEachElementHasExactlyOneOutcome(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sc := drawScenario(rt)
		if faults := sc.play(t); len(faults) > 0 {
			rt.Fatalf("%d faults, first %q", len(faults), faults[:min(3, len(faults))])
		}
	})
}
