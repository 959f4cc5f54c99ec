// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
	"github.com/rocketmq-beam/rocketmq-beam/internal/pool"
)

// emitWriteResult is a type of its own, so that results get the windows and
// times of their messages.
type emitWriteResult func(WriteResult)

func init() {
	placed.Register[WriteResult, emitWriteResult](func(r *WriteResult) *placed.Place {
		p := r.place
		r.place = nil
		return p
	})
	beam.RegisterDoFn(&writeFn{})
	register.Function6x1((&writeFn{}).ProcessElement)
}

// writePrefix is the namespace of the sink's metrics.
const writePrefix = "rocketmq.litegrpcio.write"

var (
	sentCounter        = beam.NewCounter(writePrefix, "sent")
	retriedCounter     = beam.NewCounter(writePrefix, "retried")
	repeatedCounter    = beam.NewCounter(writePrefix, "maybe_repeated")
	throttledCounter   = beam.NewCounter(writePrefix, "throttled")
	throttledMsCounter = beam.NewCounter(writePrefix, "throttled_ms")
)

// takeEvery is after how many messages a bundle looks for results.
const takeEvery = 64

// writeFn hands messages to the process's sender, and results on.
type writeFn struct {
	Config writeConfig

	key     string
	sender  *sender
	hold    *pool.Hold[string, *sender]
	writer  *writer
	taken   int
	stored  int
	failed  int
	failure error
}

// Setup makes the pool's key once.
func (fn *writeFn) Setup() (err error) {
	fn.key, err = fn.Config.poolKey()
	return err
}

// StartBundle gives up what a failed bundle left behind.
func (fn *writeFn) StartBundle(context.Context, emitWriteResult) error {
	fn.abandon()
	return nil
}

// abandon ends what the bundle still sends, without waiting for it.
func (fn *writeFn) abandon() {
	if fn.writer != nil {
		fn.writer.Abandon(nil)
		fn.hold.Release()
	}
	fn.writer, fn.sender, fn.hold = nil, nil, nil
	fn.taken, fn.stored, fn.failed, fn.failure = 0, 0, 0, nil
}

func (fn *writeFn) open(ctx context.Context) error {
	s, hold, err := senders.Acquire(ctx, fn.key, func(ctx context.Context) (*sender, error) { return openSender(ctx, fn.Config) })
	if err != nil {
		return err
	}
	fn.sender, fn.hold, fn.writer = s, hold, s.sink.NewWriter(ctx)
	return nil
}

// ProcessElement hands a message over, waiting while the buffer is full.
func (fn *writeFn) ProcessElement(ctx context.Context, pane beam.PaneInfo, w beam.Window, t beam.EventTime, m Message, emit emitWriteResult) error {
	return fn.guarded(func() error {
		if fn.writer == nil {
			if err := fn.open(ctx); err != nil {
				return err
			}
		}
		if err := fn.writer.Write(ctx, located{m, placed.Place{Pane: pane, Window: w, Time: t}}); err != nil {
			return fmt.Errorf("litegrpcio.Write: %w", err)
		}
		if fn.taken++; fn.taken%takeEvery == 0 {
			fn.handOn(ctx, emit)
		}
		return nil
	})
}

// FinishBundle returns when all is stored.
func (fn *writeFn) FinishBundle(ctx context.Context, emit emitWriteResult) error {
	if fn.writer == nil {
		return nil
	}
	return fn.guarded(func() error {
		err := fn.writer.Flush(ctx)
		fn.handOn(ctx, emit)
		fn.sender.report(ctx)
		switch {
		case fn.failure != nil:
			err = fmt.Errorf("litegrpcio.Write: %w (%d of the bundle's messages failed, %d were stored)", fn.failure, fn.failed, fn.stored)
		case err != nil:
			err = fmt.Errorf("litegrpcio.Write: %w", err)
		}
		fn.abandon()
		return err
	})
}

// guarded abandons the bundle if do fails or panics, as an emitter does when a
// later transform fails.
func (fn *writeFn) guarded(do func() error) (err error) {
	ok := false
	defer func() {
		if !ok || err != nil {
			fn.abandon()
		}
	}()
	err = do()
	ok = true
	return err
}

// handOn emits the results that are there.
func (fn *writeFn) handOn(ctx context.Context, emit emitWriteResult) {
	for _, o := range fn.writer.Take() {
		if o.Err != nil {
			fn.failed++
			if fn.failure == nil {
				m := o.In.message
				fn.failure = fmt.Errorf("message with keys %q for lite topic %q, %d attempts: %w", m.Keys, m.LiteTopic, o.Attempts, o.Err)
			}
			continue
		}
		fn.stored++
		sentCounter.Inc(ctx, 1)
		retriedCounter.Inc(ctx, int64(o.Attempts-1))
		if o.Uncertain {
			repeatedCounter.Inc(ctx, 1)
		}
		place := o.In.place
		emit(WriteResult{
			LiteTopic: o.Entry.LiteTopic, MessageID: o.Ack.MessageID, Offset: o.Ack.Offset, Keys: o.In.message.Keys,
			Attempts: o.Attempts, MaybeRepeated: o.Uncertain, place: &place,
		})
	}
}
