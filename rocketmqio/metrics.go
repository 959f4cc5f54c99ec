// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"sync/atomic"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// metricsPrefix is the namespace of the source's metrics.
const metricsPrefix = "rocketmq.rocketmqio.read"

var (
	pulledCounter       = beam.NewCounter(metricsPrefix, "pulled")
	emittedCounter      = beam.NewCounter(metricsPrefix, "emitted")
	corruptCounter      = beam.NewCounter(metricsPrefix, "corrupt")
	pullFailedCounter   = beam.NewCounter(metricsPrefix, "pull_failed")
	outOfRangeCounter   = beam.NewCounter(metricsPrefix, "out_of_range")
	lostCounter         = beam.NewCounter(metricsPrefix, "out_of_range_lost")
	committedCounter    = beam.NewCounter(metricsPrefix, "commits")
	commitFailCounter   = beam.NewCounter(metricsPrefix, "commit_failed")
	queuesCounter       = beam.NewCounter(metricsPrefix, "queues_discovered")
	undecodableCounter  = beam.NewCounter(metricsPrefix, "undecodable")
	latencyDistribution = beam.NewDistribution(metricsPrefix, "read_latency_ms")
	backlogDistribution = beam.NewDistribution(metricsPrefix, "queue_backlog")
	readyDistribution   = beam.NewDistribution(metricsPrefix, "ready_bytes")
)

// stats counts what happens in the background; the next bundle carries it over.
type stats struct {
	pulled, pullFailed, outOfRange, outOfRangeLost atomic.Int64
}

func (s *stats) report(ctx context.Context) {
	for _, c := range [...]struct {
		from *atomic.Int64
		to   beam.Counter
	}{{&s.pulled, pulledCounter}, {&s.pullFailed, pullFailedCounter}, {&s.outOfRange, outOfRangeCounter}, {&s.outOfRangeLost, lostCounter}} {
		if n := c.from.Swap(0); n != 0 {
			c.to.Inc(ctx, n)
		}
	}
}
