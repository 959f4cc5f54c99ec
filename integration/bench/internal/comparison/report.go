// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"time"
)

// Report is what a benchmark found, per server. A server that was not measured
// is null.
type Report struct {
	Real     *Summary `json:"real"`
	Embedded *Summary `json:"embedded"`
}

// Summary is what several pairs say together. All but the bounds are medians
// over the pairs; Ratio is the median of the pairs' ratios, not the ratio of the
// two medians beside it.
type Summary struct {
	RawPerS      float64 `json:"raw_per_s"`
	PipelinePerS float64 `json:"pipeline_per_s"`
	Ratio        float64 `json:"ratio"`
	MinRatio     float64 `json:"min_ratio"`
	MaxRatio     float64 `json:"max_ratio"`
	Pairs        int     `json:"pairs"`
	Messages     int     `json:"messages"`
	// CPU time and allocations of the client process. They vary less than the
	// speeds, which the server has its part in.
	RawCPUMicros      float64 `json:"raw_cpu_us_per_message"`
	PipelineCPUMicros float64 `json:"pipeline_cpu_us_per_message"`
	RawAllocs         float64 `json:"raw_allocs_per_message"`
	PipelineAllocs    float64 `json:"pipeline_allocs_per_message"`
}

// Summarize sums up at least one pair.
func Summarize(pairs []Pair) *Summary {
	of := func(value func(Pair) float64) float64 {
		var all []float64
		for _, p := range pairs {
			all = append(all, value(p))
		}
		return Median(all)
	}
	micros := func(r Run) float64 { return float64(r.CPUPerMessage().Nanoseconds()) / 1000 }
	ratios := make([]float64, len(pairs))
	for i, p := range pairs {
		ratios[i] = p.Ratio()
	}
	return &Summary{
		RawPerS:           round(of(func(p Pair) float64 { return p.Raw.PerSecond() }), 0),
		PipelinePerS:      round(of(func(p Pair) float64 { return p.Pipeline.PerSecond() }), 0),
		Ratio:             round(Median(ratios), 3),
		MinRatio:          round(slices.Min(ratios), 3),
		MaxRatio:          round(slices.Max(ratios), 3),
		Pairs:             len(pairs),
		Messages:          pairs[0].Raw.Messages,
		RawCPUMicros:      round(of(func(p Pair) float64 { return micros(p.Raw) }), 1),
		PipelineCPUMicros: round(of(func(p Pair) float64 { return micros(p.Pipeline) }), 1),
		RawAllocs:         round(of(func(p Pair) float64 { return p.Raw.AllocationsPerMessage() }), 1),
		PipelineAllocs:    round(of(func(p Pair) float64 { return p.Pipeline.AllocationsPerMessage() }), 1),
	}
}

// Median is the middle value, or the mean of the two middle ones; 0 of none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

func round(v float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(v*scale) / scale
}

// WriteJSON writes the report as one line.
func (r Report) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// WriteTable writes each run of a server, for people.
func WriteTable(w io.Writer, server string, pairs []Pair) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, server+"\tmessages/s\tratio\tfirst ack\tCPU µs/msg\tallocs/msg\tbytes/msg\tmsgs/call\tlargest\t")
	for i, p := range pairs {
		for _, side := range Order(i) {
			r, ratio := p.Raw, ""
			if side == Pipeline {
				r, ratio = p.Pipeline, fmt.Sprintf("%.3f", p.Ratio())
			}
			fmt.Fprintf(t, "%d %v\t%.0f\t%s\t%v\t%.1f\t%.1f\t%.0f\t%.1f\t%d\t\n", i+1, side, r.PerSecond(), ratio, r.FirstAck.Round(time.Millisecond),
				float64(r.CPUPerMessage().Nanoseconds())/1000, r.AllocationsPerMessage(), r.BytesPerMessage(), r.MessagesPerCall(), r.LargestCall)
		}
	}
	return t.Flush()
}
