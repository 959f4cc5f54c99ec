// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/internal/asyncsink"
)

// Metrics of the commit step, beside those of the half messages' sending.
var (
	committedHalvesCounter = beam.NewCounter(writeMetrics, "txn_committed")     // the message is there
	alreadyCounter         = beam.NewCounter(writeMetrics, "txn_already_there") // of those, found by their keys
	earlyCounter           = beam.NewCounter(writeMetrics, "txn_finalized")     // committed by the callbacks of bundles
	lostHalvesCounter      = beam.NewCounter(writeMetrics, "txn_lost")
	askedCounter           = beam.NewCounter(writeMetrics, "txn_asked")        // questions whether a message is there
	twiceCounter           = beam.NewCounter(writeMetrics, "txn_found_twice")  // answers with more than one
	checksCounter          = beam.NewCounter(writeMetrics, "txn_checks")       // by brokers
	rolledBackCounter      = beam.NewCounter(writeMetrics, "txn_checks_ended") // of those, answered with rollback
	commitRetriedCounter   = beam.NewCounter(writeMetrics, "txn_commit_retried")
	commitDistribution     = beam.NewDistribution(writeMetrics, "txn_commit_latency_ms")
)

// txnCounts is what happens in the background.
type txnCounts struct{ already, early, asked, twice, checks, rolledBack int64 }

// txnStats keeps it until the next bundle carries it over, for Beam's metrics may
// be touched by one goroutine of a bundle only.
type txnStats struct {
	mu       sync.Mutex
	counts   txnCounts
	requests []asyncsink.Report
	retried  int64 // reported so far
}

func (s *txnStats) add(f func(*txnCounts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.counts)
}

func (s *txnStats) observe(r asyncsink.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) < mostReports {
		s.requests = append(s.requests, r)
	}
}

// report carries over what happened since the last call.
func (s *txnStats) report(ctx context.Context, ask func() asyncsink.Stats) {
	s.mu.Lock()
	retried := ask().Retried
	n, requests, more := s.counts, s.requests, retried-s.retried
	s.counts, s.requests, s.retried = txnCounts{}, nil, retried
	s.mu.Unlock()
	for _, c := range [...]struct {
		counter beam.Counter
		n       int64
	}{
		{alreadyCounter, n.already}, {earlyCounter, n.early}, {askedCounter, n.asked}, {twiceCounter, n.twice},
		{checksCounter, n.checks}, {rolledBackCounter, n.rolledBack}, {commitRetriedCounter, more},
	} {
		if c.n > 0 {
			c.counter.Inc(ctx, c.n)
		}
	}
	for _, r := range requests {
		commitDistribution.Update(ctx, r.Took.Milliseconds())
	}
}
