// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package stageoutput gives stages that may be the last of a pipeline an output that
// is shuffled. Prism of Beam 2.77 waits for a bundle of a stage without one by
// spinning: that takes a core from those who work.
package stageoutput

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.Function2x0(nothing)
	register.Function1x0(ignore)
	register.Emitter1[bool]()
}

// Add puts a shuffle behind col that nothing ever goes through, and returns col.
func Add(s beam.Scope, col beam.PCollection) beam.PCollection {
	s = s.Scope("stage output")
	beam.ParDo0(s, ignore, beam.Reshuffle(s, beam.ParDo(s, nothing, col)))
	return col
}

func nothing(beam.T, func(bool)) {}

func ignore(bool) {}
