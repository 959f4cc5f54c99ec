// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package runners

import (
	"context"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/integration/flink"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

// latestCluster is the cluster of the job that was submitted last.
func latestCluster(t *testing.T, s *flink.Server) flink.Cluster {
	t.Helper()
	all, err := s.Clusters()
	if err != nil || len(all) == 0 {
		t.Fatalf("got clusters %v, %v; want one at least", all, err)
	}
	return all[len(all)-1]
}

// awaitCheckpoint waits for a checkpoint that began after now.
func awaitCheckpoint(t *testing.T, s *flink.Server) flink.Checkpoint {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := latestCluster(t, s)
	first := -1
	var at flink.Checkpoint
	poll(t, "two more checkpoints", func() (ok bool) {
		var err error
		if at, err = c.Checkpoint(ctx); err != nil {
			return false
		}
		if first < 0 {
			first = at.Completed
		}
		return at.Completed >= first+2 // the first of them may have begun before
	})
	return at
}

// A job that was cancelled, and whose workers have gone with that, does not stay
// in the cluster: it fails, is started again as often as it may, and ends.
func TestACancelledJobLeavesNothingOnFlink(t *testing.T) {
	on := onFlink[0]
	b := startBroker(t)
	tp := newTap(t)
	p := countPipeline(t, b)
	publishOrders(b, 0, 10)
	job := on.stream(t, p)
	tp.await(t, "messages", func(seen map[string]int) bool { return total(seen) == 10 })
	cluster := latestCluster(t, shared.job)
	begin := time.Now()
	if err := job.Cancel(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("cancelling took %v", took)
	}
	poll(t, "the end of the cluster", func() bool { return cluster.Gone(t.Context()) })
}

// A source that has an end ends the job, with checkpoints too, if Flink is asked
// to look for it; the runner then knows the metrics.
func TestAStreamWithAnEndEndsOnFlink(t *testing.T) {
	on := onFlink[0]
	b := startBroker(t)
	tp := newTap(t)
	const n = 40
	publishOrders(b, 0, n)
	p, s := beam.NewPipelineWithRoot()
	msgs := rocketmqio.Read(s, b.NameServer(), ordersGroup, []string{ordersTopic},
		rocketmqio.ReadFrom(rocketmqio.Earliest()), rocketmqio.ReadTo(rocketmqio.AtLatest()))
	beam.ParDo0(s, &tapFn{t.Name()}, msgs)
	on.options.CheckpointingInterval = 500 * time.Millisecond
	on.options.EndIdleSourcesAfter = time.Second
	job, err := on.batch(t, p)
	if err != nil {
		t.Fatal(err)
	}
	if all, distinct := tp.counts(); all != n || distinct != n {
		t.Errorf("%d messages, %d of them different; want %d, each once", all, distinct, n)
	}
	wantMetric(t, job, "emitted", n)
}

// Bundles that only a checkpoint ends. By Flink's own choice what such a bundle
// emits stays in the state of the step until it has something else to do, as a
// source that came to its end has never: here the queues that were found would not
// be read, nor the last messages of each be seen.
func TestWhatACheckpointInterruptsIsHandedOn(t *testing.T) {
	on := onFlink[1]
	b := startBroker(t)
	tp := newTap(t)
	const n = 40
	publishOrders(b, 0, n)
	p, s := beam.NewPipelineWithRoot()
	msgs := rocketmqio.Read(s, b.NameServer(), ordersGroup, []string{ordersTopic},
		rocketmqio.ReadFrom(rocketmqio.Earliest()), rocketmqio.ReadTo(rocketmqio.AtSpecific(endsOfOrders(n))))
	beam.ParDo0(s, &tapFn{t.Name()}, beam.Reshuffle(s, msgs))
	on.options.CheckpointingInterval = 500 * time.Millisecond
	on.options.MaxBundleSize, on.options.MaxBundleTime = 10_000, time.Hour
	submit(t, on.server(t), p, on.options)
	tp.await(t, "all messages", func(seen map[string]int) bool { return len(seen) == n })
}
