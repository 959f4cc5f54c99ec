// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package fairshare

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
)

// worked is a message whose work is done, on its way to the acknowledgement.
type worked struct {
	handle coders.ReceiptHandle
	place  *placed.Place
}

// emitWorked puts what is done where its message was in the stream.
type emitWorked func(worked)

func init() {
	beam.RegisterCoder(reflect.TypeFor[worked](), encodeWorked, decodeWorked)
	placed.Register[worked, emitWorked](func(w *worked) *placed.Place {
		p := w.place
		w.place = nil
		return p
	})
	beam.RegisterDoFn(&workFn{})
	register.Function6x1((&workFn{}).ProcessElement)
	register.Function1x1(handleOf)
}

func encodeWorked(w worked) ([]byte, error) { return coders.EncodeReceiptHandle(w.handle) }

func decodeWorked(data []byte) (worked, error) {
	h, err := coders.DecodeReceiptHandle(data)
	return worked{handle: h}, err
}

func handleOf(w worked) coders.ReceiptHandle { return w.handle }

// workFn stands for work of limited capacity: each message takes its time in one
// of the leg's slots. All messages of a bundle wait for a slot at the same time,
// so that the capacity is that of the slots, however the runner cuts its
// bundles; and slots are given in the order of asking, which is what makes
// everybody wait behind a flood.
type workFn struct {
	member
	Work time.Duration

	bundle *workBundle
}

// workBundle is what a bundle has in work.
type workBundle struct {
	pending int // started and not emitted; the bundle's goroutine only

	mu       sync.Mutex
	done     []worked
	err      error
	progress chan struct{} // holds a token when done or err has changed
}

// StartBundle makes ready for a bundle.
func (fn *workFn) StartBundle(context.Context, emitWorked) {
	fn.bundle = &workBundle{progress: make(chan struct{}, 1)}
}

// ProcessElement queues for a slot, and emits what has been done meanwhile.
func (fn *workFn) ProcessElement(ctx context.Context, pane beam.PaneInfo, w beam.Window, t beam.EventTime, m coders.AckableMessage, emit emitWorked) error {
	b, l, took := fn.bundle, fn.leg, fn.Work
	item := worked{handle: m.Handle, place: &placed.Place{Pane: pane, Window: w, Time: t}}
	b.pending++
	// It ends when the work is done or the leg ends, whether or not the bundle
	// still waits for it.
	go func() { b.finish(item, work(l.ctx, l.slots, took)) }()
	return b.emitDone(emit)
}

// FinishBundle waits for the rest.
func (fn *workFn) FinishBundle(ctx context.Context, emit emitWorked) error {
	b := fn.bundle
	for b.pending > 0 {
		select {
		case <-b.progress:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-fn.leg.ctx.Done():
			return errLegOver
		}
		if err := b.emitDone(emit); err != nil {
			return err
		}
	}
	return nil
}

// errLegOver ends a bundle when its leg ends: what it has in work is delivered
// again.
var errLegOver = errors.New("fairshare: the leg has ended")

func (b *workBundle) finish(item worked, err error) {
	b.mu.Lock()
	if err != nil {
		b.err = err
	} else {
		b.done = append(b.done, item)
	}
	b.mu.Unlock()
	select {
	case b.progress <- struct{}{}:
	default:
	}
}

func (b *workBundle) emitDone(emit emitWorked) error {
	b.mu.Lock()
	done, err := b.done, b.err
	b.done = nil
	b.mu.Unlock()
	b.pending -= len(done)
	for _, item := range done {
		emit(item)
	}
	return err
}
