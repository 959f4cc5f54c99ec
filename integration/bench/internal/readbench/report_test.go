// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package readbench

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
)

// round has 1000 messages for each program, in the given milliseconds.
func round(i int, raw, pipeline, limit int) Round {
	leg := func(side Side, ms int) Leg {
		return Leg{Side: side, Start: 300 * time.Millisecond, Run: comparison.Run{Messages: 1000, Elapsed: time.Duration(ms) * time.Millisecond,
			CPU: 20 * time.Millisecond, Allocations: 4500, Calls: 10}}
	}
	return Round{Order: (&Comparison{}).order(i), Legs: map[Side]Leg{Raw: leg(Raw, raw), Pipeline: leg(Pipeline, pipeline), Limit: leg(Limit, limit)}}
}

func TestRatiosAreMediansOfTheRoundsRatios(t *testing.T) {
	got := Summarize([]Round{round(0, 100, 200, 50), round(1, 500, 1000, 250), round(2, 1000, 500, 2000)})
	want := &Summary{
		RawPerS: 2000, PipelinePerS: 2000, PrismLimitPerS: 4000, // their quotient would be 1
		Ratio: 0.5, MinRatio: 0.5, MaxRatio: 2, RatioToLimit: 0.5, Rounds: 3, Messages: 1000,
		RawCPU: 20, PipelineCPU: 20, PrismLimitCPU: 20, RawAllocs: 4.5, PipelineAllocs: 4.5, PipelineStart: 0.3, PerBundle: 100,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("summary (-want +got):\n%s", d)
	}
}

func TestWhatPrismCannotDoIsNotAskedOfThePipeline(t *testing.T) {
	got := Summarize([]Round{round(0, 100, 400, 400)})
	if got.Ratio != 0.25 || got.RatioToLimit != 1 {
		t.Errorf("got ratio %v and %v to the limit, want 0.25 and 1", got.Ratio, got.RatioToLimit)
	}
}

// Others read the last line of the output; its keys must not change by accident.
func TestTheReportIsOneLineOfJSON(t *testing.T) {
	r := round(0, 100, 200, 50)
	r.Legs[ClientGo] = Leg{Run: comparison.Run{Messages: 1000, Elapsed: 125 * time.Millisecond, CPU: 30 * time.Millisecond}}
	var out bytes.Buffer
	if err := (Report{Real: &map[string]*Summary{"1000": Summarize([]Round{r})}}).WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	if bytes.Count(out.Bytes(), []byte("\n")) != 1 {
		t.Errorf("got more than one line:\n%s", &out)
	}
	var got map[string]map[string]map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"raw_per_s": 10000., "pipeline_per_s": 5000., "ratio": 0.5, "client_go_per_s": 8000., "prism_limit_per_s": 20000.,
		"raw_cpu_s_per_million": 20., "pipeline_cpu_s_per_million": 20., "client_go_cpu_s_per_million": 30.}
	for key, v := range want {
		if got["real"]["1000"][key] != v {
			t.Errorf("%s: got %v, want %v", key, got["real"]["1000"][key], v)
		}
	}
	if got["embedded"] != nil {
		t.Errorf("a server that was not measured is %v, want null", got["embedded"])
	}
}

func TestThePipelineAlwaysRunsBesideTheRawLoop(t *testing.T) {
	c := &Comparison{ClientGo: &ClientGoProgram{}}
	for i, want := range [][]Side{{ClientGo, Raw, Pipeline, Limit}, {Limit, Pipeline, Raw, ClientGo}, {ClientGo, Raw, Pipeline, Limit}} {
		if d := cmp.Diff(want, c.order(i)); d != "" {
			t.Errorf("round %d (-want +got):\n%s", i, d)
		}
	}
	if d := cmp.Diff([]Side{Raw, Pipeline, Limit}, (&Comparison{}).order(0)); d != "" {
		t.Errorf("without client-go (-want +got):\n%s", d)
	}
}
