// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// finalizer stands for the SDK's: it keeps callbacks until the test runs them.
type finalizer struct{ callbacks []func() error }

func (f *finalizer) RegisterCallback(_ time.Duration, cb func() error) {
	f.callbacks = append(f.callbacks, cb)
}

// finalize runs them. None may fail.
func (f *finalizer) finalize(t *testing.T) {
	t.Helper()
	for _, cb := range f.callbacks {
		if err := cb(); err != nil {
			t.Errorf("a callback failed: %v", err)
		}
	}
	f.callbacks = nil
}

func finalConfig(t *testing.T, mq *embedded.Broker, opts ...WriteOption) writeConfig {
	t.Helper()
	return txnConfig(t, mq.NameServer(), append([]WriteOption{WriteCommitAtFinalization(30 * time.Second)}, opts...)...)
}

// prepareFinal runs a bundle of an instance of the first step.
func prepareFinal(t *testing.T, fn *prepareFinalFn, bf beam.BundleFinalization, messages ...OutgoingMessage) (out []prepared) {
	t.Helper()
	emit := func(p prepared) { p.place = nil; out = append(out, p) }
	fn.StartBundle(t.Context(), emit)
	for _, m := range messages {
		if err := fn.ProcessElement(t.Context(), beam.PaneInfo{}, window.GlobalWindow{}, 0, bf, m, emit); err != nil {
			t.Fatal(err)
		}
	}
	if err := fn.FinishBundle(t.Context(), emit); err != nil {
		t.Fatal(err)
	}
	if len(out) != len(messages) {
		t.Fatalf("prepared %d of %d", len(out), len(messages))
	}
	return out
}

func newPrepareFinal(t *testing.T, cfg writeConfig) *prepareFinalFn {
	t.Helper()
	fn := &prepareFinalFn{prepareFn: prepareFn{bundleWriter: bundleWriter{Config: cfg}}}
	if err := fn.Setup(); err != nil {
		t.Fatal(err)
	}
	return fn
}

func TestACallbackCommitsAndTheCommitStepDoesNothingMore(t *testing.T) {
	mq := startTxn(t)
	cfg, bf := finalConfig(t, mq), &finalizer{}
	halves := prepareFinal(t, newPrepareFinal(t, cfg), bf, many(10, keyed10)...)
	if n := len(mq.Messages(testTopic)); n != 0 {
		t.Fatalf("%d messages are visible before the bundle is final", n)
	}
	bf.finalize(t)
	wantVisible(t, mq, 10)
	asked := mq.Requests(embedded.RemotingQueryMessage)
	mustCommit(t, cfg, halves...)
	bf.finalize(t)
	wantVisible(t, mq, 10)
	if more := mq.Requests(embedded.RemotingQueryMessage) - asked; more != 0 {
		t.Errorf("%d questions about what this process has committed", more)
	}
	txnSessions.CloseIdle() // as after a restart: nothing is remembered
	for _, r := range mustCommit(t, cfg, decoded(t, halves)...) {
		if !r.Repeated {
			t.Errorf("got result %+v, want the message that was there", r)
		}
	}
	wantVisible(t, mq, 10)
	if commits, rollbacks := endsOf(mq); commits != 10 || rollbacks != 0 {
		t.Errorf("%d commits and %d rollbacks, want 10 and none", commits, rollbacks)
	}
}

// decoded are handles as a runner hands them on.
func decoded(t *testing.T, halves []prepared) []prepared {
	t.Helper()
	out := make([]prepared, len(halves))
	for i, h := range halves {
		var err error
		if out[i], err = decodePrepared(encodePrepared(h)); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestACallbackThatIsLateDoesNothing(t *testing.T) {
	mq := startTxn(t)
	cfg, bf := finalConfig(t, mq), &finalizer{}
	halves := prepareFinal(t, newPrepareFinal(t, cfg), bf, many(10, keyed10)...)
	mustCommit(t, cfg, halves...) // as on Flink, before the checkpoint
	bf.finalize(t)
	wantVisible(t, mq, 10)
	if commits, rollbacks := endsOf(mq); commits != 10 || rollbacks != 0 {
		t.Errorf("%d commits and %d rollbacks, want 10 and none", commits, rollbacks)
	}
	// Nor one whose time is over.
	b := &callback{until: time.Now().Add(-time.Second)}
	late := mustPrepare(t, cfg, keyed10(77))
	late[0].until, late[0].origin = b.until, processID
	b.halves, b.commit = late, func(ctx context.Context, halves []prepared) error { return commitEarly(ctx, &cfg, halves) }
	b.run(slog.New(slog.DiscardHandler))
	wantVisible(t, mq, 10)
}

// Both at once, many times: of each message one is there.
func TestACallbackAndTheCommitStepAtOnceCommitOnce(t *testing.T) {
	mq := startTxn(t)
	cfg := finalConfig(t, mq, WriteCommitSettle(10*time.Millisecond))
	fn := newPrepareFinal(t, cfg)
	for round := range 20 {
		bf := &finalizer{}
		halves := prepareFinal(t, fn, bf, many(20, func(i int) OutgoingMessage { return keyed10(20*round + i) })...)
		var both sync.WaitGroup
		both.Go(func() { bf.finalize(t) })
		if _, err := commitAll(t.Context(), cfg, decoded(t, halves)); err != nil {
			t.Error(err)
		}
		both.Wait()
	}
	wantVisible(t, mq, 400)
	if commits, _ := endsOf(mq); commits != 400 {
		t.Errorf("%d commits, want 400", commits)
	}
}

// A commit step in another process leaves a handle to the callback for as long as
// that may run, and finds what it has committed.
func TestACommitStepElsewhereWaitsForTheCallback(t *testing.T) {
	mq := startTxn(t)
	cfg, bf := finalConfig(t, mq), &finalizer{}
	halves := prepareFinal(t, newPrepareFinal(t, cfg), bf, many(5, keyed10)...)
	elsewhere := decoded(t, halves)
	for i := range elsewhere {
		elsewhere[i].origin = "another process"
	}
	ended := make(chan error, 1)
	go func() {
		_, err := commitAll(t.Context(), cfg, elsewhere)
		ended <- err
	}()
	await(t, mq, "the step has asked", func(embedded.Snapshot) bool { return mq.Requests(embedded.RemotingQueryMessage) >= 5 })
	if n, _ := endsOf(mq); n != 0 {
		t.Fatalf("%d commits before the callback", n)
	}
	// The callback is another process's, too: it has a session of its own.
	other := cfg
	other.SinkID += "-other"
	for i := range halves {
		halves[i].place = nil
	}
	if err := commitEarly(t.Context(), &other, halves); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	wantVisible(t, mq, 5)
	if commits, rollbacks := endsOf(mq); commits != 5 || rollbacks != 0 {
		t.Errorf("%d commits and %d rollbacks, want 5 and none", commits, rollbacks)
	}
}

// And commits by itself when no callback can come any more.
func TestACommitStepElsewhereCommitsWhenTheCallbackHasExpired(t *testing.T) {
	mq := startTxn(t)
	cfg := finalConfig(t, mq)
	halves := mustPrepare(t, cfg, many(5, keyed10)...)
	over := time.Now().Add(-cfg.Transaction.Settle - callbackMargin + 300*time.Millisecond)
	for i := range halves {
		halves[i].until, halves[i].origin = over, "another process"
	}
	begin := time.Now()
	mustCommit(t, cfg, halves...)
	if took := time.Since(begin); took < 290*time.Millisecond {
		t.Errorf("committed after %v, when a callback might still have done so", took)
	}
	wantVisible(t, mq, 5)
}

// What fails in a callback, whatever it is, is left to the commit step.
func TestACallbackNeverFailsAndNeverPanics(t *testing.T) {
	log, said := captured()
	b := &callback{until: time.Now().Add(time.Minute), halves: []prepared{fullPrepared}}
	b.commit = func(context.Context, []prepared) error { panic("at the disco") }
	b.run(log)
	if !strings.Contains(said.String(), "at the disco") {
		t.Errorf("the log says %q", said)
	}
	for name, reaction := range map[string]embedded.Reaction{"lost": embedded.LoseReply(), "dropped": embedded.Drop(), "cut": embedded.Fail(embedded.ErrConnectionCut)} {
		t.Run(name, func(t *testing.T) {
			mq := startTxn(t)
			cfg, bf := finalConfig(t, mq, WriteSendTimeout(200*time.Millisecond)), &finalizer{}
			halves := prepareFinal(t, newPrepareFinal(t, cfg), bf, many(3, keyed10)...)
			for range 2 {
				mq.Control(embedded.RemotingEndTransaction, func(context.Context, *embedded.Request) embedded.Reaction { return reaction })
			}
			bf.finalize(t)
			mustCommit(t, cfg, halves...)
			wantVisible(t, mq, 3)
		})
	}
}

// captured is a logger and what it has said.
func captured() (*slog.Logger, *strings.Builder) {
	var b strings.Builder
	return slog.New(slog.NewTextHandler(&b, nil)), &b
}

// An instance that gets its next bundle while the callback of the one before is
// neither run nor expired: the SDK has lost it. That is said once, and nothing more
// is registered.
func TestCallbacksThatTheSDKLosesAreFoundOut(t *testing.T) {
	log, said := captured()
	c := &callbacks{}
	run := &callback{until: time.Now().Add(time.Hour), ran: true}
	lost := &callback{until: time.Now().Add(time.Hour), halves: []prepared{fullPrepared}}
	for i, step := range []struct {
		before *callback
		want   bool
	}{{nil, true}, {run, true}, {lost, false}, {lost, false}, {nil, false}} {
		if got := c.usable(step.before, log); got != step.want {
			t.Errorf("step %d: got %v, want %v", i, got, step.want)
		}
	}
	if n := strings.Count(said.String(), "loses callbacks"); n != 1 {
		t.Errorf("said %d times: %s", n, said)
	}
	if lost.halves != nil {
		t.Error("the callback that the SDK keeps holds handles")
	}
}

func TestARunnerThatDoesNotFinalizeIsFoundOut(t *testing.T) {
	log, said := captured()
	c := &callbacks{}
	for i := range mostMissed {
		if got := c.usable(&callback{until: time.Now().Add(-1)}, log); got != (i < mostMissed-1) {
			t.Errorf("after %d that expired: got %v", i+1, got)
		}
	}
	if n := strings.Count(said.String(), "not finalized in time"); n != 1 {
		t.Errorf("said %d times: %s", n, said)
	}
	// Where some are, those that expire are bundles that took too long.
	some := &callbacks{ran: 1}
	for range 10 * mostMissed {
		if !some.usable(&callback{until: time.Now().Add(-1)}, log) {
			t.Fatal("given up though callbacks run")
		}
	}
}

func TestCallbacksNeedACommitStepThatAsks(t *testing.T) {
	_, err := newWriteConfig("ns:9876", []WriteOption{WriteTopic("t"), WriteGuarantee(ExactlyOnce), WriteCommitAtFinalization(time.Minute), WriteCommitCheck(CheckAfterDoubt)})
	if err == nil || !strings.Contains(err.Error(), "must ask") {
		t.Errorf("got %v", err)
	}
}
