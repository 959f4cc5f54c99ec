// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package writebench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/google/uuid"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/usage"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

func init() {
	beam.RegisterDoFn(&sourceFn{}) // called once
	register.Emitter1[rocketmqio.OutgoingMessage]()
	register.DoFn2x0[rocketmqio.WriteResult, func(int64)](&resultFn{})
	beam.RegisterDoFn(&discardFn{})
}

// tally is what a leg of the pipeline has done. The clock starts with the first
// message and stops with the last result.
type tally struct {
	all        int64
	written    atomic.Int64
	repeated   atomic.Int64 // results of messages that were sent again
	from, to   atomic.Int64 // in ns since 1970
	cpu0, cpu1 atomic.Int64
	wasStarted atomic.Bool
}

func (t *tally) begin() {
	if t.wasStarted.Swap(true) {
		return
	}
	t.from.Store(time.Now().UnixNano())
	t.cpu0.Store(int64(usage.CPU()))
}

func (t *tally) note(r *rocketmqio.WriteResult) {
	if !r.OK() {
		return
	}
	if r.Repeated {
		t.repeated.Add(1)
	}
	if t.written.Add(1) == t.all {
		t.to.Store(time.Now().UnixNano())
		t.cpu1.Store(int64(usage.CPU()))
	}
}

// tallies are those of the legs that run now, by an id. A DoFn cannot be handed
// a pointer: it travels in the pipeline's graph.
var tallies sync.Map

// sourceFn emits the messages.
type sourceFn struct {
	Leg  string
	Load Load
}

// ProcessElement emits all of them.
func (fn *sourceFn) ProcessElement(_ []byte, emit func(rocketmqio.OutgoingMessage)) {
	body := make([]byte, fn.Load.Body)
	if t, ok := tallies.Load(fn.Leg); ok {
		t.(*tally).begin()
	}
	for i := range fn.Load.Messages {
		emit(rocketmqio.OutgoingMessage{Body: body, Keys: []string{keyOf(i)}, Tag: tag})
	}
}

// resultFn counts results, and emits how many a bundle had. Without any output
// that is shuffled prism spins beside the bundle, which takes a core.
type resultFn struct {
	Leg string

	tally *tally
	count int64
}

// Setup finds the tally.
func (fn *resultFn) Setup() {
	if t, ok := tallies.Load(fn.Leg); ok {
		fn.tally = t.(*tally)
	}
}

// StartBundle begins to count.
func (fn *resultFn) StartBundle(func(int64)) { fn.count = 0 }

// ProcessElement counts one.
func (fn *resultFn) ProcessElement(r rocketmqio.WriteResult, _ func(int64)) {
	fn.count++
	fn.tally.note(&r)
}

// FinishBundle emits the count.
func (fn *resultFn) FinishBundle(emit func(int64)) { emit(fn.count) }

// discardFn stands for what a user does with it.
type discardFn struct{}

// ProcessElement does nothing.
func (fn *discardFn) ProcessElement(int64) {}

// pipeline is what a user writes, with all defaults, and a step that counts.
func (t *Target) pipeline(ctx context.Context, load Load, pending int) (*tally, error) {
	defer rocketmqio.Shutdown()
	id, sum := uuid.NewString(), &tally{all: int64(load.Messages)}
	tallies.Store(id, sum)
	defer tallies.Delete(id)
	p, s := beam.NewPipelineWithRoot()
	messages := beam.ParDo(s, &sourceFn{Leg: id, Load: load}, beam.Impulse(s))
	counts := beam.ParDo(s, &resultFn{Leg: id}, rocketmqio.Write(s, t.NameServers, messages, rocketmqio.WriteTopic(t.Topic), rocketmqio.WritePendingMax(pending)))
	beam.ParDo0(s, &discardFn{}, beam.Reshuffle(s, counts))
	ended := make(chan error, 1)
	go func() {
		// prism's results of a cancelled job crash whoever looks at them, so it
		// never hears of ctx; an abandoned job ends with the process.
		_, err := prism.Execute(context.WithoutCancel(ctx), p)
		ended <- err
	}()
	select {
	case err := <-ended:
		return sum, err
	case <-ctx.Done():
		return sum, fmt.Errorf("%d of %d messages were written: %w", sum.written.Load(), sum.all, context.Cause(ctx))
	}
}
