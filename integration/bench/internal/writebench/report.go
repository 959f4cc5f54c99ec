// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package writebench

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
)

// Report is what was found, per server.
type Report = comparison.Report[Summary]

// Summary is what several rounds say together: medians, but for bounds and sums.
// Ratios are medians of the rounds' ratios.
type Summary struct {
	// RawPerS is the best of the raw programs in each round.
	RawPerS      float64 `json:"raw_per_s"`
	PipelinePerS float64 `json:"pipeline_per_s"`
	Ratio        float64 `json:"ratio"`
	MinRatio     float64 `json:"min_ratio"`
	MaxRatio     float64 `json:"max_ratio"`
	AsyncPerS    float64 `json:"raw_async_per_s"`
	BatchPerS    float64 `json:"raw_batches_per_s"`
	// ClientGoPerS is null where rocketmq-client-go was not measured.
	ClientGoPerS *float64 `json:"client_go_per_s"`
	// Failed are the messages that were not stored, in all rounds together.
	RawFailed      int  `json:"raw_failed"`
	PipelineFailed int  `json:"pipeline_failed"`
	ClientGoFailed *int `json:"client_go_failed"`
	// PipelineAgain are stored more than once, after a counted repetition.
	PipelineAgain int `json:"pipeline_stored_again"`
	Rounds        int `json:"pairs"`
	Messages      int `json:"messages"`
	AsyncInFlight int `json:"raw_async_in_flight"`
	BatchInFlight int `json:"raw_batches_in_flight"`
	Pending       int `json:"pipeline_pending"` // messages
	// Processor time of the client process alone; RawCPU is that of the batches.
	RawCPU      float64  `json:"raw_cpu_s_per_million"`
	AsyncCPU    float64  `json:"raw_async_cpu_s_per_million"`
	PipelineCPU float64  `json:"pipeline_cpu_s_per_million"`
	ClientGoCPU *float64 `json:"client_go_cpu_s_per_million"`
	// Allocations of the client process, the start of the leg included.
	RawAllocs      float64 `json:"raw_allocs_per_message"`
	PipelineAllocs float64 `json:"pipeline_allocs_per_message"`
}

// Summarize sums up at least one round.
func Summarize(rounds []Round, s *Settings) *Summary {
	leg := func(side Side, value func(Leg) float64, digits int) float64 {
		return comparison.FiguresOf(rounds, func(r Round) float64 { return value(r.Legs[side]) }, digits).Median()
	}
	ratios := comparison.FiguresOf(rounds, Round.ratio, 3)
	out := &Summary{
		RawPerS: comparison.FiguresOf(rounds, Round.best, 0).Median(), PipelinePerS: leg(Pipeline, Leg.PerSecond, 0),
		Ratio: ratios.Median(), MinRatio: ratios.Min(), MaxRatio: ratios.Max(),
		AsyncPerS: leg(Async, Leg.PerSecond, 0), BatchPerS: leg(Batch, Leg.PerSecond, 0),
		Rounds: len(rounds), Messages: s.Load.Messages, AsyncInFlight: s.AsyncInFlight, BatchInFlight: s.BatchInFlight, Pending: s.Pending,
		RawCPU: leg(Batch, Leg.CPUMicros, 2), AsyncCPU: leg(Async, Leg.CPUMicros, 2), PipelineCPU: leg(Pipeline, Leg.CPUMicros, 2),
		RawAllocs: leg(Batch, Leg.AllocationsPerMessage, 1), PipelineAllocs: leg(Pipeline, Leg.AllocationsPerMessage, 1),
	}
	clientGo := 0
	for _, r := range rounds {
		out.RawFailed += r.Legs[Async].Failed + r.Legs[Batch].Failed
		out.PipelineFailed += r.Legs[Pipeline].Failed
		out.PipelineAgain += r.Legs[Pipeline].Again
		clientGo += r.Legs[ClientGo].Failed
	}
	if _, ok := rounds[0].Legs[ClientGo]; ok {
		perS, cpu := leg(ClientGo, Leg.PerSecond, 0), leg(ClientGo, Leg.CPUMicros, 2)
		out.ClientGoPerS, out.ClientGoCPU, out.ClientGoFailed = &perS, &cpu, &clientGo
	}
	return out
}

// best is the speed of the fastest raw program.
func (r Round) best() float64 {
	return max(r.Legs[Async].PerSecond(), r.Legs[Batch].PerSecond(), r.Legs[ClientGo].PerSecond())
}

// ratio is how fast the pipeline was, as a part of that.
func (r Round) ratio() float64 {
	if best := r.best(); best > 0 {
		return r.Legs[Pipeline].PerSecond() / best
	}
	return 0
}

// WriteTable writes each leg, for people.
func WriteTable(w io.Writer, what string, rounds []Round) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, what+"\tmessages/s\tratio\tfailed\tstored again\tCPU s/million\tallocs/msg\tbytes/msg\t")
	for i, r := range rounds {
		for _, side := range r.Order {
			l, ratio := r.Legs[side], ""
			if side == Pipeline {
				ratio = fmt.Sprintf("%.3f", r.ratio())
			}
			fmt.Fprintf(t, "%d %s\t%.0f\t%s\t%d\t%d\t%.2f\t%.1f\t%.0f\t\n", i+1, side, l.PerSecond(), ratio, l.Failed, l.Again,
				l.CPUMicros(), l.AllocationsPerMessage(), l.BytesPerMessage())
		}
	}
	return t.Flush()
}
