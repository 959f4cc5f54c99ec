// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"go.uber.org/goleak"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

const (
	testTopic = "bus"
	testGroup = "workers"
)

func TestMain(m *testing.M) {
	code := ptest.MainRetWithDefault(m, "prism")
	shutdown()
	if code == 0 {
		if err := goleak.Find(prismStays()...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// prismStays ignores the job server of prism, which outlives its pipelines.
func prismStays() []goleak.Option {
	return []goleak.Option{goleak.IgnoreAnyFunction("github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism/internal/jobservices.(*Server).Serve")}
}

func init() {
	beam.RegisterDoFn(&collectFn{})
	beam.RegisterDoFn(&tapFn{})
	beam.RegisterDoFn(&discardFn{})
	register.Emitter1[coders.AckableMessage]()
}

// collected holds what pipelines of a test emitted, by the test's name.
var collected sync.Map

// collector gathers the messages of one test.
type collector struct {
	mu       sync.Mutex
	messages []coders.AckableMessage
	more     chan struct{}
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{more: make(chan struct{})}
	collected.Store(t.Name(), c)
	t.Cleanup(func() { collected.Delete(t.Name()) })
	return c
}

func (c *collector) add(m coders.AckableMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.messages = append(c.messages, m)
	close(c.more)
	c.more = make(chan struct{})
}

func (c *collector) all() []coders.AckableMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]coders.AckableMessage(nil), c.messages...)
}

// await waits until n messages came.
func (c *collector) await(t *testing.T, n int) []coders.AckableMessage {
	t.Helper()
	timeout := time.After(30 * time.Second)
	for {
		c.mu.Lock()
		got, more := len(c.messages), c.more
		c.mu.Unlock()
		if got >= n {
			return c.all()
		}
		select {
		case <-more:
		case <-timeout:
			t.Fatalf("%d of %d messages came in 30 s", got, n)
		}
	}
}

// bodies counts how often each body came.
func bodies(ms []coders.AckableMessage) map[string]int {
	out := make(map[string]int)
	for _, m := range ms {
		out[string(m.Body)]++
	}
	return out
}

// tapFn shows messages to a collector and passes them on.
type tapFn struct{ Test string }

func (fn *tapFn) ProcessElement(_ context.Context, m coders.AckableMessage) coders.AckableMessage {
	if c, ok := collected.Load(fn.Test); ok {
		c.(*collector).add(m)
	}
	return m
}

// collectFn shows messages to a collector.
type collectFn struct{ Test string }

func (fn *collectFn) ProcessElement(_ context.Context, m coders.AckableMessage) {
	if c, ok := collected.Load(fn.Test); ok {
		c.(*collector).add(m)
	}
}

type discardFn struct{}

func (*discardFn) ProcessElement(context.Context, ackfn.Result) {}

func startBroker(t *testing.T, opts ...embedded.Option) *embedded.Broker {
	t.Helper()
	b := embedded.Start(context.Background(), append([]embedded.Option{
		embedded.WithLiteTopic(testTopic), embedded.WithWildcardGroup(testGroup, testTopic),
	}, opts...)...)
	t.Cleanup(b.Close)
	t.Cleanup(shutdown) // runs first
	return b
}

// readAndAck builds the usual pipeline of the tests.
func readAndAck(t *testing.T, b *embedded.Broker, opts ...ReadOption) *beam.Pipeline {
	t.Helper()
	p, s := beam.NewPipelineWithRoot()
	msgs := Read(s, b.Endpoints(), testTopic, testGroup, append([]ReadOption{ReadRequestTimeout(time.Second), ReadAwaitDuration(5 * time.Second)}, opts...)...)
	tapped := beam.ParDo(s, &tapFn{Test: t.Name()}, msgs)
	beam.ParDo0(s, &discardFn{}, ackfn.Ack(s, tapped))
	return p
}

// running is a pipeline that runs beside the test.
type running struct {
	ended  chan struct{}
	result beam.PipelineResult
	err    error
}

func start(t *testing.T, p *beam.Pipeline) *running {
	t.Helper()
	r := &running{ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		r.result, r.err = prism.Execute(context.Background(), p)
	}()
	return r
}

// wait waits for the end of the pipeline and returns its error.
func (r *running) wait(t *testing.T) error {
	t.Helper()
	select {
	case <-r.ended:
		return r.err
	case <-time.After(60 * time.Second):
		t.Fatal("the pipeline did not end in 60 s")
		return nil
	}
}

func (r *running) succeed(t *testing.T) {
	t.Helper()
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
}

// counter is the value of a counter of the source after the end.
func (r *running) counter(name string) int64 {
	var total int64
	for _, c := range r.result.Metrics().Query(func(metrics.SingleResult) bool { return true }).Counters() {
		if c.Namespace() == metricsPrefix && c.Name() == name {
			total += c.Result()
		}
	}
	return total
}

func shutdown() {
	Shutdown()
	ackfn.Shutdown()
}
