// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counted makes a pool of numbers that counts what it opens and closes.
type counted struct {
	*Pool[string, int]
	opened, closed atomic.Int64
}

func newCounted(idle time.Duration) *counted {
	c := &counted{}
	c.Pool = New[string](func(int) time.Duration { return idle }, func(int) { c.closed.Add(1) })
	return c
}

func (c *counted) open(context.Context) (int, error) { return int(c.opened.Add(1)), nil }

func (c *counted) want(t *testing.T, opened, closed int64) {
	t.Helper()
	if o, cl := c.opened.Load(), c.closed.Load(); o != opened || cl != closed {
		t.Errorf("opened %d and closed %d, want %d and %d", o, cl, opened, closed)
	}
}

// X04d: eight holders share one value, and the last to leave lets it close.
func TestAllHoldersShareOneValueThatClosesWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newCounted(time.Minute)
		var holds []*Hold[string, int]
		for range 8 {
			v, hold, err := p.Acquire(t.Context(), "a", p.open)
			if err != nil || v != 1 {
				t.Fatalf("got %d, %v", v, err)
			}
			holds = append(holds, hold)
		}
		for _, hold := range holds {
			time.Sleep(time.Hour) // on the test's own clock
			p.want(t, 1, 0)
			hold.Release()
			hold.Release() // twice is once
		}
		time.Sleep(59 * time.Second)
		p.want(t, 1, 0)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		p.want(t, 1, 1)
		if n := p.Len(); n != 0 {
			t.Errorf("%d values left", n)
		}
	})
}

func TestAValueTakenAgainInTimeStaysOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newCounted(time.Minute)
		for range 5 {
			_, hold, err := p.Acquire(t.Context(), "a", p.open)
			if err != nil {
				t.Fatal(err)
			}
			hold.Release()
			time.Sleep(50 * time.Second)
		}
		p.want(t, 1, 0)
		p.CloseIdle()
		p.want(t, 1, 1)
	})
}

func TestAHastenedValueClosesSoonUnlessItIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newCounted(time.Minute)
		p.Hasten("a", time.Second) // there is none
		_, hold, err := p.Acquire(t.Context(), "a", p.open)
		if err != nil {
			t.Fatal(err)
		}
		p.Hasten("a", time.Second)
		time.Sleep(time.Hour) // on the test's own clock
		p.want(t, 1, 0)
		hold.Release()
		p.Hasten("a", time.Second)
		time.Sleep(900 * time.Millisecond)
		_, hold, err = p.Acquire(t.Context(), "a", p.open)
		if err != nil {
			t.Fatal(err)
		}
		hold.Release()
		time.Sleep(50 * time.Second)
		p.want(t, 1, 0)
		p.Hasten("a", time.Second)
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		p.want(t, 1, 1)
	})
}

func TestAFailedOpeningReachesAllWhoWaitAndIsTriedAgain(t *testing.T) {
	p := newCounted(time.Minute)
	boom := errors.New("boom")
	start := make(chan struct{})
	fail := func(context.Context) (int, error) { <-start; return 0, boom }
	var wg sync.WaitGroup
	var failed atomic.Int64
	waiting := make(chan struct{}, 3)
	for range 3 {
		wg.Go(func() {
			waiting <- struct{}{}
			if _, _, err := p.Acquire(t.Context(), "a", fail); errors.Is(err, boom) {
				failed.Add(1)
			}
		})
	}
	for range 3 {
		<-waiting
	}
	close(start)
	wg.Wait()
	if failed.Load() != 3 {
		t.Errorf("%d of 3 got the error", failed.Load())
	}
	if _, hold, err := p.Acquire(t.Context(), "a", p.open); err != nil {
		t.Errorf("the next try: %v", err)
	} else {
		hold.Release()
	}
	p.CloseIdle()
	p.want(t, 1, 1)
}

func TestACallerWhoLeavesDoesNotSpoilTheOpeningForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newCounted(time.Minute)
		start := make(chan struct{})
		slow := func(ctx context.Context) (int, error) {
			<-start
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			return p.open(ctx)
		}
		ctx, leave := context.WithCancel(t.Context())
		go func() {
			if _, _, err := p.Acquire(ctx, "a", slow); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want canceled", err)
			}
		}()
		synctest.Wait() // it opens
		go func() {
			v, hold, err := p.Acquire(t.Context(), "a", p.open)
			if err != nil || v != 1 {
				t.Errorf("got %d, %v", v, err)
				return
			}
			hold.Release()
		}()
		synctest.Wait() // both wait
		leave()
		synctest.Wait()
		close(start)
		synctest.Wait()
		p.CloseIdle()
		p.want(t, 1, 1)
	})
}

// What nobody waits for any more is not opened to its end, and who comes then does not
// get the end of it.
func TestAnOpeningThatAllHaveLeftEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newCounted(time.Minute)
		ended := make(chan struct{})
		endless := func(ctx context.Context) (int, error) {
			<-ctx.Done()
			<-ended // it takes its time
			return p.open(ctx)
		}
		ctx, leave := context.WithCancel(t.Context())
		go func() {
			if _, _, err := p.Acquire(ctx, "a", endless); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want canceled", err)
			}
		}()
		synctest.Wait()
		leave()
		synctest.Wait()
		v, hold, err := p.Acquire(t.Context(), "a", p.open)
		if err != nil || v != 1 {
			t.Fatalf("got %d, %v", v, err)
		}
		hold.Release()
		close(ended) // and is closed at once, for nobody can reach it
		synctest.Wait()
		p.want(t, 2, 1)
		p.CloseIdle()
		p.want(t, 2, 2)
	})
}

func TestManyHoldersInTurmoilLeaveNothingOpen(t *testing.T) {
	p := newCounted(time.Microsecond)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			for i := range 500 {
				_, hold, err := p.Acquire(t.Context(), []string{"a", "b", "c"}[i%3], p.open)
				if err != nil {
					t.Error(err)
					return
				}
				hold.Release()
			}
		})
	}
	wg.Wait()
	p.CloseIdle()
	if p.opened.Load() != p.closed.Load() || p.Len() != 0 {
		t.Errorf("opened %d, closed %d, left %d", p.opened.Load(), p.closed.Load(), p.Len())
	}
}

// Who comes for each message holds the value again without looking it up, and is told
// when it was closed meanwhile.
func TestAHoldIsTakenUpAgainUntilItsValueIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newCounted(time.Minute)
		_, hold, err := p.Acquire(t.Context(), "a", p.open)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			hold.Release()
			time.Sleep(59 * time.Second) // on the test's own clock
			if v, ok := hold.Again(); !ok || v != 1 {
				t.Fatalf("got %d, %v; want the value again", v, ok)
			}
			hold.Again() // twice is once
		}
		time.Sleep(time.Hour)
		p.want(t, 1, 0)
		hold.Release()
		time.Sleep(time.Hour)
		p.want(t, 1, 1)
		if _, ok := hold.Again(); ok {
			t.Error("a value that was closed is held again")
		}
		hold.Release() // of nothing
		if _, again, err := p.Acquire(t.Context(), "a", p.open); err != nil {
			t.Error(err)
		} else {
			again.Release()
		}
		p.want(t, 2, 1)
		p.CloseIdle()
	})
}
