// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import "time"

// Snapshot is the state of a leg at one moment.
type Snapshot struct {
	Counts
	// Elapsed is the time since the start of the load.
	Elapsed time.Duration
	// The latencies of what was acknowledged in the last seconds.
	CalmP50, CalmP99, NoisyP99 Quantile
}

// Tick takes a snapshot and moves the window of the recent latencies on. Call it
// once a second.
func (l *Ledger) Tick(now time.Time) Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	calm, noisy := l.latency[Calm].recent, l.latency[Noisy].recent
	merged := calm.Merge()
	s := Snapshot{
		Counts: l.counts, Elapsed: now.Sub(l.start),
		CalmP50: quantile(merged, 50), CalmP99: quantile(merged, 99), NoisyP99: quantile(noisy.Merge(), 99),
	}
	calm.Rotate()
	noisy.Rotate()
	return s
}

// Summary is what a leg came to. Its JSON form is an interface of the program:
// names may be added and none may go.
type Summary struct {
	Published     int `json:"published"`
	DistinctAcked int `json:"distinct_acked"`
	Lost          int `json:"lost"`
	// Left is what an interrupted run left in the topic; it is not lost.
	Left        int `json:"left,omitempty"`
	Redelivered int `json:"redelivered"`
	Deferred    int `json:"deferred"`
	Valve       int `json:"valve"`
	Expired     int `json:"expired"`
	Foreign     int `json:"foreign"`
	// Latencies are null where nothing was measured.
	CalmP50  *float64 `json:"calm_p50_ms"`
	CalmP99  *float64 `json:"calm_p99_ms"`
	NoisyP50 *float64 `json:"noisy_p50_ms"`
	NoisyP99 *float64 `json:"noisy_p99_ms"`
	// Duration is from the start of the load to the last acknowledgement.
	Duration float64 `json:"duration_s"`
}

// Summary sums up.
func (l *Ledger) Summary() Summary {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.counts
	calm, noisy := l.latency[Calm].all, l.latency[Noisy].all
	return Summary{
		Published: c.Published, DistinctAcked: c.Acked, Lost: c.Published - c.Acked,
		Redelivered: c.Redelivered, Deferred: c.Deferred, Valve: c.Valve, Expired: c.Expired, Foreign: c.Foreign,
		CalmP50: quantile(calm, 50).millis(), CalmP99: quantile(calm, 99).millis(),
		NoisyP50: quantile(noisy, 50).millis(), NoisyP99: quantile(noisy, 99).millis(),
		Duration: float64(l.last.Sub(l.start).Milliseconds()) / 1000,
	}
}

func (q Quantile) millis() *float64 {
	if !q.Measured {
		return nil
	}
	ms := float64(q.Latency.Microseconds()/100) / 10
	return &ms
}
