// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
)

// metricsNamespace is the prefix of all metrics of this package.
const metricsNamespace = "rocketmq.throttlefn"

var (
	passedCount      = beam.NewCounter(metricsNamespace, "passed")
	deferredCount    = beam.NewCounter(metricsNamespace, "deferred")
	valvePassedCount = beam.NewCounter(metricsNamespace, "valve_passed")
	expiredCount     = beam.NewCounter(metricsNamespace, "expired")
	deferFailedCount = beam.NewCounter(metricsNamespace, "defer_failed")
	unsuspendedCount = beam.NewCounter(metricsNamespace, "deferred_unsuspended")
	throttledMs      = beam.NewCounter(metricsNamespace, "throttled_ms")
	deferLatencyMs   = beam.NewDistribution(metricsNamespace, "defer_latency_ms")
	delayMs          = beam.NewDistribution(metricsNamespace, "delay_ms")
)

// count leaves out zeros, so that a metric that never happened is not there.
// Beam keeps the metrics of a bundle in a map without a lock, so everything
// here is called on the bundle's goroutine.
func count(ctx context.Context, c beam.Counter, n int) {
	if n != 0 {
		c.Inc(ctx, int64(n))
	}
}

func countOutcome(ctx context.Context, o ackfn.Outcome) {
	switch o {
	case ackfn.Deferred:
		deferredCount.Inc(ctx, 1)
	case ackfn.Expired:
		expiredCount.Inc(ctx, 1)
	default:
		deferFailedCount.Inc(ctx, 1)
	}
}
