// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/uuid"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

func init() {
	beam.RegisterDoFn(&prepareFinalFn{}) // a request a message: what calls cost does not count
}

// processID tells handles of this process from those of others.
var processID = uuid.NewString()

// prepareFinalFn is prepareFn that has the runner's callback commit what a bundle
// has prepared.
type prepareFinalFn struct {
	prepareFn

	armed  bool      // in this bundle
	bundle *callback // of this bundle, nil without
	before *callback // of the one before
}

// StartBundle forgets what a failed bundle left behind.
func (fn *prepareFinalFn) StartBundle(ctx context.Context, emit emitPrepared) {
	fn.prepareFn.StartBundle(ctx, emit)
	fn.before, fn.bundle, fn.armed = fn.bundle, nil, false
}

// ProcessElement hands a message over. The first of a bundle registers the callback.
func (fn *prepareFinalFn) ProcessElement(ctx context.Context, pane beam.PaneInfo, w beam.Window, t beam.EventTime, bf beam.BundleFinalization, m OutgoingMessage, emit emitPrepared) error {
	if !fn.armed {
		if err := withTransactions(ctx, &fn.Config, func(s *txnSession) error { fn.arm(s, bf); return nil }); err != nil {
			return err
		}
	}
	return fn.prepareFn.ProcessElement(ctx, pane, w, t, m, fn.noting(emit))
}

// FinishBundle returns when each message is prepared.
func (fn *prepareFinalFn) FinishBundle(ctx context.Context, emit emitPrepared) error {
	return fn.prepareFn.FinishBundle(ctx, fn.noting(emit))
}

func (fn *prepareFinalFn) arm(s *txnSession, bf beam.BundleFinalization) {
	fn.armed = true
	if !s.callbacks.usable(fn.before, s.log) {
		return
	}
	expiry := fn.Config.Transaction.Finalize
	b := &callback{until: time.Now().Add(expiry)}
	b.commit = func(ctx context.Context, halves []prepared) error { return commitEarly(ctx, &fn.Config, halves) }
	bf.RegisterCallback(expiry, func() error { b.run(s.log); return nil })
	fn.bundle = b
}

// noting notes for the callback what is emitted.
func (fn *prepareFinalFn) noting(emit emitPrepared) emitPrepared {
	b := fn.bundle
	if b == nil {
		return emit
	}
	return func(p prepared) {
		p.until, p.origin = b.until, processID
		b.add(p)
		emit(p)
	}
}

// callback is what is to be done when a bundle is final.
type callback struct {
	until  time.Time
	commit func(context.Context, []prepared) error

	mu     sync.Mutex
	halves []prepared
	ran    bool
}

func (b *callback) add(p prepared) {
	p.place = nil
	b.mu.Lock()
	defer b.mu.Unlock()
	b.halves = append(b.halves, p)
}

// take empties it, for the SDK keeps callbacks that it does not run.
func (b *callback) take(running bool) (halves []prepared, ran bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	halves, b.halves, ran = b.halves, nil, b.ran
	b.ran = b.ran || running
	return halves, ran
}

// run commits what the bundle has prepared. Nothing depends on its success: what it
// leaves the commit step does. So it neither fails nor panics, for that would end
// the worker process.
func (b *callback) run(log *slog.Logger) {
	defer func() {
		if r := recover(); r != nil {
			log.Error("committing at finalization panicked; the commit step does what is left", "panic", r, "stack", string(debug.Stack()))
		}
	}()
	halves, _ := b.take(true)
	if len(halves) == 0 {
		return
	}
	ctx, cancel := context.WithDeadline(context.Background(), b.until)
	defer cancel()
	if err := b.commit(ctx, halves); err != nil {
		log.Info("committing at finalization; the commit step does what is left", "error", err)
	}
}

// commitEarly commits half messages in the place of the commit step. What it returns
// early it has left to that.
func commitEarly(ctx context.Context, cfg *writeConfig, halves []prepared) error {
	return withTransactions(ctx, cfg, func(s *txnSession) error {
		w := s.sink.NewWriter(ctx)
		defer w.Abandon(nil)
		for i := range halves {
			halves[i].callback = true
			if err := w.Write(ctx, &halves[i]); err != nil {
				return err
			}
		}
		return w.Flush(ctx)
	})
}

// callbacks watches whether the runner and the SDK run them.
type callbacks struct {
	mu          sync.Mutex
	ran, missed int
	off         bool
}

// mostMissed is how many callbacks may run out before the first one runs.
const mostMissed = 3

// usable says whether another callback is worth registering, after the one of the
// bundle before, which the same instance of the DoFn has processed.
//
// A worker gives an instance its next bundle only when the callbacks of the one
// before have run or have expired. So one that did neither was lost: the SDK up to
// 2.77 attaches a new list of callbacks to the plan when a bundle is finalized, and
// leaves the old one with the DoFns.
func (c *callbacks) usable(before *callback, log *slog.Logger) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before == nil || c.off {
		return !c.off
	}
	_, ran := before.take(false)
	switch {
	case ran:
		c.ran++
	case time.Now().Before(before.until):
		c.off = true
		log.Warn("this version of Beam's Go SDK loses callbacks of bundle finalization: from now on the commit step alone commits. Nothing is lost by that, only later visible; leave WriteCommitAtFinalization out, or use an SDK that runs them")
	default:
		if c.missed++; c.missed >= mostMissed && c.ran == 0 {
			c.off = true
			log.Warn(fmt.Sprintf("%d bundles were not finalized in time, and none was: from now on the commit step alone commits. Nothing is lost by that; the runner may not finalize bundles, or later than WriteCommitAtFinalization allows", c.missed))
		}
	}
	return !c.off
}

// endEarly is end for a callback. It commits, once, what nobody has tried to commit
// yet, and leaves the rest to the commit step.
func (s *txnSession) endEarly(ctx context.Context, e *ending, last attempt) {
	h, until := e.prepared.half, e.prepared.until
	if !last.at.IsZero() || !time.Now().Before(until) {
		return
	}
	if found, err := s.ask(ctx, h, last); err != nil || found != nil || !time.Now().Before(until) {
		return
	}
	s.try(e, attempt{at: time.Now(), open: true})
	if err := s.client.EndTransaction(ctx, h, remoting.Commit); err != nil {
		s.try(e, attempt{at: time.Now(), open: maybeCarriedOut(err)})
		return
	}
	s.try(e, attempt{at: time.Now(), done: &h})
	s.stats.add(func(n *txnCounts) { n.early++ })
}

// How the commit step waits for another process's callback.
const (
	callbackPause  = 250 * time.Millisecond
	callbackMargin = 2 * time.Second // by which two workers' clocks may differ
)

// awaitCallback returns the message if a callback of another process has committed
// it, and nil when none can do so any more. For a handle of this process there is no
// need to wait: whoever comes first tells the other.
func (s *txnSession) awaitCallback(ctx context.Context, p *prepared) (*remoting.Message, error) {
	if p.until.IsZero() || p.origin == processID {
		return nil, nil
	}
	over := p.until.Add(s.cfg.Transaction.Settle + callbackMargin)
	for {
		left := time.Until(over)
		if left <= 0 {
			return nil, nil
		}
		if found, err := s.find(ctx, p.half); err != nil || found != nil {
			return found, err
		}
		timer := time.NewTimer(min(callbackPause, left))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, &unanswered{context.Cause(ctx)}
		}
	}
}

// longestEnd is how long one commit may take, by the steps it has; each request has
// the send timeout by itself.
func (c *writeConfig) longestEnd() time.Duration {
	t := &c.Transaction
	longest := 2*t.Settle + 10*c.SendTimeout
	if t.Finalize > 0 {
		longest += t.Finalize + t.Settle + callbackMargin + c.SendTimeout
	}
	return longest
}
