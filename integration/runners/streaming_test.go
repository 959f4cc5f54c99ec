// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package runners

import (
	"context"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/throttlefn"
)

var everywhere = append([]target{onPrism}, onFlink...)

// Not under the race detector: when a job is cancelled, the harness of Beam 2.77
// closes the channel of its answers beside a bundle that still sends one.

// B01, B15, X30: windows fire although nothing follows, twice: the watermark goes
// on when all queues are idle, also one that never held anything. Offsets are
// committed (Y03) and counters are seen while the job runs.
func TestWindowsOfNormalTopicsFireAndOffsetsAreCommitted(t *testing.T) {
	eachTarget(t, everywhere, func(t *testing.T, on target) {
		b := startBroker(t)
		b.CreateTopic(ordersTopic, queues+1) // one stays empty
		tp := newTap(t)
		p := countPipeline(t, b)
		const n = 100
		publishOrders(b, 0, n)
		job := on.stream(t, p)
		tp.await(t, "the first windows", func(seen map[string]int) bool { return total(seen) == n })
		publishOrders(b, n, n)
		tp.await(t, "the windows after a lull", func(seen map[string]int) bool { return total(seen) == 2*n })
		awaitCommits(t, b)
		awaitCounts(t, b, tp)
		wantCounters(t, job.Counters, map[string]int64{
			"rocketmq.rocketmqio.read.emitted": 2 * n, "rocketmq.rocketmqio.read.queues_discovered": queues + 1,
		})
		if n := job.Counters()["rocketmq.rocketmqio.read.commits"]; n < queues {
			t.Errorf("%d commits are counted, want %d or more", n, queues)
		}
	})
}

// B23, X30: read, group, throttle, ack. What is over the quota comes again and is
// acked as well; a second load, after a lull, finds everything still at work.
func TestLiteTopicsAreThrottledAndAcked(t *testing.T) {
	eachTarget(t, everywhere, func(t *testing.T, on target) {
		b := startBus(t)
		tp := newTap(t)
		p, s := beam.NewPipelineWithRoot()
		msgs := litegrpcio.Read(s, b.Endpoints(), busTopic, busGroup, litegrpcio.ReadAwaitDuration(5*time.Second))
		groups := throttlefn.GroupByLiteTopic(s, msgs, throttlefn.GroupEvery(200*time.Millisecond))
		fair := throttlefn.Throttle(s, groups, throttlefn.Quota{PerWindow: perWindow, Defer: 2 * time.Second}, throttlefn.WorkWithin(time.Second))
		beam.ParDo0(s, &resultFn{t.Name()}, ackfn.Ack(s, fair.Passed))
		job := on.stream(t, p)
		for round := 1; round <= 2; round++ {
			publishTenants(b)
			acked(t, b)
			tp.await(t, "the results", func(seen map[string]int) bool { return len(seen) >= round*(noisy+calm) })
		}
		counters := job.Counters()
		if counters["rocketmq.throttlefn.deferred"] == 0 || counters["rocketmq.litegrpcio.read.emitted"] == 0 {
			t.Errorf("counters %v, want some emitted and deferred", counters)
		}
	})
}

// acked waits until the broker has nothing left to deliver.
func acked(t *testing.T, b *embedded.Broker) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := b.Wait(ctx, func(s embedded.Snapshot) bool { return s.Pending(busTopic) == 0 }); err != nil {
		t.Fatalf("%v: %d messages are not acked", err, b.Pending(busTopic))
	}
}
