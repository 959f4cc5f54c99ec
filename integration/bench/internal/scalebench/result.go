// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scalebench

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
)

// Result is what was found on one server.
type Result struct {
	Machine
	// LoadAfter is the machine's load average of a minute when all was measured.
	LoadAfter float64 `json:"load_after"`
	Seconds   float64 `json:"seconds"`
	Pairs     int     `json:"pairs"`
	// Curves are by the name of the dimension.
	Curves map[string]*Curve `json:"curves"`
	// Skipped are reasons, by the name of the dimension.
	Skipped map[string]string `json:"skipped,omitempty"`
}

// Read reads what [comparison.Report.WriteJSON] wrote.
func Read(file string) (report comparison.Report[Result], err error) {
	line, err := os.ReadFile(file)
	if err != nil {
		return report, err
	}
	if err := json.Unmarshal(line, &report); err != nil {
		return report, fmt.Errorf("%s: %w", file, err)
	}
	for _, r := range []*Result{report.Real, report.Embedded} {
		for _, d := range Plan(1) {
			if r != nil && r.Curves[d.Name] != nil {
				r.Curves[d.Name].Dimension = d
			}
		}
	}
	return report, nil
}

// Curve is one dimension.
type Curve struct {
	Dimension Dimension  `json:"-"`
	Points    []Measured `json:"points"`
}

// Measured is one point: medians of its pairs, and the slowest and fastest run of
// each side.
type Measured struct {
	Value      int `json:"value"`
	LiteTopics int `json:"lite_topics"`
	Body       int `json:"body_bytes"`
	Polls      int `json:"polls"`
	comparison.Summary
	MinRawPerS      float64 `json:"min_raw_per_s"`
	MaxRawPerS      float64 `json:"max_raw_per_s"`
	MinPipelinePerS float64 `json:"min_pipeline_per_s"`
	MaxPipelinePerS float64 `json:"max_pipeline_per_s"`
}

func measured(p Point, pairs []comparison.Pair) Measured {
	raw := comparison.FiguresOf(pairs, func(p comparison.Pair) float64 { return p.Raw.PerSecond() }, 0)
	pipeline := comparison.FiguresOf(pairs, func(p comparison.Pair) float64 { return p.Pipeline.PerSecond() }, 0)
	return Measured{Value: p.Value, LiteTopics: p.Load.LiteTopics, Body: p.Load.Body, Polls: p.Load.Concurrency,
		Summary:    *comparison.Summarize(pairs),
		MinRawPerS: raw.Min(), MaxRawPerS: raw.Max(), MinPipelinePerS: pipeline.Min(), MaxPipelinePerS: pipeline.Max()}
}

// row are the columns of a point.
func (m Measured) row(d Dimension) []string {
	number := func(v float64) string { return fmt.Sprintf("%.0f", v) }
	bounds := func(low, high float64) string { return fmt.Sprintf("%.0f–%.0f", low, high) }
	return []string{d.label(m.Value), fmt.Sprint(m.Messages), fmt.Sprint(m.Pairs),
		number(m.RawPerS), bounds(m.MinRawPerS, m.MaxRawPerS), number(m.PipelinePerS), bounds(m.MinPipelinePerS, m.MaxPipelinePerS),
		fmt.Sprintf("%.2f", m.Ratio), fmt.Sprintf("%.2f–%.2f", m.MinRatio, m.MaxRatio),
		number(m.RawCPUMicros), number(m.PipelineCPUMicros)}
}

func (d Dimension) head() []string {
	return []string{d.Column, "messages", "pairs", "raw /s", "from–to", "pipeline /s", "from–to", "ratio", "from–to", "raw CPU µs", "pipeline CPU µs"}
}

// WriteTable writes a curve, for people.
func (c *Curve) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	writeCells(t, c.Dimension.head())
	for _, p := range c.Points {
		writeCells(t, p.row(c.Dimension))
	}
	return t.Flush()
}

func writeCells(w io.Writer, cells []string) {
	for _, cell := range cells {
		fmt.Fprint(w, cell, "\t")
	}
	fmt.Fprintln(w)
}
