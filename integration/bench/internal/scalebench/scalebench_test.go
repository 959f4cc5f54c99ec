// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scalebench

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
)

func TestThePlanKeepsToWhatALegMayHold(t *testing.T) {
	names := map[string]bool{}
	for _, d := range Plan(2000) {
		for _, p := range d.Points {
			l := p.Load
			if bytes := l.Measured * l.Body; l.Measured < 1 || l.Measured > 2000 || bytes > mostBytes {
				t.Errorf("%s %d: %d messages of %d bytes are measured", d.Name, p.Value, l.Measured, l.Body)
			}
			if l.Messages < l.LiteTopics || l.Messages < l.Measured {
				t.Errorf("%s %d: %d messages for %d lite topics, %d measured", d.Name, p.Value, l.Messages, l.LiteTopics, l.Measured)
			}
		}
	}
	r := &Run{Dimensions: Plan(2000), Pairs: 3}
	for _, leg := range r.Legs() {
		if names[leg] {
			t.Errorf("two legs are called %s", leg)
		}
		names[leg] = true
	}
	if want := 1 + (5+5+5+3)*3*2; len(names) != want {
		t.Errorf("got %d legs, want %d", len(names), want)
	}
}

// curve has three pairs at each point, the pipeline with half the raw speed.
func curve(d Dimension) *Curve {
	c := &Curve{Dimension: d}
	for _, p := range d.Points {
		var pairs []comparison.Pair
		for _, ms := range []time.Duration{100, 200, 400} {
			run := func(took time.Duration) comparison.Run {
				return comparison.Run{Messages: 1000, Elapsed: took * time.Millisecond, CPU: 20 * time.Millisecond}
			}
			pairs = append(pairs, comparison.Pair{Raw: run(ms), Pipeline: run(2 * ms)})
		}
		c.Points = append(c.Points, measured(p, pairs))
	}
	return c
}

func TestAPointHasTheMediansAndBoundsOfItsPairs(t *testing.T) {
	m := curve(Plan(1000)[0]).Points[2]
	got := []float64{float64(m.Value), m.RawPerS, m.MinRawPerS, m.MaxRawPerS, m.PipelinePerS, m.MinPipelinePerS, m.MaxPipelinePerS, m.Ratio}
	if d := cmp.Diff([]float64{4, 5000, 2500, 10000, 2500, 1250, 5000, 0.5}, got); d != "" {
		t.Errorf("point (-want +got):\n%s", d)
	}
	var fields map[string]any
	line, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line, &fields); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"value", "polls", "body_bytes", "lite_topics", "raw_per_s", "pipeline_per_s", "ratio", "pipeline_cpu_us_per_message"} {
		if _, ok := fields[key]; !ok {
			t.Errorf("the JSON of a point has no %s: %s", key, line)
		}
	}
}

func TestThePageKeepsWhatStandsAroundItsMarks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(file, []byte("# Title\n"+pageBegin+"old\n"+pageEnd+"The end.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	plan := Plan(1000)
	r := &Result{Pairs: 3, Curves: map[string]*Curve{Payload: curve(plan[2])}, Skipped: map[string]string{Flink: "no Java"}}
	for range 2 { // the second time nothing grows
		if err := r.WritePage(file, plan, "embedded"); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	if !strings.HasPrefix(got, "# Title\n"+pageBegin) || !strings.HasSuffix(got, pageEnd+"The end.\n") || strings.Contains(got, "old") {
		t.Errorf("got\n%s", got)
	}
	for _, want := range []string{"| 256 KiB | 1000 | 3 | 5000 | 2500–10000 | 2500 | 1250–5000 | 0.50 | 0.50–0.50 | 20 | 20 |\n", "Not measured, or not to the end: no Java"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("got\n%s\nwant once %q", got, want)
		}
	}
}

func TestThereIsAPlotForEachCurveThatWasMeasured(t *testing.T) {
	folder := t.TempDir()
	plan := Plan(1000)
	flat := curve(plan[0])
	steep := curve(plan[1])
	steep.Points[4].PipelinePerS, steep.Points[4].MinPipelinePerS = 10, 5
	r := &Result{Curves: map[string]*Curve{Fetch: flat, LiteTopics: steep, Payload: {Dimension: plan[2]}}}
	if err := r.Plot(folder); err != nil {
		t.Fatal(err)
	}
	for name, label := range map[string]string{"scale-fetch.svg": ">8000<", "scale-lite-topics.svg": ">10000<"} {
		svg, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !bytes.Contains(svg, []byte(label)) || !bytes.Contains(svg, []byte("raw loop")) {
			t.Errorf("%s: %v, want a picture with the mark %s and the legend", name, err, label)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "scale-payload.svg")); err == nil {
		t.Error("a curve without points was drawn")
	}
}

func TestNamesOfDimensionsAreChecked(t *testing.T) {
	got, err := Choose(Plan(10), []string{Flink, Fetch})
	if err != nil || len(got) != 2 || got[0].Name != Fetch || got[1].Name != Flink {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := Choose(Plan(10), []string{"fetches"}); err == nil || !strings.Contains(err.Error(), "fetches") {
		t.Errorf("got %v, want an error that names what is unknown", err)
	}
}
