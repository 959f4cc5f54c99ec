// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package placed lets a DoFn emit an element in FinishBundle, or while another
// element is processed, in the window and at the time of the element that it
// came from.
//
// Beam's ordinary emitter puts whatever FinishBundle emits into the global
// window at the epoch. In a pipeline with other windows that breaks the next
// stage, and in every pipeline it makes the data late.
package placed

import (
	"context"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/exec"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/typex"
)

// Place is where and when an element was in the stream, as ProcessElement is
// told.
type Place struct {
	Pane   beam.PaneInfo
	Window beam.Window
	Time   beam.EventTime
}

// Register makes emitters of type E, which must be a type of its own, put each
// element where take says. take returns nil for an element that belongs where
// the emitter is called, and removes the place from the element. Call it from
// an init function.
//
// An emitter whose output nobody consumes does nothing.
func Register[T any, E ~func(T)](take func(*T) *Place) {
	exec.RegisterEmitter(reflect.TypeFor[E](), func(n exec.ElementProcessor) exec.ReusableEmitter {
		return newEmitter[T, E](n, take)
	})
}

func newEmitter[T any, E ~func(T)](n exec.ElementProcessor, take func(*T) *Place) *emitter[T, E] {
	if p, ok := n.(*exec.PCollection); ok {
		if _, ok := p.Out.(*exec.Discard); ok {
			n = nil
		}
	}
	return &emitter[T, E]{out: n, take: take}
}

type emitter[T any, E ~func(T)] struct {
	out       exec.ElementProcessor // nil if nobody consumes
	take      func(*T) *Place
	estimator *sdf.WatermarkEstimator

	ctx     context.Context
	here    exec.FullValue // where Beam would put an element
	value   exec.FullValue
	element T              // what is being emitted, here so that take does not have each one allocated
	windows []typex.Window // that of the last placed element; never changed, for later transforms may keep it
}

// Init is told by Beam, before each call of the DoFn, where the emitter is.
func (e *emitter[T, E]) Init(ctx context.Context, pane typex.PaneInfo, ws []typex.Window, t typex.EventTime) error {
	e.ctx = ctx
	e.here = exec.FullValue{Pane: pane, Windows: ws, Timestamp: t}
	return nil
}

// AttachEstimator is part of what Beam asks of an emitter.
func (e *emitter[T, E]) AttachEstimator(est *sdf.WatermarkEstimator) { e.estimator = est }

// Value is the function that the DoFn is given.
func (e *emitter[T, E]) Value() any { return E(e.emit) }

func (e *emitter[T, E]) emit(element T) {
	if e.out != nil {
		e.send(element)
	}
}

func (e *emitter[T, E]) send(element T) {
	e.value, e.element = e.here, element
	if p := e.take(&e.element); p != nil {
		if e.windows == nil || !e.windows[0].Equals(p.Window) {
			e.windows = []typex.Window{p.Window}
		}
		e.value = exec.FullValue{Pane: p.Pane, Windows: e.windows, Timestamp: p.Time}
	}
	if e.estimator != nil {
		(*e.estimator).(sdf.TimestampObservingEstimator).ObserveTimestamp(e.value.Timestamp.ToTime())
	}
	e.value.Elm = e.element
	if err := e.out.ProcessElement(e.ctx, &e.value); err != nil {
		panic(err) // as Beam's own emitters do; it ends the bundle
	}
}
