// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package placed

import (
	"context"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
)

// DoFn is a DoFn whose emitter of type E puts elements where others were.
type DoFn[In, E any] interface {
	ProcessElement(context.Context, beam.PaneInfo, beam.Window, beam.EventTime, In, E) error
}

// RegisterDoFn registers fn, as register.DoFn6x1 does, and has ProcessElement
// called without reflection. The methods that run once a bundle are left to
// reflection: Beam's generic code for all methods that a DoFn of six parameters
// may have costs the compiler seconds for each of them. Call it from an init
// function.
func RegisterDoFn[In, E any](fn DoFn[In, E]) {
	beam.RegisterDoFn(fn)
	reflectx.RegisterFunc(reflect.TypeFor[processElement[In, E]](), func(f any) reflectx.Func {
		return caller[In, E](f.(processElement[In, E]))
	})
}

type processElement[In, E any] = func(context.Context, beam.PaneInfo, beam.Window, beam.EventTime, In, E) error

// caller calls a ProcessElement with the values that Beam has for it.
type caller[In, E any] processElement[In, E]

// Name is that of the function, for Beam's messages.
func (c caller[In, E]) Name() string { return reflectx.FunctionName(processElement[In, E](c)) }

// Type is that of the function.
func (c caller[In, E]) Type() reflect.Type { return reflect.TypeFor[processElement[In, E]]() }

// Call is for any number of arguments, of which there must be six.
func (c caller[In, E]) Call(args []any) []any {
	if len(args) != 6 {
		panic(fmt.Sprintf("%s: %d arguments, want 6", c.Name(), len(args)))
	}
	return []any{c.Call6x1(args[0], args[1], args[2], args[3], args[4], args[5])}
}

// Call6x1 is what Beam calls for each element.
func (c caller[In, E]) Call6x1(ctx, pane, window, time, in, emit any) any {
	return c(ctx.(context.Context), pane.(beam.PaneInfo), window.(beam.Window), time.(beam.EventTime), in.(In), emit.(E))
}
