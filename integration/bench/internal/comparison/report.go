// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Report is what a benchmark found, per server. A server that was not measured
// is null.
type Report[T any] struct {
	Real     *T `json:"real"`
	Embedded *T `json:"embedded"`
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
	side := func(of Side, value func(Run) float64, digits int) float64 {
		return FiguresOf(pairs, func(p Pair) float64 { return value(p.run(of)) }, digits).Median()
	}
	ratios := FiguresOf(pairs, Pair.Ratio, 3)
	return &Summary{
		RawPerS: side(Raw, Run.PerSecond, 0), PipelinePerS: side(Pipeline, Run.PerSecond, 0),
		Ratio: ratios.Median(), MinRatio: ratios.Min(), MaxRatio: ratios.Max(),
		Pairs: len(pairs), Messages: pairs[0].Raw.Messages,
		RawCPUMicros: side(Raw, Run.CPUMicros, 1), PipelineCPUMicros: side(Pipeline, Run.CPUMicros, 1),
		RawAllocs: side(Raw, Run.AllocationsPerMessage, 1), PipelineAllocs: side(Pipeline, Run.AllocationsPerMessage, 1),
	}
}

// WriteJSON writes the report as one line.
func (r Report[T]) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// WriteTable writes each run of a server, for people.
func WriteTable(w io.Writer, server string, pairs []Pair) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, server+"\tmessages/s\tratio\tfirst ack\tCPU µs/msg\tallocs/msg\tbytes/msg\tmsgs/call\tlargest\t")
	for i, p := range pairs {
		for _, side := range Order(i) {
			r, ratio := p.run(side), ""
			if side == Pipeline {
				ratio = fmt.Sprintf("%.3f", p.Ratio())
			}
			fmt.Fprintf(t, "%d %v\t%.0f\t%s\t%v\t%.1f\t%.1f\t%.0f\t%.1f\t%d\t\n", i+1, side, r.PerSecond(), ratio, r.FirstAck.Round(time.Millisecond),
				r.CPUMicros(), r.AllocationsPerMessage(), r.BytesPerMessage(), r.MessagesPerCall(), r.LargestCall)
		}
	}
	return t.Flush()
}
