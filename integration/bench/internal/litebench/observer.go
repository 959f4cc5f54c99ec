// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litebench

import (
	"context"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
)

func init() { register.DoFn1x0[ackfn.Result](&observerFn{}) }

// observed are the legs that run now, by name. A DoFn cannot be handed a
// pointer: it travels in the pipeline's graph.
var observed sync.Map

type observation struct {
	leg   *Leg
	tally *tally
}

func observe(s beam.Scope, l *Leg, t *tally, results beam.PCollection) {
	observed.Store(l.Name, &observation{l, t})
	beam.ParDo0(s, &observerFn{Leg: l.Name}, results)
}

func forget(l *Leg) { observed.Delete(l.Name) }

// observerFn counts what was acknowledged. It stands behind the ack, so that the
// pipeline before it is the one that a user writes.
type observerFn struct {
	Leg string

	seen  *observation
	count int
}

// Setup finds the leg.
func (fn *observerFn) Setup() {
	if v, ok := observed.Load(fn.Leg); ok {
		fn.seen = v.(*observation)
	}
}

// StartBundle begins to count.
func (fn *observerFn) StartBundle(context.Context) { fn.count = 0 }

// ProcessElement counts one acknowledged message. When it was received is told
// by its lease, so the clock begins as early as that of the raw side.
func (fn *observerFn) ProcessElement(r ackfn.Result) {
	if r.Outcome != ackfn.Acked {
		return
	}
	fn.count++
	fn.seen.tally.received(r.Handle.InvisibleUntil.Add(-invisibility))
	fn.seen.tally.ack(fn.seen.leg.ids.number(r.Handle.MessageID))
}

// FinishBundle notes how many there were. Ack's last results come before it.
func (fn *observerFn) FinishBundle(context.Context) {
	if fn.count > 0 {
		fn.seen.tally.call(fn.count)
	}
}
