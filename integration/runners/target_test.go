// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package runners

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/integration/flink"
	"github.com/rocketmq-beam/rocketmq-beam/integration/flink/flinktest"
	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
)

// target is a runner and how it is asked to run streams.
type target struct {
	name    string
	flink   bool
	options portable.Options
}

// onFlink are Flink with one and with more instances of each step.
var onFlink = []target{
	{name: "flink, parallelism 1", flink: true, options: portable.Options{Parallelism: 1}},
	{name: "flink, parallelism 4", flink: true, options: portable.Options{Parallelism: 4}},
}

var onPrism = target{name: "prism"}

// eachTarget runs a test on several of them at once.
func eachTarget(t *testing.T, on []target, test func(*testing.T, target)) {
	t.Helper()
	for _, on := range on {
		t.Run(on.name, func(t *testing.T) {
			t.Parallel()
			test(t, on)
		})
	}
}

// shared are the job servers of this test binary; TestMain ends them.
var shared struct {
	failed atomic.Bool

	prism   sync.Once
	onPrism *portable.Server
	noPrism error

	flink   sync.Once
	job     *flink.Server
	onFlink *portable.Server
	noFlink error
}

func (on target) server(t *testing.T) *portable.Server {
	t.Helper()
	if !on.flink {
		shared.prism.Do(func() { shared.onPrism, shared.noPrism = portable.Prism(context.Background()) })
		if shared.noPrism != nil {
			t.Fatal(shared.noPrism)
		}
		return shared.onPrism
	}
	flinktest.Need(t)
	shared.flink.Do(func() { shared.noFlink = startFlink() })
	if shared.noFlink != nil {
		t.Fatal(shared.noFlink)
	}
	t.Cleanup(func() {
		if t.Failed() {
			shared.failed.Store(true)
		}
	})
	return shared.onFlink
}

func startFlink() (err error) {
	if shared.job, err = flink.Start(context.Background()); err != nil {
		return err
	}
	shared.onFlink, err = portable.Dial(context.Background(), shared.job.Endpoint())
	return err
}

func closeShared() {
	if shared.onFlink != nil {
		_ = shared.onFlink.Close()
	}
	if shared.job == nil {
		return
	}
	if shared.failed.Load() {
		shared.job.KeepLogs()
		fmt.Fprintf(os.Stderr, "the log of the Flink job server is %s\n", shared.job.Log())
	}
	_ = shared.job.Close()
}

// stream submits a pipeline that has no end. It is cancelled with the test.
func (on target) stream(t *testing.T, p *beam.Pipeline) *portable.Job {
	t.Helper()
	o := on.options
	if on.flink {
		o.CheckpointingInterval = 500 * time.Millisecond
	}
	return submit(t, on.server(t), p, o)
}

// batch runs a pipeline to its end.
func (on target) batch(t *testing.T, p *beam.Pipeline) (*portable.Job, error) {
	t.Helper()
	job := submit(t, on.server(t), p, on.options)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := job.Wait(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the job did not end in %v", patience)
	}
	return job, err
}

func submit(t *testing.T, server *portable.Server, p *beam.Pipeline, o portable.Options) *portable.Job {
	t.Helper()
	o.OnMessage = func(m portable.Message) { t.Logf("%s: %.2000s", m.Importance, m.Text) }
	job, err := server.Submit(t.Context(), "test", p, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := job.Cancel(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return job
}

// wantMetric looks at what the runner itself says of a counter, once the job is
// done.
func wantMetric(t *testing.T, job *portable.Job, name string, want int64) {
	t.Helper()
	results, err := job.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got int64
	for _, c := range results.AllMetrics().Counters() {
		if c.Name() == name {
			got += c.Committed
		}
	}
	if got != want {
		t.Errorf("the runner counts %d %s, want %d", got, name, want)
	}
}
