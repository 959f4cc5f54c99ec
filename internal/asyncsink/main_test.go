// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package asyncsink

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The tests write ints and acknowledge with strings.
type (
	testConfig  = Config[int, int, string]
	testSink    = Sink[int, int, string]
	testOutcome = Outcome[int, int, string]
)

// server is a destination whose answers the test gives.
type server struct {
	calls chan *call
}

// call is a request that waits for its answer.
type call struct {
	entries []int
	answer  chan map[int]error // by entry; those left out are acknowledged
}

func newServer() *server { return &server{calls: make(chan *call, 1000)} }

func (s *server) submit(ctx context.Context, entries []int, verdicts []Verdict[string]) {
	c := &call{entries: append([]int(nil), entries...), answer: make(chan map[int]error, 1)}
	s.calls <- c
	var faults map[int]error
	select {
	case faults = <-c.answer:
	case <-ctx.Done():
		for i := range verdicts {
			verdicts[i].Err = context.Cause(ctx)
		}
		return
	}
	for i, e := range entries {
		if err, bad := faults[e]; bad {
			verdicts[i] = Verdict[string]{Err: err}
		} else {
			verdicts[i] = Verdict[string]{Ack: fmt.Sprint("ack ", e)}
		}
	}
}

// next waits for a request and checks what it carries.
func (s *server) next(t *testing.T, want ...int) *call {
	t.Helper()
	select {
	case c := <-s.calls:
		if fmt.Sprint(c.entries) != fmt.Sprint(want) {
			t.Fatalf("a request carries %v, want %v", c.entries, want)
		}
		return c
	case <-time.After(time.Hour): // on the test's clock: nothing is going to happen
		t.Fatalf("no request came, want one with %v", want)
		return nil
	}
}

// none checks that no request is under way.
func (s *server) none(t *testing.T) {
	t.Helper()
	synctest.Wait()
	select {
	case c := <-s.calls:
		t.Fatalf("a request with %v was not to be sent", c.entries)
	default:
	}
}

func (c *call) ok() { c.answer <- nil }

func (c *call) fault(faults map[int]error) { c.answer <- faults }

// inBubble runs a test with a clock of its own and a sink.
func inBubble(t *testing.T, cfg testConfig, test func(t *testing.T, s *testSink, srv *server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := newServer()
		if cfg.Convert == nil {
			cfg.Convert = func(_ context.Context, n int) (int, error) { return n, nil }
		}
		cfg.Submit = srv.submit
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		test(t, s, srv)
	})
}

func write(t *testing.T, w *Writer[int, int, string], elements ...int) {
	t.Helper()
	for _, n := range elements {
		if err := w.Write(t.Context(), n); err != nil {
			t.Fatalf("writing %d: %v", n, err)
		}
	}
}

// errPasses may pass, errFinal does not.
var (
	errPasses = errors.New("try again")
	errBusy   = errors.New("busy")
	errDown   = errors.New("down")
	errSplit  = errors.New("one of these is wrong")
	errFinal  = errors.New("never")
)

var testClasses = Chain(FinalIf(errFinal), func(err error) Judgement {
	switch {
	case errors.Is(err, errBusy):
		return Congested
	case errors.Is(err, errDown):
		return Wait
	case errors.Is(err, errSplit):
		return Alone
	}
	return Undecided
})

// outcomes maps elements to their errors, and fails if one has two outcomes.
func outcomes(t *testing.T, w *Writer[int, int, string]) map[int]testOutcome {
	t.Helper()
	out := map[int]testOutcome{}
	for _, o := range w.Take() {
		if _, twice := out[o.In]; twice {
			t.Errorf("element %d has two outcomes", o.In)
		}
		out[o.In] = o
	}
	return out
}
