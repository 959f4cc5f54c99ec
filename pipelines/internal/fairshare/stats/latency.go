// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latencies are recorded in microseconds, from one to an hour, to three digits.
const (
	lowest  = 1
	highest = int64(time.Hour / time.Microsecond)
	digits  = 3
)

// recentSlices is how many calls of Tick the recent figures look back.
const recentSlices = 3

// latencies are those of one class: of the whole leg, and of the last seconds.
type latencies struct {
	all    *hdrhistogram.Histogram
	recent *hdrhistogram.WindowedHistogram
}

func newLatencies() *latencies {
	return &latencies{
		all:    hdrhistogram.New(lowest, highest, digits),
		recent: hdrhistogram.NewWindowed(recentSlices, lowest, highest, digits),
	}
}

func (l *latencies) add(d time.Duration) {
	v := min(max(d.Microseconds(), lowest), highest)
	// Within its bounds a histogram takes every value.
	_ = l.all.RecordValue(v)
	_ = l.recent.Current.RecordValue(v)
}

// Quantile is a latency, or none where nothing was measured.
type Quantile struct {
	Latency  time.Duration
	Measured bool
}

func quantile(h *hdrhistogram.Histogram, percent float64) Quantile {
	if h.TotalCount() == 0 {
		return Quantile{}
	}
	return Quantile{time.Duration(h.ValueAtPercentile(percent)) * time.Microsecond, true}
}
