// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"math"
	"slices"
)

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

// Round rounds to so many digits behind the point.
func Round(v float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(v*scale) / scale
}

// Figures are rounded values of one kind, one a repetition.
type Figures struct {
	values []float64
	digits int
}

// FiguresOf takes a figure from each repetition.
func FiguresOf[R any](repetitions []R, value func(R) float64, digits int) Figures {
	f := Figures{digits: digits}
	for _, r := range repetitions {
		f.values = append(f.values, value(r))
	}
	return f
}

// Median is their median.
func (f Figures) Median() float64 { return Round(Median(f.values), f.digits) }

// Min is the smallest of at least one.
func (f Figures) Min() float64 { return Round(slices.Min(f.values), f.digits) }

// Max is the largest of at least one.
func (f Figures) Max() float64 { return Round(slices.Max(f.values), f.digits) }
