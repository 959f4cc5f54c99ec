// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"context"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// metricsNamespace is the prefix of all metrics of this package.
const metricsNamespace = "rocketmq.ackfn"

var (
	ackedCount     = beam.NewCounter(metricsNamespace, "acked")
	deferredCount  = beam.NewCounter(metricsNamespace, "deferred")
	expiredCount   = beam.NewCounter(metricsNamespace, "expired")
	malformedCount = beam.NewCounter(metricsNamespace, "malformed")
	failedCount    = beam.NewCounter(metricsNamespace, "failed")
	retriedCount   = beam.NewCounter(metricsNamespace, "retried")
	throttledMs    = beam.NewCounter(metricsNamespace, "throttled_ms")
	ackLatencyMs   = beam.NewDistribution(metricsNamespace, "ack_latency_ms")
	deferLatencyMs = beam.NewDistribution(metricsNamespace, "defer_latency_ms")
	batchSize      = beam.NewDistribution(metricsNamespace, "batch_size")
)

// Beam keeps the metrics of a bundle in a map without a lock. What follows is
// therefore called on the bundle's goroutine, after the requests, and never
// from the goroutines that send them.

// tally counts outcomes and enters each count once.
type tally struct{ acked, deferred, expired, malformed int64 }

func (t *tally) add(o Outcome) {
	switch o {
	case Acked:
		t.acked++
	case Deferred:
		t.deferred++
	case Expired:
		t.expired++
	case Malformed:
		t.malformed++
	}
}

func (t *tally) record(ctx context.Context) {
	count(ctx, ackedCount, t.acked)
	count(ctx, deferredCount, t.deferred)
	count(ctx, expiredCount, t.expired)
	count(ctx, malformedCount, t.malformed)
}

// count leaves out zeros, so that a metric that never happened is not there.
func count(ctx context.Context, c beam.Counter, n int64) {
	if n != 0 {
		c.Inc(ctx, n)
	}
}

// record enters what became of a batch.
func (b *batch) record(ctx context.Context) {
	var t tally
	for i := range b.verdicts {
		t.add(b.verdicts[i].outcome)
	}
	t.record(ctx)
	batchSize.Update(ctx, int64(len(b.handles)))
	ackLatencyMs.Update(ctx, b.took.Milliseconds())
	count(ctx, retriedCount, int64(b.retry.repeated))
	count(ctx, throttledMs, b.retry.throttledTime.Milliseconds())
}

func recordDeferrals(ctx context.Context, results []Result, took []time.Duration, did Stats) {
	var t tally
	for i := range results {
		t.add(results[i].Outcome)
		deferLatencyMs.Update(ctx, took[i].Milliseconds())
	}
	t.record(ctx)
	count(ctx, retriedCount, did.Retried)
	count(ctx, throttledMs, did.Throttled.Milliseconds())
}

func (f *failure) record(ctx context.Context) { count(ctx, failedCount, int64(f.count)) }
