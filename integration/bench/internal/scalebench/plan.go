// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scalebench measures how receiving and acknowledging messages of lite
// topics scales: at each point of a dimension the raw loop and the pipeline run
// in turn under the same load.
package scalebench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/litebench"
)

// Dimension is what grows along a curve.
type Dimension struct {
	// Name is that of the flag and of the file of the plot.
	Name string
	// Title and Axis are for people; Column heads the values in a table.
	Title, Axis, Column string
	// Flink runs the pipeline on Flink with a parallelism of the value.
	Flink  bool
	Points []Point
}

// Point is a load to measure.
type Point struct {
	// Value is where on its dimension the point lies.
	Value int
	Load  litebench.Load
}

// The names of the dimensions.
const (
	Fetch      = "fetch"
	LiteTopics = "lite-topics"
	Payload    = "payload"
	Flink      = "flink"
)

// base is the load at all points, but for the dimension's own value.
var base = litebench.Load{LiteTopics: 64, Body: 256, Concurrency: 4}

// Of so many lite topics fewer messages are measured, for each is made first.
const (
	manyLiteTopics = 1000
	mostOfMany     = 1000
)

// mostBytes is what the bodies of a leg may come to.
const mostBytes = 96 << 20

// Plan are the dimensions, with so many messages measured at each point, or less
// where bodies are large.
func Plan(messages int) []Dimension {
	return []Dimension{
		{Name: Fetch, Title: "Fetch concurrency", Axis: "polls under way", Column: "polls",
			Points: points(messages, []int{1, 2, 4, 8, 16}, func(l *litebench.Load, v int) { l.Concurrency = v })},
		{Name: LiteTopics, Title: "Lite topics", Axis: "lite topics with messages", Column: "lite topics",
			Points: points(messages, []int{1, 10, 100, 1000, 10_000}, func(l *litebench.Load, v int) { l.LiteTopics = v })},
		{Name: Payload, Title: "Payload", Axis: "bytes of a body", Column: "body",
			Points: points(messages, []int{64, 1 << 10, 16 << 10, 256 << 10, 1 << 20}, func(l *litebench.Load, v int) { l.Body = v })},
		{Name: Flink, Title: "Parallelism on Flink", Axis: "parallelism", Column: "parallelism", Flink: true,
			Points: points(messages, []int{1, 2, 4}, func(l *litebench.Load, v int) { l.Shards = v })},
	}
}

func points(messages int, values []int, set func(*litebench.Load, int)) []Point {
	var out []Point
	for _, v := range values {
		l := base
		set(&l, v)
		l.Measured = max(min(messages, mostBytes/max(l.Body, 1)), 1)
		if l.LiteTopics >= manyLiteTopics {
			l.Measured = min(l.Measured, mostOfMany)
		}
		l.Messages = max(l.Measured, l.LiteTopics) // so that none of the lite topics is empty
		out = append(out, Point{Value: v, Load: l})
	}
	return out
}

// Choose keeps the dimensions of these names; all of them if there are none.
func Choose(all []Dimension, names []string) ([]Dimension, error) {
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, d := range all {
		known = append(known, d.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("dimension %q: want some of %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(all, func(d Dimension) bool { return !slices.Contains(names, d.Name) }), nil
}

// label is a value as people write it.
func (d Dimension) label(value int) string {
	switch {
	case d.Name == Payload && value >= 1<<20:
		return fmt.Sprintf("%d MiB", value>>20)
	case d.Name == Payload && value >= 1<<10:
		return fmt.Sprintf("%d KiB", value>>10)
	case d.Name == Payload:
		return fmt.Sprintf("%d B", value)
	}
	return fmt.Sprint(value)
}
