// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   float64
	}{
		{"nothing has no middle", nil, 0},
		{"one value is its own middle", []float64{7}, 7},
		{"the middle of an odd number, in any order", []float64{9, 1, 5}, 5},
		{"the mean of the two middle ones of an even number", []float64{8, 1, 2, 4}, 3},
		{"one outlier does not move it", []float64{1, 2, 1000}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			given := append([]float64(nil), c.values...)
			if got := Median(c.values); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if d := cmp.Diff(given, c.values); d != "" {
				t.Errorf("the values were changed: %s", d)
			}
		})
	}
}

func TestTheOrderOfSidesChangesFromPairToPair(t *testing.T) {
	var got []string
	pairs, err := Alternate(3, func(pair int, side Side) (Run, error) {
		got = append(got, fmt.Sprint(pair, " ", side))
		return Run{Messages: 100 * (int(side) + 1), Elapsed: time.Second}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"0 raw", "0 pipeline", "1 pipeline", "1 raw", "2 raw", "2 pipeline"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("order of runs (-want +got):\n%s", d)
	}
	for i, p := range pairs {
		if p.Raw.Messages != 100 || p.Pipeline.Messages != 200 || p.First != Order(i)[0] {
			t.Errorf("pair %d: the sides were mixed up: %+v", i, p)
		}
	}
}

func TestAFailedRunEndsTheComparison(t *testing.T) {
	cause := errors.New("lost a message")
	runs := 0
	_, err := Alternate(3, func(int, Side) (Run, error) {
		runs++
		if runs == 2 {
			return Run{}, cause
		}
		return Run{}, nil
	})
	if !errors.Is(err, cause) || runs != 2 {
		t.Errorf("got %v after %d runs, want the cause after 2", err, runs)
	}
}

// pair has 1000 messages on each side, in the given milliseconds.
func pair(raw, pipeline int) Pair {
	run := func(ms int) Run {
		return Run{Messages: 1000, Elapsed: time.Duration(ms) * time.Millisecond, CPU: 20 * time.Millisecond, Allocations: 45_000}
	}
	return Pair{Raw: run(raw), Pipeline: run(pipeline)}
}

func TestTheRatioIsTheMedianOfThePairsRatios(t *testing.T) {
	got := Summarize([]Pair{pair(100, 200), pair(500, 1000), pair(1000, 500)})
	want := &Summary{
		RawPerS: 2000, PipelinePerS: 2000, // their quotient would be 1
		Ratio: 0.5, MinRatio: 0.5, MaxRatio: 2, Pairs: 3, Messages: 1000,
		RawCPUMicros: 20, PipelineCPUMicros: 20, RawAllocs: 45, PipelineAllocs: 45,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("summary (-want +got):\n%s", d)
	}
}

// Others read the last line of the output; its shape must not change by
// accident.
func TestTheReportIsOneLineOfJSON(t *testing.T) {
	var out bytes.Buffer
	if err := (Report[Summary]{Embedded: Summarize([]Pair{pair(500, 1000)})}).WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	want := `{"real":null,"embedded":{"raw_per_s":2000,"pipeline_per_s":1000,"ratio":0.5,"min_ratio":0.5,"max_ratio":0.5,` +
		`"pairs":1,"messages":1000,"raw_cpu_us_per_message":20,"pipeline_cpu_us_per_message":20,` +
		`"raw_allocs_per_message":45,"pipeline_allocs_per_message":45}}` + "\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("report (-want +got):\n%s", d)
	}
}

func TestTheTableHasALineForEachRunInTheOrderOfRunning(t *testing.T) {
	var out bytes.Buffer
	if err := WriteTable(&out, "embedded", []Pair{pair(500, 1000), pair(500, 1000)}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var got []string
	for _, l := range lines[1:] {
		got = append(got, strings.Join(strings.Fields(l)[:3], " "))
	}
	want := []string{"1 raw 2000", "1 pipeline 1000", "2 pipeline 1000", "2 raw 2000"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("lines (-want +got):\n%s", d)
	}
}
