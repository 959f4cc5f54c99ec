// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"context"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/exec"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/typex"
)

// origin is where and when an element was in the stream: what its result must
// have too.
type origin struct {
	pane   beam.PaneInfo
	window beam.Window
	time   beam.EventTime
}

// emitResult is how the DoFns emit. It is a type of its own, because Beam's
// ordinary emitter puts whatever FinishBundle emits into the global window at
// the epoch: in a pipeline with windows that breaks the stage, and without it
// makes data late. The emitter behind this type places each result where its
// element was.
type emitResult func(Result)

func init() {
	exec.RegisterEmitter(reflect.TypeFor[emitResult](), func(n exec.ElementProcessor) exec.ReusableEmitter {
		return newEmitter(n)
	})
}

type emitter struct {
	out       exec.ElementProcessor
	estimator *sdf.WatermarkEstimator
	value     exec.FullValue
	windows   [1]typex.Window

	ctx context.Context
	at  exec.FullValue // where Beam would put a value
}

// newEmitter leaves out the work if nobody consumes the results.
func newEmitter(n exec.ElementProcessor) exec.ReusableEmitter {
	if p, ok := n.(*exec.PCollection); ok {
		if _, ok := p.Out.(*exec.Discard); ok {
			return &emitter{}
		}
	}
	return &emitter{out: n}
}

func (e *emitter) Init(ctx context.Context, pane typex.PaneInfo, ws []typex.Window, t typex.EventTime) error {
	e.ctx = ctx
	e.at = exec.FullValue{Pane: pane, Windows: ws, Timestamp: t}
	return nil
}

// AttachEstimator is part of what Beam asks of an emitter.
func (e *emitter) AttachEstimator(est *sdf.WatermarkEstimator) { e.estimator = est }

func (e *emitter) Value() any { return emitResult(e.emit) }

func (e *emitter) emit(r Result) {
	if e.out == nil {
		return
	}
	e.value = e.at
	if o := r.origin; o != nil {
		e.windows[0] = o.window
		e.value = exec.FullValue{Pane: o.pane, Windows: e.windows[:], Timestamp: o.time}
		r.origin = nil
	}
	if e.value.Windows == nil {
		e.value.Windows = window.SingleGlobalWindow
	}
	e.value.Elm = r
	if err := e.out.ProcessElement(e.ctx, &e.value); err != nil {
		panic(err) // as Beam's own emitters do: it ends the bundle
	}
}
