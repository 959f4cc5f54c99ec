// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package asyncsink

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestABatchGoesWhenItHasEnoughEntriesOrBytesOrAge(t *testing.T) {
	size := func(n int) int { return n }
	t.Run("entries", func(t *testing.T) {
		inBubble(t, testConfig{MaxBatch: 3, Linger: time.Hour, MaxInFlight: 1}, func(t *testing.T, s *testSink, srv *server) {
			w := s.NewWriter(t.Context())
			write(t, w, 1, 2)
			srv.none(t)
			write(t, w, 3)
			srv.next(t, 1, 2, 3).ok()
		})
	})
	t.Run("bytes", func(t *testing.T) {
		inBubble(t, testConfig{MaxBatchBytes: 100, Size: size, Linger: time.Hour, MaxInFlight: 1}, func(t *testing.T, s *testSink, srv *server) {
			w := s.NewWriter(t.Context())
			write(t, w, 60)
			srv.none(t)
			write(t, w, 50) // together too much
			srv.next(t, 60).ok()
			write(t, w, 101) // larger than a batch by itself
			srv.next(t, 50).ok()
			srv.next(t, 101).ok()
		})
	})
	t.Run("age", func(t *testing.T) {
		inBubble(t, testConfig{Linger: 20 * time.Millisecond}, func(t *testing.T, s *testSink, srv *server) {
			w := s.NewWriter(t.Context())
			begin := time.Now()
			write(t, w, 1)
			time.Sleep(15 * time.Millisecond) // on the test's clock
			write(t, w, 2)
			srv.next(t, 1, 2).ok()
			if waited := time.Since(begin); waited != 20*time.Millisecond {
				t.Errorf("the batch went after %v, want 20ms after the first entry", waited)
			}
		})
	})
	t.Run("a flush", func(t *testing.T) {
		inBubble(t, testConfig{Linger: time.Hour}, func(t *testing.T, s *testSink, srv *server) {
			w := s.NewWriter(t.Context())
			write(t, w, 1, 2)
			go func() { srv.next(t, 1, 2).ok() }()
			if err := w.Flush(t.Context()); err != nil {
				t.Error(err)
			}
			if got := outcomes(t, w); len(got) != 2 || got[2].Ack != "ack 2" {
				t.Errorf("got %v, want 1 and 2 acknowledged", got)
			}
		})
	})
	t.Run("the user's own cut", func(t *testing.T) {
		odd := func(_ Lane, front View[int]) int { // batches end behind an odd number
			for i := range front.Len() {
				if front.Entry(i)%2 == 1 {
					return i + 1
				}
			}
			return 0 // kept at one
		}
		inBubble(t, testConfig{Linger: time.Hour, Cut: odd, MaxInFlight: 1}, func(t *testing.T, s *testSink, srv *server) {
			w := s.NewWriter(t.Context())
			write(t, w, 2, 4, 1, 6, 8)
			go func() {
				srv.next(t, 2, 4, 1).ok()
				srv.next(t, 6).ok()
				srv.next(t, 8).ok()
			}()
			if err := w.Flush(t.Context()); err != nil {
				t.Error(err)
			}
		})
	})
}

// W05: while the destination stalls, what is kept is bounded and the caller waits.
func TestAFullBufferHoldsTheCallerUntilThereIsRoom(t *testing.T) {
	cfg := testConfig{MaxBatch: 2, MaxInFlight: 1, MaxBuffered: 4, Linger: time.Hour}
	inBubble(t, cfg, func(t *testing.T, s *testSink, srv *server) {
		w := s.NewWriter(t.Context())
		write(t, w, 1, 2, 3, 4, 5, 6) // two are in flight
		written := make(chan error, 1)
		go func() { written <- w.Write(t.Context(), 7) }()
		synctest.Wait()
		select {
		case err := <-written:
			t.Fatalf("the seventh element was taken (%v), though the buffer holds four", err)
		default:
		}
		srv.next(t, 1, 2).ok()
		if err := <-written; err != nil {
			t.Fatal(err)
		}
		srv.next(t, 3, 4).ok()
		srv.next(t, 5, 6).ok()
		go w.Flush(t.Context())
		srv.next(t, 7).ok()
	})
}

func TestALingeringBatchMakesRoomForAnotherLane(t *testing.T) {
	cfg := testConfig{MaxBuffered: 2, Linger: time.Hour, Lane: func(n int) Lane { return Lane{Key: string(rune('a' + n))} }}
	inBubble(t, cfg, func(t *testing.T, s *testSink, srv *server) {
		w := s.NewWriter(t.Context())
		write(t, w, 1, 2)
		srv.none(t)
		write(t, w, 3)
		for range 2 {
			(<-srv.calls).ok()
		}
	})
}

// W01: an entry that fails is repeated, the others of its batch are not.
func TestOnlyWhatFailedIsRepeated(t *testing.T) {
	inBubble(t, testConfig{MaxBatch: 3}, func(t *testing.T, s *testSink, srv *server) {
		w := s.NewWriter(t.Context())
		go func() {
			write(t, w, 1, 2, 3)
		}()
		synctest.Wait()
		for range 3 { // without lingering each went by itself
			c := <-srv.calls
			if c.entries[0] == 2 {
				c.fault(map[int]error{2: errPasses})
				continue
			}
			c.ok()
		}
		begin := time.Now()
		srv.next(t, 2).ok()
		if paused := time.Since(begin); paused < 80*time.Millisecond || paused > 120*time.Millisecond {
			t.Errorf("repeated after %v, want 100ms and 20 %% more or less", paused)
		}
		if err := w.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		if got := outcomes(t, w); got[2].Attempts != 2 || !got[2].Uncertain || got[1].Uncertain {
			t.Errorf("got %+v, want 2 sent twice and uncertain, 1 not", got)
		}
	})
}

func TestInAnOrderedLaneWhatIsRepeatedGoesFirst(t *testing.T) {
	cfg := testConfig{MaxBatch: 3, Linger: time.Hour, Lane: func(n int) Lane { return Lane{Ordered: true} }}
	inBubble(t, cfg, func(t *testing.T, s *testSink, srv *server) {
		w := s.NewWriter(t.Context())
		write(t, w, 1, 2, 3, 4, 5, 6)
		c := srv.next(t, 1, 2, 3)
		srv.none(t) // one at a time
		c.fault(map[int]error{2: errPasses, 3: errBusy})
		srv.next(t, 2, 3, 4).ok()
		go w.Flush(t.Context())
		srv.next(t, 5, 6).ok()
	})
}

// X13: the number of attempts is the one that was set, and then the error is
// final.
func TestAttemptsAreCountedToTheLast(t *testing.T) {
	for name, c := range map[string]struct {
		faults, wantCalls int
		wantErr           bool
	}{
		"the last attempt succeeds": {2, 3, false},
		"all attempts fail":         {3, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, testConfig{MaxAttempts: 3}, func(t *testing.T, s *testSink, srv *server) {
				w := s.NewWriter(t.Context())
				write(t, w, 1)
				for i := range c.wantCalls {
					if i < c.faults {
						srv.next(t, 1).fault(map[int]error{1: errPasses})
					} else {
						srv.next(t, 1).ok()
					}
				}
				err := w.Flush(t.Context())
				if (err != nil) != c.wantErr || err != nil && !errors.Is(err, errPasses) {
					t.Errorf("got %v, want an error: %v", err, c.wantErr)
				}
				srv.none(t)
			})
		})
	}
}

func TestBeingPutOffDoesNotCountAsAnAttemptAndHasABound(t *testing.T) {
	for name, fault := range map[string]error{"busy": errBusy, "down": errDown} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig{MaxAttempts: 1, MaxWait: 10 * time.Second, Classify: testClasses}
			inBubble(t, cfg, func(t *testing.T, s *testSink, srv *server) {
				w := s.NewWriter(t.Context())
				write(t, w, 1)
				for range 5 {
					srv.next(t, 1).fault(map[int]error{1: fault})
				}
				srv.next(t, 1).ok()
				if err := w.Flush(t.Context()); err != nil {
					t.Error(err)
				}
				if o := outcomes(t, w)[1]; o.Uncertain || o.Attempts != 6 {
					t.Errorf("got %+v, want six requests and no doubt", o)
				}
				begin := time.Now()
				write(t, w, 2)
				ended := make(chan error)
				go func() { ended <- w.Flush(t.Context()) }()
				for {
					select {
					case c := <-srv.calls:
						c.fault(map[int]error{2: fault})
						continue
					case err := <-ended:
						if !errors.Is(err, fault) || !strings.Contains(err.Error(), "still so after 1") {
							t.Errorf("got %v, want the last error after 10 s", err)
						}
					}
					break
				}
				if took := time.Since(begin); took < 10*time.Second || took > 13*time.Second {
					t.Errorf("gave up after %v, want 10 s and one pause at most", took)
				}
			})
		})
	}
}

func TestARequestWithoutAnswerIsRepeatedOrFails(t *testing.T) {
	t.Run("repeated", func(t *testing.T) {
		inBubble(t, testConfig{RequestTimeout: time.Second, MaxAttempts: 2}, func(t *testing.T, s *testSink, srv *server) {
			w := s.NewWriter(t.Context())
			write(t, w, 1)
			srv.next(t, 1)
			srv.next(t, 1).ok()
			if err := w.Flush(t.Context()); err != nil {
				t.Error(err)
			}
			if st := s.Stats(); st.TimedOut != 1 || st.Retried != 1 || st.Uncertain != 1 {
				t.Errorf("got %+v, want one timeout, one repetition, one doubt", st)
			}
		})
	})
	t.Run("repeated to the last", func(t *testing.T) {
		inBubble(t, testConfig{RequestTimeout: time.Second, MaxAttempts: 2}, func(t *testing.T, s *testSink, srv *server) {
			w := s.NewWriter(t.Context())
			write(t, w, 1)
			if err := w.Flush(t.Context()); !errors.Is(err, ErrTimeout) || !strings.Contains(err.Error(), "after 2 attempts") {
				t.Errorf("got %v, want a timeout after 2 attempts", err)
			}
		})
	})
	t.Run("fails", func(t *testing.T) {
		inBubble(t, testConfig{RequestTimeout: time.Second, FailOnTimeout: true}, func(t *testing.T, s *testSink, srv *server) {
			w := s.NewWriter(t.Context())
			write(t, w, 1)
			if err := w.Flush(t.Context()); !errors.Is(err, ErrTimeout) {
				t.Errorf("got %v, want a timeout", err)
			}
			srv.next(t, 1)
			srv.none(t)
		})
	})
}

func TestABatchThatIsRefusedForOneEntryIsTakenApart(t *testing.T) {
	cfg := testConfig{MaxBatch: 3, Linger: time.Hour, Classify: testClasses, Lane: func(int) Lane { return Lane{Ordered: true} }}
	inBubble(t, cfg, func(t *testing.T, s *testSink, srv *server) {
		w := s.NewWriter(t.Context())
		write(t, w, 1, 2, 3, 4)
		begin := time.Now()
		srv.next(t, 1, 2, 3).fault(map[int]error{1: errSplit, 2: errSplit, 3: errSplit})
		srv.next(t, 1).ok()
		srv.next(t, 2).fault(map[int]error{2: errSplit})
		srv.next(t, 3).ok()
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("taken apart after %v, want at once", waited)
		}
		go func() { srv.next(t, 4).ok() }()
		if err := w.Flush(t.Context()); !errors.Is(err, errSplit) {
			t.Errorf("got %v, want the refusal", err)
		}
		if got := outcomes(t, w); got[2].Err == nil || got[1].Err != nil || got[3].Err != nil || got[4].Err != nil {
			t.Errorf("got %v, want only 2 to fail", got)
		}
	})
}

func TestAWriterThatStopsAtItsFirstFailureSendsNothingMore(t *testing.T) {
	cfg := testConfig{MaxBatch: 2, MaxInFlight: 2, Linger: time.Hour, Classify: testClasses, StopOnFailure: true}
	inBubble(t, cfg, func(t *testing.T, s *testSink, srv *server) {
		other := s.NewWriter(t.Context())
		w := s.NewWriter(t.Context())
		write(t, w, 1, 2, 3, 4, 5, 6)
		write(t, other, 7)
		first, second := <-srv.calls, <-srv.calls
		if first.entries[0] != 1 {
			first, second = second, first
		}
		first.fault(map[int]error{1: errFinal})
		synctest.Wait()
		if err := w.Write(t.Context(), 8); !errors.Is(err, errFinal) {
			t.Errorf("a further element: got %v, want the failure", err)
		}
		second.fault(map[int]error{3: errPasses}) // is not repeated any more
		if err := w.Flush(t.Context()); !errors.Is(err, errFinal) {
			t.Errorf("got %v, want the failure", err)
		}
		got := outcomes(t, w)
		if len(got) != 6 || got[2].Err != nil || got[4].Err != nil || !errors.Is(got[3].Err, errPasses) || errors.Is(got[3].Err, ErrNotSent) {
			t.Errorf("got %v", got)
		}
		for _, n := range []int{5, 6} {
			if !errors.Is(got[n].Err, ErrNotSent) || !errors.Is(got[n].Err, errFinal) {
				t.Errorf("element %d: got %v, want not sent, because of the failure", n, got[n].Err)
			}
		}
		go func() { srv.next(t, 7).ok() }()
		if err := other.Flush(t.Context()); err != nil {
			t.Errorf("the other writer: %v", err)
		}
	})
}

func TestElementsThatCannotBecomeEntriesHaveOutcomes(t *testing.T) {
	cfg := testConfig{
		MaxRecord: 10, Size: func(n int) int { return n },
		Convert: func(_ context.Context, n int) (int, error) {
			if n < 0 {
				return 0, errFinal
			}
			return n, nil
		},
	}
	inBubble(t, cfg, func(t *testing.T, s *testSink, srv *server) {
		w := s.NewWriter(t.Context())
		write(t, w, -1, 11, 10)
		srv.next(t, 10).ok()
		if err := w.Flush(t.Context()); !errors.Is(err, errFinal) {
			t.Errorf("got %v, want the first failure", err)
		}
		got := outcomes(t, w)
		if large, ok := errors.AsType[*TooLarge](got[11].Err); !ok || *large != (TooLarge{11, 10}) {
			t.Errorf("element 11: got %v, want its size and the limit", got[11].Err)
		}
		if !errors.Is(got[-1].Err, errFinal) || got[10].Err != nil {
			t.Errorf("got %v", got)
		}
	})
}

func TestTheEndOfAContextEndsEverythingAtOnce(t *testing.T) {
	cause := errors.New("the bundle was given up")
	t.Run("of the writer", func(t *testing.T) {
		inBubble(t, testConfig{MaxBatch: 1, MaxInFlight: 1, RequestTimeout: time.Hour}, func(t *testing.T, s *testSink, srv *server) {
			ctx, cancel := context.WithCancelCause(t.Context())
			w := s.NewWriter(ctx)
			write(t, w, 1, 2)
			c := srv.next(t, 1)
			begin := time.Now()
			cancel(cause)
			if err := w.Flush(t.Context()); !errors.Is(err, cause) {
				t.Errorf("got %v, want the cause", err)
			}
			synctest.Wait()
			if st := s.Stats(); st.Flights != 0 || st.Buffered != 0 || st.Bytes != 0 || time.Since(begin) != 0 {
				t.Errorf("%v later there is %+v, want nothing", time.Since(begin), st)
			}
			if got := outcomes(t, w); len(got) != 2 || !got[1].Uncertain || got[2].Uncertain {
				t.Errorf("got %+v, want two outcomes, and doubt about what was in flight", got)
			}
			if err := w.Write(t.Context(), 3); !errors.Is(err, cause) {
				t.Errorf("a further element: got %v, want the cause", err)
			}
			c.ok() // too late for anybody
		})
	})
	t.Run("of a flush", func(t *testing.T) {
		inBubble(t, testConfig{RequestTimeout: time.Hour}, func(t *testing.T, s *testSink, srv *server) {
			w := s.NewWriter(t.Context())
			write(t, w, 1)
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
			defer cancel()
			if err := w.Flush(ctx); !errors.Is(err, cause) {
				t.Errorf("got %v, want the cause", err)
			}
			if got := outcomes(t, w); !errors.Is(got[1].Err, cause) {
				t.Errorf("got %v", got)
			}
		})
	})
	t.Run("of a write that waits for room", func(t *testing.T) {
		inBubble(t, testConfig{MaxBatch: 1, MaxInFlight: 1, MaxBuffered: 1, RequestTimeout: time.Hour}, func(t *testing.T, s *testSink, srv *server) {
			w := s.NewWriter(t.Context())
			write(t, w, 1, 2)
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
			defer cancel()
			if err := w.Write(ctx, 3); !errors.Is(err, cause) {
				t.Errorf("got %v, want the cause", err)
			}
			w.Abandon(nil)
			if got := outcomes(t, w); len(got) != 2 || !errors.Is(got[1].Err, ErrAbandoned) {
				t.Errorf("got %v, want outcomes of 1 and 2 only", got)
			}
		})
	})
}

func TestARequestGoesOnForTheWriterThatIsLeft(t *testing.T) {
	inBubble(t, testConfig{MaxBatch: 2, Linger: time.Hour}, func(t *testing.T, s *testSink, srv *server) {
		leaves, stays := s.NewWriter(t.Context()), s.NewWriter(t.Context())
		write(t, leaves, 1)
		write(t, stays, 2)
		c := srv.next(t, 1, 2)
		leaves.Abandon(errFinal)
		c.ok()
		if err := stays.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		if got := outcomes(t, leaves); !errors.Is(got[1].Err, errFinal) {
			t.Errorf("got %v", got)
		}
	})
}

func TestClosingEndsWhatIsUnderWay(t *testing.T) {
	inBubble(t, testConfig{MaxBatch: 1, MaxInFlight: 1, RequestTimeout: time.Hour, MaxBuffered: 2}, func(t *testing.T, s *testSink, srv *server) {
		w := s.NewWriter(t.Context())
		write(t, w, 1, 2, 3)
		waiting := make(chan error, 1)
		go func() { waiting <- w.Write(t.Context(), 4) }()
		synctest.Wait()
		s.Close()
		s.Close()
		if err := <-waiting; !errors.Is(err, ErrClosed) {
			t.Errorf("a write that waits: %v", err)
		}
		if err := w.Flush(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("a flush: %v", err)
		}
		if got := outcomes(t, w); len(got) != 3 {
			t.Errorf("got %v, want three outcomes", got)
		}
	})
}

func TestDrainingWaitsForAllWriters(t *testing.T) {
	inBubble(t, testConfig{Linger: time.Hour}, func(t *testing.T, s *testSink, srv *server) {
		w := s.NewWriter(t.Context())
		write(t, w, 1, 2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a request in flight: %v", err)
		}
		srv.next(t, 1, 2).ok()
		if err := s.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		if got := outcomes(t, w); len(got) != 2 {
			t.Errorf("got %v, want two outcomes", got)
		}
	})
}

func TestAnEntryWithoutVerdictIsNotTakenForDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(testConfig{
			Convert: func(_ context.Context, n int) (int, error) { return n, nil }, MaxAttempts: 1,
			Submit: func(context.Context, []int, []Verdict[string]) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		w := s.NewWriter(t.Context())
		write(t, w, 1)
		if err := w.Flush(t.Context()); !errors.Is(err, ErrNoVerdict) {
			t.Errorf("got %v, want ErrNoVerdict", err)
		}
	})
}

func TestClassifiersAreAskedInTurn(t *testing.T) {
	fatal := FinalAs(func(e *TooLarge) bool { return e.Size > 10 })
	c := Chain(fatal, FinalIf(errFinal), func(err error) Judgement {
		if errors.Is(err, errFinal) {
			t.Error("asked after one had decided")
		}
		return Undecided
	}, FinalAs[*TooLarge](nil))
	for _, row := range []struct {
		err  error
		want Judgement
	}{
		{&TooLarge{11, 0}, Final}, {&TooLarge{9, 0}, Final}, {errFinal, Final}, {errPasses, Undecided},
	} {
		if got := c(row.err); got != row.want {
			t.Errorf("%v: got %v, want %v", row.err, got, row.want)
		}
	}
}

func TestSettingsThatCannotWorkAreRefused(t *testing.T) {
	submit := func(context.Context, []int, []Verdict[string]) {}
	convert := func(_ context.Context, n int) (int, error) { return n, nil }
	for want, cfg := range map[string]testConfig{
		"Convert and Submit": {Submit: submit},
		"MaxBatch is -1":     {Submit: submit, Convert: convert, MaxBatch: -1},
	} {
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}
