// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package runners

import (
	"context"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/integration/flink"
	"github.com/rocketmq-beam/rocketmq-beam/integration/flink/flinktest"
	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
)

// O30, O40: a job server is killed with its Flink, and another one goes on from
// the last checkpoint. Its position wins, although the broker has been told of
// an earlier one meanwhile: nothing is read twice, and nothing is left out.
func TestACheckpointKeepsThePosition(t *testing.T) {
	const n = 60
	b := startBroker(t)
	tp := newTap(t)
	folder := t.TempDir()
	first := flinktest.Start(t, flink.FlinkConf("state.checkpoints.dir", "file://"+folder))
	job := runOn(t, first, tapPipeline(t, b))
	publishOrders(b, 0, n)
	tp.await(t, "the first messages", func(seen map[string]int) bool { return len(seen) == n })
	awaitCommits(t, b)
	at := awaitCheckpoint(t, first)
	if at.Path == "" {
		t.Fatalf("the checkpoint %+v is nowhere", at)
	}
	first.Kill()
	if err := job.Wait(t.Context()); err == nil {
		t.Error("the job of a killed job server ended without an error")
	}
	for id := range queues {
		b.SetCommitted(ordersGroup, embedded.Queue{Topic: ordersTopic, ID: id}, 0)
	}
	publishOrders(b, n, n)
	second := flinktest.Start(t, flink.FlinkConf("execution.savepoint.path", at.Path))
	runOn(t, second, tapPipeline(t, b))
	tp.await(t, "the other messages", func(seen map[string]int) bool { return len(seen) == 2*n })
	awaitCommits(t, b)
	if all, _ := tp.counts(); all != 2*n {
		t.Errorf("%d messages came, want %d, each once", all, 2*n)
	}
}

func tapPipeline(t *testing.T, b *embedded.Broker) *beam.Pipeline {
	t.Helper()
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &tapFn{t.Name()}, readOrders(s, b))
	return p
}

// runOn submits a stream to a server that the test may kill.
func runOn(t *testing.T, server *flink.Server, p *beam.Pipeline) *portable.Job {
	t.Helper()
	jobs, err := portable.Dial(t.Context(), server.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	job, err := jobs.Submit(t.Context(), "test", p, portable.Options{
		Parallelism: 1, CheckpointingInterval: 500 * time.Millisecond, RetainCheckpoints: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = job.Cancel(context.Background()) // its server may be gone
		_ = jobs.Close()
	})
	return job
}
