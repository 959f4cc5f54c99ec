// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
)

// emitResult is a type of its own, so that results of FinishBundle get the
// windows and times of their elements.
type emitResult func(Result)

func init() {
	placed.Register[Result, emitResult](func(r *Result) *placed.Place {
		p := r.place
		r.place = nil
		return p
	})
	beam.RegisterDoFn(&ackHandlesFn{})
	register.Function6x1((&ackHandlesFn{}).ProcessElement)
	beam.RegisterDoFn(&ackMessagesFn{})
	register.Function6x1((&ackMessagesFn{}).ProcessElement)
}

// acker is what the two DoFns share. Its Settings travel in the graph.
type acker struct {
	Settings settings

	run *dispatcher
}

// Setup makes what all bundles of this instance use. There is no Teardown,
// because no runner calls it and nothing is held between bundles.
func (a *acker) Setup() { a.run = newDispatcher(newClient(a.Settings)) }

// StartBundle makes ready for a bundle.
func (a *acker) StartBundle(ctx context.Context, _ emitResult) { a.run.begin(ctx) }

// FinishBundle returns when the broker has answered for every handle.
func (a *acker) FinishBundle(ctx context.Context, emit emitResult) error {
	return a.guarded(func() error { return a.run.flush(ctx, emit) })
}

// guarded ends the bundle's requests if do fails or panics, as an emitter does
// when a later transform fails.
func (a *acker) guarded(do func() error) (err error) {
	ok := false
	defer func() {
		if !ok || err != nil {
			a.run.abandon()
		}
	}()
	err = do()
	ok = true
	return err
}

func (a *acker) add(ctx context.Context, h *coders.ReceiptHandle, p placed.Place, emit emitResult) error {
	return a.guarded(func() error { return a.run.add(ctx, h, p, emit) })
}

// ackHandlesFn acknowledges handles.
type ackHandlesFn struct{ acker }

// ProcessElement takes a handle into a batch.
func (a *ackHandlesFn) ProcessElement(ctx context.Context, pane beam.PaneInfo, w beam.Window, t beam.EventTime, h coders.ReceiptHandle, emit emitResult) error {
	return a.add(ctx, &h, placed.Place{Pane: pane, Window: w, Time: t}, emit)
}

// ackMessagesFn acknowledges messages.
type ackMessagesFn struct{ acker }

// ProcessElement takes a message's handle into a batch.
func (a *ackMessagesFn) ProcessElement(ctx context.Context, pane beam.PaneInfo, w beam.Window, t beam.EventTime, m coders.AckableMessage, emit emitResult) error {
	return a.add(ctx, &m.Handle, placed.Place{Pane: pane, Window: w, Time: t}, emit)
}
