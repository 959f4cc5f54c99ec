// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/internal/asyncsink"
)

// writeMetrics is the namespace of the sink's metrics.
const writeMetrics = "rocketmq.rocketmqio.write"

var (
	sentCounter        = beam.NewCounter(writeMetrics, "sent")
	sendFailedCounter  = beam.NewCounter(writeMetrics, "failed")
	retriedCounter     = beam.NewCounter(writeMetrics, "retried")
	uncertainCounter   = beam.NewCounter(writeMetrics, "retried_uncertain") // may be stored twice
	congestedCounter   = beam.NewCounter(writeMetrics, "flow_controlled")
	timedOutCounter    = beam.NewCounter(writeMetrics, "timed_out")
	unsafeCounter      = beam.NewCounter(writeMetrics, "stored_unsafely")
	requestsCounter    = beam.NewCounter(writeMetrics, "requests")
	throttledMsCounter = beam.NewCounter(writeMetrics, "throttled_ms")
	batchDistribution  = beam.NewDistribution(writeMetrics, "batch_size")
	sendDistribution   = beam.NewDistribution(writeMetrics, "request_latency_ms")
	inFlightGauge      = beam.NewGauge(writeMetrics, "in_flight")
	queuedGauge        = beam.NewGauge(writeMetrics, "queued")
	limitGauge         = beam.NewGauge(writeMetrics, "in_flight_limit")
)

// writeStats keeps what happens in the background; the next bundle carries it
// over, for Beam's metrics may be touched by one goroutine of a bundle only.
type writeStats struct {
	mu       sync.Mutex
	requests []asyncsink.Report
	reported asyncsink.Stats
}

// mostReports is how many requests are kept between two bundles; of more, the
// distributions do not tell.
const mostReports = 10000

func (s *writeStats) observe(r asyncsink.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) < mostReports {
		s.requests = append(s.requests, r)
	}
}

// report carries over what happened since the last call. It is the one who asks
// for the state, so that of two bundles the later one has the later state.
func (s *writeStats) report(ctx context.Context, ask func() asyncsink.Stats) {
	s.mu.Lock()
	now := ask()
	before, requests := s.reported, s.requests
	s.reported, s.requests = now, nil
	s.mu.Unlock()
	for _, c := range [...]struct {
		counter beam.Counter
		n       int64
	}{
		{retriedCounter, now.Retried - before.Retried}, {uncertainCounter, now.Uncertain - before.Uncertain},
		{congestedCounter, now.Congested - before.Congested}, {timedOutCounter, now.TimedOut - before.TimedOut},
		{requestsCounter, now.Requests - before.Requests},
		{throttledMsCounter, (now.Throttled - before.Throttled).Milliseconds()},
	} {
		if c.n > 0 {
			c.counter.Inc(ctx, c.n)
		}
	}
	for _, r := range requests {
		batchDistribution.Update(ctx, int64(r.Entries))
		sendDistribution.Update(ctx, r.Took.Milliseconds())
	}
	inFlightGauge.Set(ctx, int64(now.InFlight))
	queuedGauge.Set(ctx, int64(now.Buffered))
	limitGauge.Set(ctx, int64(now.Limit))
}
