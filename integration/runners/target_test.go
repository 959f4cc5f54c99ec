// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package runners

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
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

// everywhere are the runners that a pipeline must work on.
var everywhere = []target{
	{name: "prism"},
	{name: "flink, parallelism 1", flink: true, options: portable.Options{Parallelism: 1}},
	{name: "flink, parallelism 4", flink: true, options: portable.Options{Parallelism: 4}},
}

// eachTarget runs a test on all of them.
func eachTarget(t *testing.T, test func(*testing.T, target)) {
	t.Helper()
	for _, on := range everywhere {
		t.Run(on.name, func(t *testing.T) { test(t, on) })
	}
}

// shared are the job servers of this test binary; TestMain ends them.
var shared struct {
	prism, flink sync.Once
	onPrism      *portable.Server
	job          *flink.Server
	onFlink      *portable.Server
	err          error
	failed       bool
}

func (on target) server(t *testing.T) *portable.Server {
	t.Helper()
	if !on.flink {
		shared.prism.Do(func() { shared.onPrism, shared.err = portable.Prism(context.Background()) })
		if shared.err != nil {
			t.Fatal(shared.err)
		}
		return shared.onPrism
	}
	flinktest.Need(t)
	shared.flink.Do(func() {
		if shared.job, shared.err = flink.Start(context.Background()); shared.err == nil {
			shared.onFlink, shared.err = portable.Dial(context.Background(), shared.job.Endpoint())
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	t.Cleanup(func() { shared.failed = shared.failed || t.Failed() })
	return shared.onFlink
}

func closeShared() {
	if shared.onFlink != nil {
		_ = shared.onFlink.Close()
	}
	if shared.job == nil {
		return
	}
	if shared.failed || os.Getenv("KEEP") != "" {
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
