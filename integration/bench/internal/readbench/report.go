// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package readbench

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
)

// Report is what was found, per server and, on it, per number of messages.
type Report = comparison.Report[map[string]*Summary]

// Summary is what several rounds say together: medians, but for the bounds.
// Ratios are medians of the rounds' ratios.
type Summary struct {
	RawPerS      float64 `json:"raw_per_s"`
	PipelinePerS float64 `json:"pipeline_per_s"`
	// Ratio is pipeline to raw.
	Ratio    float64 `json:"ratio"`
	MinRatio float64 `json:"min_ratio"`
	MaxRatio float64 `json:"max_ratio"`
	// ClientGoPerS is null where rocketmq-client-go was not measured.
	ClientGoPerS   *float64 `json:"client_go_per_s"`
	PrismLimitPerS float64  `json:"prism_limit_per_s"`
	// RatioToLimit is pipeline to the lower of raw and prism's limit.
	RatioToLimit float64 `json:"ratio_to_lower_of_raw_and_limit"`
	Rounds       int     `json:"pairs"`
	Messages     int     `json:"messages"`
	// Processor time of the client process alone.
	RawCPU        float64  `json:"raw_cpu_s_per_million"`
	PipelineCPU   float64  `json:"pipeline_cpu_s_per_million"`
	ClientGoCPU   *float64 `json:"client_go_cpu_s_per_million"`
	PrismLimitCPU float64  `json:"prism_limit_cpu_s_per_million"`
	// Allocations of the client process, the start of the leg included.
	RawAllocs      float64 `json:"raw_allocs_per_message"`
	PipelineAllocs float64 `json:"pipeline_allocs_per_message"`
	// PipelineStart is how long the pipeline took before its source began.
	PipelineStart float64 `json:"pipeline_start_s"`
	PerBundle     float64 `json:"pipeline_messages_per_bundle"`
}

// Summarize sums up at least one round.
func Summarize(rounds []Round) *Summary {
	leg := func(side Side, value func(Leg) float64, digits int) float64 {
		return comparison.FiguresOf(rounds, func(r Round) float64 { return value(r.Legs[side]) }, digits).Median()
	}
	ratios := comparison.FiguresOf(rounds, Round.ratio, 3)
	s := &Summary{
		RawPerS: leg(Raw, Leg.PerSecond, 0), PipelinePerS: leg(Pipeline, Leg.PerSecond, 0), PrismLimitPerS: leg(Limit, Leg.PerSecond, 0),
		Ratio: ratios.Median(), MinRatio: ratios.Min(), MaxRatio: ratios.Max(),
		RatioToLimit: comparison.FiguresOf(rounds, Round.ratioToLimit, 3).Median(), Rounds: len(rounds), Messages: rounds[0].Legs[Raw].Messages,
		RawCPU: leg(Raw, Leg.CPUMicros, 2), PipelineCPU: leg(Pipeline, Leg.CPUMicros, 2), PrismLimitCPU: leg(Limit, Leg.CPUMicros, 2),
		RawAllocs: leg(Raw, Leg.AllocationsPerMessage, 1), PipelineAllocs: leg(Pipeline, Leg.AllocationsPerMessage, 1),
		PipelineStart: leg(Pipeline, func(l Leg) float64 { return l.Start.Seconds() }, 2), PerBundle: leg(Pipeline, Leg.MessagesPerCall, 0),
	}
	if _, ok := rounds[0].Legs[ClientGo]; ok {
		perS, cpu := leg(ClientGo, Leg.PerSecond, 0), leg(ClientGo, Leg.CPUMicros, 2)
		s.ClientGoPerS, s.ClientGoCPU = &perS, &cpu
	}
	return s
}

// ratio is how fast the pipeline was, as a part of the raw speed.
func (r Round) ratio() float64 {
	return comparison.Pair{Raw: r.Legs[Raw].Run, Pipeline: r.Legs[Pipeline].Run}.Ratio()
}

// ratioToLimit is the same to what could be had at most.
func (r Round) ratioToLimit() float64 {
	most := min(r.Legs[Raw].PerSecond(), r.Legs[Limit].PerSecond())
	if most <= 0 {
		return 0
	}
	return r.Legs[Pipeline].PerSecond() / most
}

// WriteTable writes each leg, for people.
func WriteTable(w io.Writer, what string, rounds []Round) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, what+"\tmessages/s\tratio\tCPU s/million\tallocs/msg\tbytes/msg\tmsgs/call\tlargest\tbegun after\t")
	for i, r := range rounds {
		for _, side := range r.Order {
			l, ratio := r.Legs[side], ""
			if side == Pipeline {
				ratio = fmt.Sprintf("%.3f", r.ratio())
			}
			fmt.Fprintf(t, "%d %s\t%.0f\t%s\t%.2f\t%.1f\t%.0f\t%.1f\t%d\t%v\t\n", i+1, side, l.PerSecond(), ratio, l.CPUMicros(),
				l.AllocationsPerMessage(), l.BytesPerMessage(), l.MessagesPerCall(), l.LargestCall, l.Start.Round(time.Millisecond))
		}
	}
	return t.Flush()
}
