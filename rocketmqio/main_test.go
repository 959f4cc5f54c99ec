// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"go.uber.org/goleak"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
)

func TestMain(m *testing.M) {
	beam.Init()
	code := realmqtest.Wrap(m).Run()
	Shutdown()
	if code == 0 {
		const prismInternal = "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism/internal/"
		err := goleak.Find(
			goleak.IgnoreAnyFunction(prismInternal+"jobservices.(*Server).Serve"),
			// Of a job that failed, which waits for bundles that will not end.
			goleak.IgnoreAnyFunction(prismInternal+"engine.(*ElementManager).Bundles.func1"),
		)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func init() { beam.RegisterDoFn(&collectFn{}) }

// collected holds what pipelines of a test emitted, by the test's name.
var collected sync.Map

type collector struct {
	mu       sync.Mutex
	messages []coders.Message
	more     chan struct{}
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{more: make(chan struct{})}
	collected.Store(t.Name(), c)
	t.Cleanup(func() { collected.Delete(t.Name()) })
	return c
}

func (c *collector) all() []coders.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]coders.Message(nil), c.messages...)
}

// await waits until n messages came.
func (c *collector) await(t *testing.T, n int) []coders.Message {
	t.Helper()
	timeout := time.After(60 * time.Second)
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
			t.Fatalf("%d of %d messages came in 60 s", got, n)
		}
	}
}

type collectFn struct{ Test string }

func (fn *collectFn) ProcessElement(_ context.Context, m coders.Message) {
	if c, ok := collected.Load(fn.Test); ok {
		c := c.(*collector)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.messages = append(c.messages, m)
		close(c.more)
		c.more = make(chan struct{})
	}
}

// bodies counts how often each body came.
func bodies(ms []coders.Message) map[string]int {
	out := make(map[string]int)
	for _, m := range ms {
		out[string(m.Body)]++
	}
	return out
}

// running is a pipeline that runs beside the test.
type running struct {
	result beam.PipelineResult // once ended is closed
	ended  chan struct{}
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

func (r *running) wait(t *testing.T) error {
	t.Helper()
	select {
	case <-r.ended:
		return r.err
	case <-time.After(90 * time.Second):
		t.Fatal("the pipeline did not end in 90 s")
		return nil
	}
}
