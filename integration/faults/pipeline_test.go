// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"go.uber.org/goleak"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
)

func init() {
	beam.RegisterDoFn(&tapFn{})
	beam.RegisterDoFn(&endFn{})
	beam.RegisterDoFn(&nothingFn{})
}

const (
	topic = "bus"
	group = "agents"
)

// patience bounds what a test waits for; on two free cores it takes a second.
const patience = 2 * time.Minute

// taps hold what pipelines of the tests have seen, by name; DoFns find theirs
// there.
var taps sync.Map

// tap counts messages by body.
type tap struct {
	mu   sync.Mutex
	seen map[string]int
	all  int
	more chan struct{}
}

func newTap(t *testing.T, name string) *tap {
	t.Helper()
	tp := &tap{seen: map[string]int{}, more: make(chan struct{})}
	taps.Store(name, tp)
	t.Cleanup(func() { taps.Delete(name) })
	return tp
}

// counts returns how many messages came, and how many different ones.
func (tp *tap) counts() (all, distinct int) {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	return tp.all, len(tp.seen)
}

// tapFn shows what passes to a tap.
type tapFn struct{ Tap string }

func (f *tapFn) ProcessElement(m coders.AckableMessage) coders.AckableMessage {
	if v, ok := taps.Load(f.Tap); ok {
		tp := v.(*tap)
		tp.mu.Lock()
		tp.seen[string(m.Body)]++
		tp.all++
		close(tp.more)
		tp.more = make(chan struct{})
		tp.mu.Unlock()
	}
	return m
}

type endFn struct{}

func (*endFn) ProcessElement(ackfn.Result) {}

type nothingFn struct{}

func (*nothingFn) ProcessElement([]byte) {}

// untilIdle ends a source when nothing has come for longer than a lease lasts.
var untilIdle = litegrpcio.ReadIdleTimeout(12 * time.Second)

// branch adds read, tap and ack to a pipeline.
func branch(s beam.Scope, tapName, endpoints, topic, group string, opts ...litegrpcio.ReadOption) {
	opts = append([]litegrpcio.ReadOption{
		litegrpcio.ReadAwaitDuration(5 * time.Second), litegrpcio.ReadInvisibleDuration(10 * time.Second),
	}, opts...)
	msgs := litegrpcio.Read(s, endpoints, topic, group, opts...)
	beam.ParDo0(s, &endFn{}, ackfn.Ack(s, beam.ParDo(s, &tapFn{Tap: tapName}, msgs)))
}

// running is a pipeline that runs beside the test. It ends by a limit of its
// sources, never by the end of a context: then Beam's harness may be left with
// goroutines that wait for each other.
type running struct {
	ended chan struct{}
	err   error
}

func start(p *beam.Pipeline) *running {
	r := &running{ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		_, r.err = prism.Execute(context.Background(), p)
	}()
	return r
}

// wait waits for the pipeline's end.
func (r *running) wait() error {
	select {
	case <-r.ended:
		return r.err
	case <-time.After(patience):
		return errors.New("the pipeline did not end")
	}
}

// succeed waits for the pipeline's end and wants no error.
func (r *running) succeed(t *testing.T) {
	t.Helper()
	if err := r.wait(); err != nil {
		t.Fatal(err)
	}
}

// warm runs an empty pipeline, so that the job server of prism is there: it is
// made by the first pipeline of a process, and two at a time would both make it.
func warm(t *testing.T) {
	t.Helper()
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &nothingFn{}, beam.Impulse(s))
	start(p).succeed(t)
}

// startBroker starts a broker with topic and group; what the transforms hold is
// closed before it is.
func startBroker(t *testing.T, opts ...embedded.Option) *embedded.Broker {
	t.Helper()
	b := embedded.Start(context.Background(), append([]embedded.Option{
		embedded.WithLiteTopic(topic), embedded.WithWildcardGroup(group, topic),
	}, opts...)...)
	t.Cleanup(b.Close)
	t.Cleanup(shutdown)
	return b
}

func shutdown() {
	litegrpcio.Shutdown()
	ackfn.Shutdown()
}

// await waits for a condition of the broker.
func await(t *testing.T, b *embedded.Broker, what string, cond func(embedded.Snapshot) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := b.Wait(ctx, cond); err != nil {
		t.Fatalf("waiting for %s: %v; %d pending of %d, %d long polls, %d connections, sessions %+v", what, err,
			b.Pending(topic), len(b.Messages(topic)), b.LongPolls(group), b.Connections(), b.Sessions())
	}
}

// prismStays ignores the job server of prism, which outlives its pipelines.
func prismStays() []goleak.Option {
	return []goleak.Option{goleak.IgnoreAnyFunction("github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism/internal/jobservices.(*Server).Serve")}
}
