// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/internal/asyncsink"
	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
)

func init() {
	beam.RegisterDoFn(&commitHalfFn{})
	register.Function6x1((&commitHalfFn{}).ProcessElement)
}

// commitHalfFn commits half messages. A bundle ends when each of its own has its
// outcome.
type commitHalfFn struct {
	Config writeConfig

	key     string // of the session
	session *txnSession
	writer  *commitWriter
	failed  error // the first
	done    int   // of the bundle's
}

// Setup prepares what all bundles of this instance use.
func (fn *commitHalfFn) Setup() (err error) {
	fn.key, err = fn.Config.sessionKey()
	return err
}

// StartBundle forgets what a failed bundle left behind.
func (fn *commitHalfFn) StartBundle(context.Context, emitWriteResult) { fn.abandon() }

// ProcessElement hands a handle over, waiting while too many are pending.
func (fn *commitHalfFn) ProcessElement(ctx context.Context, pane beam.PaneInfo, w beam.Window, t beam.EventTime, p prepared, emit emitWriteResult) error {
	p.place = &placed.Place{Pane: pane, Window: w, Time: t}
	return fn.guarded(ctx, func(s *txnSession) error {
		s.keeper.watch(p.half.Topic)
		if s != fn.session {
			if err := fn.finish(ctx, emit); err != nil {
				return err
			}
			fn.session, fn.writer = s, s.sink.NewWriter(ctx)
		}
		if err := fn.writer.Write(ctx, &p); err != nil {
			if ctx.Err() != nil {
				return err
			}
			return fn.finish(ctx, emit) // an earlier one failed
		}
		return fn.emit(ctx, emit)
	})
}

// FinishBundle returns when each half message has its outcome.
func (fn *commitHalfFn) FinishBundle(ctx context.Context, emit emitWriteResult) error {
	if fn.writer == nil {
		return nil
	}
	return fn.guarded(ctx, func(*txnSession) error { return fn.finish(ctx, emit) })
}

func (fn *commitHalfFn) finish(ctx context.Context, emit emitWriteResult) error {
	if fn.writer == nil {
		return nil
	}
	flushed := fn.writer.Flush(ctx)
	fn.session.stats.report(ctx, fn.session.sink.Stats)
	if err := fn.emit(ctx, emit); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case fn.failed != nil:
		return fmt.Errorf("rocketmqio.Write: committing (%d others of the bundle are done): %w", fn.done, fn.failed)
	case fn.Config.Transaction.Lost == ReportLost:
		return nil
	}
	return flushed
}

// emit emits the results that are known by now.
func (fn *commitHalfFn) emit(ctx context.Context, emit emitWriteResult) error {
	known := fn.writer.Take()
	for i := range known {
		o := &known[i]
		_, lost := errors.AsType[*TransactionError](o.Err)
		switch {
		case o.Err == nil:
			fn.done++
			committedHalvesCounter.Inc(ctx, 1)
			emit(resultOfCommit(o))
		case lost && fn.Config.Transaction.Lost == ReportLost:
			lostHalvesCounter.Inc(ctx, 1)
			emit(resultOfCommit(o))
		case errors.Is(o.Err, asyncsink.ErrNotSent):
		default:
			if lost {
				lostHalvesCounter.Inc(ctx, 1)
			}
			if fn.failed == nil {
				fn.failed = nameCommit(o)
			}
		}
	}
	return nil
}

// nameCommit says which message an error is about.
func nameCommit(o *commitResult) error {
	if _, ok := errors.AsType[*TransactionError](o.Err); ok {
		return o.Err // says it itself
	}
	h := o.In.half
	return fmt.Errorf("message %s with keys %q to topic %q on broker %s, after %d attempts: %w", h.UniqueKey, o.In.keys, h.Topic, h.Broker, o.Attempts, o.Err)
}

func resultOfCommit(o *commitResult) WriteResult {
	p := o.In
	r := WriteResult{Topic: p.half.Topic, UniqueKey: p.half.UniqueKey, Keys: p.keys, Attempts: p.attempts + int32(o.Attempts), Source: p.source, place: p.place}
	if o.Err != nil {
		r.Error = o.Err.Error()
		return r
	}
	r.Broker, r.QueueID, r.QueueOffset, r.Status = p.half.Broker, p.queue, -1, StatusSendOK
	if m := o.Ack.message; m != nil {
		r.Broker, r.QueueID, r.QueueOffset, r.Repeated = m.Broker, int32(m.QueueID), m.QueueOffset, true
	}
	return r
}

// guarded runs do with the session, and gives up what is pending if it fails or
// panics, as an emitter does when a later transform fails.
func (fn *commitHalfFn) guarded(ctx context.Context, do func(*txnSession) error) (err error) {
	ok := false
	defer func() {
		if !ok || err != nil {
			fn.abandon()
		}
	}()
	err = withTransactionsOf(ctx, fn.key, &fn.Config, do)
	ok = true
	return err
}

func (fn *commitHalfFn) abandon() {
	if fn.writer != nil {
		fn.writer.Abandon(nil)
	}
	fn.writer, fn.session, fn.failed, fn.done = nil, nil, nil, 0
}
