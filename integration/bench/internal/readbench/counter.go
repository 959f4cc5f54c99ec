// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package readbench

import (
	"context"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/google/uuid"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

func init() { register.DoFn1x0[coders.Message](&countFn{}) }

// tallies are those of the legs that run now, by an id. A DoFn cannot be handed
// a pointer: it travels in the pipeline's graph.
var tallies sync.Map

// count lets a step count the messages. done forgets the tally.
func count(s beam.Scope, t *tally, messages beam.PCollection) (done func()) {
	id := uuid.NewString()
	tallies.Store(id, t)
	beam.ParDo0(s, &countFn{Leg: id}, messages)
	return func() { tallies.Delete(id) }
}

// countFn counts messages. The clock starts with the first bundle, in which
// nothing was read yet.
type countFn struct {
	Leg string

	tally *tally
	count int
}

// Setup finds the tally.
func (fn *countFn) Setup() {
	if v, ok := tallies.Load(fn.Leg); ok {
		fn.tally = v.(*tally)
	}
}

// StartBundle begins to count.
func (fn *countFn) StartBundle(context.Context) {
	fn.count = 0
	fn.tally.begin()
}

// ProcessElement counts one message.
func (fn *countFn) ProcessElement(m coders.Message) {
	if fn.tally.mark(int(m.QueueID), m.QueueOffset) {
		fn.count++
	}
}

// FinishBundle notes how many there were.
func (fn *countFn) FinishBundle(context.Context) { fn.tally.call(fn.count) }
