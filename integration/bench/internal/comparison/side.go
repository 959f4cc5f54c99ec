// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package comparison alternates two programs that do the same work and sums up
// how their speeds compare.
//
// A shared machine is never equally fast for long. Two programs are therefore
// compared in pairs of runs, one right after the other, in an order that changes
// from pair to pair; what counts is the median of the pairs' ratios, not the
// ratio of two numbers taken at different times.
package comparison

// Side is one of the two programs that are compared.
type Side int

const (
	// Raw is the least program that does the work.
	Raw Side = iota
	// Pipeline is the whole Beam pipeline.
	Pipeline
)

// String is the side's name in lower case.
func (s Side) String() string {
	if s == Pipeline {
		return "pipeline"
	}
	return "raw"
}

// Order is the order of the two sides in a pair, counted from 0. It changes from
// pair to pair, so that what drifts (a JVM that warms up, a log that grows)
// favours neither.
func Order(pair int) [2]Side {
	if pair%2 == 0 {
		return [2]Side{Raw, Pipeline}
	}
	return [2]Side{Pipeline, Raw}
}
