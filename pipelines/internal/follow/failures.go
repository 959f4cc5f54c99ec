// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

func init() {
	beam.RegisterDoFn(&failuresFn{})
	register.Function2x0((&failuresFn{}).ProcessElement)
}

// Failures warns of the first message that could not be written, where that is
// counted and no error: the figures do not tell why.
func Failures(s beam.Scope, results beam.PCollection) {
	beam.ParDo0(s.Scope("failures"), &failuresFn{}, results)
}

type failuresFn struct{ told bool }

// ProcessElement takes what became of a message.
func (fn *failuresFn) ProcessElement(ctx context.Context, r rocketmqio.WriteResult) {
	if r.OK() || fn.told {
		return
	}
	fn.told = true
	log.Warnf(ctx, "a message with keys %q could not be written to topic %q, and maybe others: %s", r.Keys, r.Topic, r.Error)
}
