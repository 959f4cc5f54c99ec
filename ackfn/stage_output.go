// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.Function2x0(noResult)
	register.Function1x0(ignore)
	register.Emitter1[bool]()
}

// withOutput puts a shuffle behind the results that nothing ever goes through.
// An ack is mostly the last step, and prism of Beam 2.77 waits for a stage
// without any output by spinning: it used more of a core than source and ack
// together, also while there was nothing to do.
func withOutput(s beam.Scope, results beam.PCollection) beam.PCollection {
	s = s.Scope("stage output")
	beam.ParDo0(s, ignore, beam.Reshuffle(s, beam.ParDo(s, noResult, results)))
	return results
}

func noResult(Result, func(bool)) {}

func ignore(bool) {}
