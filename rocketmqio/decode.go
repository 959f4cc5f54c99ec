// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/userfunc"
)

func init() {
	beam.RegisterDoFn(&decodeFn{})
	register.Function4x1((&decodeFn{}).ProcessElement)
	register.Emitter1[beam.X]()
	register.Emitter2[string, coders.Message]()
	register.Function1x1(bodyOf)
}

// DecodeErrors says what [Decode] does with a message that its function refuses.
type DecodeErrors string

// What to do with a message that cannot be decoded.
const (
	// FailUndecodable fails the bundle, with an error that names the message.
	FailUndecodable DecodeErrors = "fail"
	// SkipUndecodable leaves it out, and counts it in the metric undecodable.
	SkipUndecodable DecodeErrors = "skip"
	// DivertUndecodable hands it out beside, with the error's text, for a
	// dead-letter topic; it is counted as well.
	DivertUndecodable DecodeErrors = "divert"
)

// Decode turns a PCollection<coders.Message> into a PCollection<T> with a
// function that is called for each message. What it refuses is dealt with as
// the policy says; with [DivertUndecodable] it is in the second result, a
// PCollection<KV<string, coders.Message>> of error text and message, which is
// empty under the other policies.
//
// The function must be registered with Beam (register.Function1x2), and T be a
// type that Beam can encode. A panic in it fails the bundle, whatever the
// policy, with an error that names the message. Where only the body counts,
// [DecodeBody] is shorter.
//
// Decode panics if an argument is wrong.
func Decode[T any](s beam.Scope, msgs beam.PCollection, decode func(coders.Message) (T, error), onError DecodeErrors) (decoded, undecodable beam.PCollection) {
	return addDecode(s.Scope("rocketmqio.Decode"), msgs, decode, decode == nil, reflect.TypeFor[T](), onError)
}

// DecodeBody is [Decode] with a function of the body alone.
func DecodeBody[T any](s beam.Scope, msgs beam.PCollection, decode func([]byte) (T, error), onError DecodeErrors) (decoded, undecodable beam.PCollection) {
	return addDecode(s.Scope("rocketmqio.DecodeBody"), msgs, decode, decode == nil, reflect.TypeFor[T](), onError)
}

// Bodies turns a PCollection<coders.Message> into a PCollection<[]byte> of the
// bodies. A body that is empty stays an element.
func Bodies(s beam.Scope, msgs beam.PCollection) beam.PCollection {
	return beam.ParDo(s.Scope("rocketmqio.Bodies"), bodyOf, msgs)
}

func bodyOf(m coders.Message) []byte { return m.Body }

func addDecode(s beam.Scope, msgs beam.PCollection, decode any, isNil bool, t reflect.Type, onError DecodeErrors) (decoded, undecodable beam.PCollection) {
	policies := []DecodeErrors{FailUndecodable, SkipUndecodable, DivertUndecodable}
	switch {
	case isNil:
		panic("rocketmqio.Decode: the function is nil")
	case !slices.Contains(policies, onError):
		panic(fmt.Sprintf("rocketmqio.Decode: policy %q is unknown: want one of %v", onError, policies))
	case msgs.Type().Type() != reflect.TypeFor[coders.Message]():
		panic(fmt.Sprintf("rocketmqio.Decode: the input is a PCollection<%v>: want coders.Message", msgs.Type()))
	}
	fn := &decodeFn{Function: beam.EncodedFunc{Fn: reflectx.MakeFunc(decode)}, OnError: onError}
	if err := userfunc.Check("the function", fn.Function.Fn); err != nil {
		panic("rocketmqio.Decode: " + err.Error())
	}
	return beam.ParDo2(s, fn, msgs, beam.TypeDefinition{Var: beam.XType, T: t})
}

// decodeFn calls the user's function.
type decodeFn struct {
	Function beam.EncodedFunc
	OnError  DecodeErrors

	call     reflectx.Func1x2
	bodyOnly bool
}

// Setup finds the fastest way to call the function.
func (fn *decodeFn) Setup() {
	fn.call = reflectx.ToFunc1x2(fn.Function.Fn)
	fn.bodyOnly = fn.Function.Fn.Type().In(0) == reflect.TypeFor[[]byte]()
}

// ProcessElement decodes one message.
func (fn *decodeFn) ProcessElement(ctx context.Context, m coders.Message, decoded func(beam.X), undecodable func(string, coders.Message)) error {
	value, err := fn.decode(&m)
	switch {
	case err == nil:
		decoded(value)
		return nil
	case fn.OnError == FailUndecodable:
		return fmt.Errorf("rocketmqio.Decode: %s: %w", nameOf(&m), err)
	}
	undecodableCounter.Inc(ctx, 1)
	if fn.OnError == DivertUndecodable {
		undecodable(err.Error(), m)
	}
	return nil
}

// decode panics, if the function does, with a text that names the message.
func (fn *decodeFn) decode(m *coders.Message) (value any, err error) {
	defer func() {
		if r := recover(); r != nil {
			panic(fmt.Sprintf("rocketmqio.Decode: %s: the function panicked: %v", nameOf(m), r))
		}
	}()
	var second any
	if fn.bodyOnly {
		value, second = fn.call.Call1x2(m.Body)
	} else {
		value, second = fn.call.Call1x2(*m)
	}
	err, _ = second.(error)
	return value, err
}

// nameOf says which message it is.
func nameOf(m *coders.Message) string {
	return fmt.Sprintf("message %s at offset %d of queue %d of topic %s on broker %s", m.MessageID, m.QueueOffset, m.QueueID, m.Topic, m.Broker)
}
