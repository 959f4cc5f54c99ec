// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/typex"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/stageoutput"
)

// Ack acknowledges messages after the work on them and returns one [Result] a
// message, in the window and at the time of its element. col holds
// [coders.ReceiptHandle], [coders.AckableMessage], or KV pairs with one of these
// as value.
//
// A bundle ends only when the broker has answered for each of its messages. An
// expired or malformed handle is a result. What can never succeed, or did not
// in the attempts and time given by the options, fails the bundle with an
// [*Error] that names topic, group and message; the runner then processes the
// bundle again, or ends the job, and the messages come again when their leases
// end.
//
// It panics, while the pipeline is built, if col has another type or an option
// has a value out of range.
func Ack(s beam.Scope, col beam.PCollection, opts ...Option) beam.PCollection {
	s = s.Scope("ackfn.Ack")
	keyless := func() beam.PCollection { return col }
	settings, err := resolve(opts)
	if err != nil {
		panic(fmt.Sprintf("ackfn.Ack: %v", err))
	}
	if !col.IsValid() {
		panic("ackfn.Ack: the input is no PCollection of this pipeline")
	}
	t := col.Type()
	if typex.IsKV(t) {
		t, keyless = t.Components()[1], func() beam.PCollection { return beam.DropKey(s, col) }
	}
	switch t.Type() {
	case reflect.TypeFor[coders.ReceiptHandle]():
		return stageoutput.Add(s, beam.ParDo(s, &ackHandlesFn{acker{Settings: settings}}, keyless()))
	case reflect.TypeFor[coders.AckableMessage]():
		return stageoutput.Add(s, beam.ParDo(s, &ackMessagesFn{acker{Settings: settings}}, keyless()))
	}
	panic(fmt.Sprintf("ackfn.Ack: the input is of type %v: want coders.AckableMessage, coders.ReceiptHandle, or KV pairs with one of them as value", col.Type()))
}
