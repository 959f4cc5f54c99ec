// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// metricsPrefix is the namespace of the source's metrics.
const metricsPrefix = "rocketmq.litegrpcio.read"

// The source's metrics; docs/lite-topics.md says what each means.
var (
	receivedCounter      = beam.NewCounter(metricsPrefix, "received")
	emittedCounter       = beam.NewCounter(metricsPrefix, "emitted")
	redeliveredCounter   = beam.NewCounter(metricsPrefix, "redelivered")
	expiredCounter       = beam.NewCounter(metricsPrefix, "dropped_expired")
	corruptCounter       = beam.NewCounter(metricsPrefix, "dropped_corrupt")
	renewedCounter       = beam.NewCounter(metricsPrefix, "renewed")
	renewFailedCounter   = beam.NewCounter(metricsPrefix, "renew_failed")
	receiveFailedCounter = beam.NewCounter(metricsPrefix, "receive_failed")
	reconnectCounter     = beam.NewCounter(metricsPrefix, "reconnects")
	latencyDistribution  = beam.NewDistribution(metricsPrefix, "receive_latency_ms")
	queueDepthGauge      = beam.NewGauge(metricsPrefix, "queue_depth")
	subscriptionsGauge   = beam.NewGauge(metricsPrefix, "lite_subscriptions")
	quietGauge           = beam.NewGauge(metricsPrefix, "seconds_since_progress")
)

// stats counts what happens in the background, where Beam's metrics cannot be
// reached; the next bundle carries it over.
type stats struct {
	received, corrupt, renewed, renewFailed, receiveFailed, reconnects atomic.Int64
}

// Reconnected counts a link that was opened again.
func (s *stats) Reconnected() { s.reconnects.Add(1) }

// report carries over what was counted since the last report.
func (f *fetcher) report(ctx context.Context) {
	s := f.stats
	for _, c := range [...]struct {
		from *atomic.Int64
		to   beam.Counter
	}{
		{&s.received, receivedCounter}, {&s.corrupt, corruptCounter}, {&s.renewed, renewedCounter},
		{&s.renewFailed, renewFailedCounter}, {&s.receiveFailed, receiveFailedCounter}, {&s.reconnects, reconnectCounter},
	} {
		if n := c.from.Swap(0); n != 0 {
			c.to.Inc(ctx, n)
		}
	}
	queueDepthGauge.Set(ctx, int64(f.queue.len()))
	subscriptionsGauge.Set(ctx, int64(f.consumer.Subscriptions()))
	quietGauge.Set(ctx, int64(f.health.Quiet(time.Now())/time.Second))
}
