// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package runners

import (
	"context"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
	"github.com/rocketmq-beam/rocketmq-beam/throttlefn"
)

const (
	ordersTopic = "orders"
	ordersGroup = "beam-orders"
	queues      = 4
)

func startBroker(t *testing.T, opts ...embedded.Option) *embedded.Broker {
	t.Helper()
	b := embedded.Start(context.Background(), opts...)
	t.Cleanup(b.Close)
	t.Cleanup(shutdown) // runs first
	b.CreateTopic(ordersTopic, queues)
	b.CreateTopic(countsTopic, 1)
	return b
}

// countBounded is read to what is there, window, count, write.
func countBounded(t *testing.T, s beam.Scope, b *embedded.Broker) {
	t.Helper()
	msgs := rocketmqio.ReadBounded(s, b.NameServer(), ordersGroup, []string{ordersTopic},
		rocketmqio.ReadFrom(rocketmqio.Earliest()), rocketmqio.ReadTo(rocketmqio.AtLatest()))
	windowed := beam.WindowInto(s, window.NewFixedWindows(time.Second), msgs)
	counts := beam.ParDo(s, &countFn{t.Name()}, beam.GroupByKey(s, beam.ParDo(s, byQueue, windowed)))
	rocketmqio.Write(s, b.NameServer(), counts, rocketmqio.WriteTopic(countsTopic))
}

// X30: what other sources read nothing on. Y03: offsets are committed on Flink
// without checkpoints too, for nothing waits for one.
func TestABoundedReadOfNormalTopics(t *testing.T) { wantOrders(t, onPrism) }

func wantOrders(t *testing.T, on target) {
	t.Helper()
	b := startBroker(t)
	tp := newTap(t)
	const n = 200
	publishOrders(b, 0, n)
	p, s := beam.NewPipelineWithRoot()
	countBounded(t, s, b)
	job, err := on.batch(t, p)
	if err != nil {
		t.Fatal(err)
	}
	if got := total(tp.snapshot()); got != n {
		t.Errorf("%d messages are counted in windows, want %d", got, n)
	}
	wantCounters(t, job.Counters, map[string]int64{"rocketmq.rocketmqio.read.emitted": n, "rocketmq.rocketmqio.read.commits": queues})
	wantMetric(t, job, "emitted", n)
	awaitCommits(t, b)
	awaitCounts(t, b, tp)
}

// throttleBounded is read n messages, group, throttle, ack. The quota lets all
// pass: what is deferred comes again when a bounded reading is over.
func throttleBounded(t *testing.T, s beam.Scope, b *embedded.Broker, n int64) {
	t.Helper()
	msgs := litegrpcio.ReadBounded(s, b.Endpoints(), busTopic, busGroup, litegrpcio.ReadMaxRecords(n), litegrpcio.ReadAwaitDuration(5*time.Second))
	groups := throttlefn.GroupByLiteTopic(s, msgs, throttlefn.GroupEvery(200*time.Millisecond))
	fair := throttlefn.Throttle(s, groups, throttlefn.Quota{PerWindow: noisy, Defer: 2 * time.Second}, throttlefn.WorkWithin(time.Second))
	beam.ParDo0(s, &resultFn{t.Name()}, ackfn.Ack(s, fair.Passed))
}

func TestABoundedReadOfLiteTopics(t *testing.T) { wantBus(t, onPrism) }

func wantBus(t *testing.T, on target) {
	t.Helper()
	b := startBus(t)
	tp := newTap(t)
	publishTenants(b)
	p, s := beam.NewPipelineWithRoot()
	throttleBounded(t, s, b, noisy+calm)
	job, err := on.batch(t, p)
	if err != nil {
		t.Fatal(err)
	}
	if n := b.Pending(busTopic); n != 0 {
		t.Errorf("%d messages are not acked", n)
	}
	if all, distinct := tp.counts(); all != noisy+calm || distinct != all {
		t.Errorf("%d results for %d messages, want %d", all, distinct, noisy+calm)
	}
	wantMetric(t, job, "emitted", noisy+calm)
}
