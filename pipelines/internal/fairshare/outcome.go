// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package fairshare

import (
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/throttlefn"
)

func init() {
	beam.RegisterDoFn(&ackedFn{})
	register.Function1x0((&ackedFn{}).ProcessElement)
	beam.RegisterDoFn(&deferredFn{})
	register.Function1x0((&deferredFn{}).ProcessElement)
	beam.RegisterDoFn(&valveFn{})
	register.Function1x0((&valveFn{}).ProcessElement)
}

// ackedFn notes what the broker said to each acknowledgement.
type ackedFn struct{ member }

// ProcessElement takes one result.
func (fn *ackedFn) ProcessElement(r ackfn.Result) {
	if r.Outcome == ackfn.Acked {
		fn.leg.books.Ack(r.Handle.MessageID, time.Now())
		return
	}
	fn.leg.books.Expire(r.Handle.MessageID)
}

// deferredFn notes what the policy put off.
type deferredFn struct{ member }

// ProcessElement takes one deferral.
func (fn *deferredFn) ProcessElement(d throttlefn.Deferral) {
	if d.Outcome == ackfn.Deferred {
		fn.leg.books.Defer(d.Handle.MessageID)
		return
	}
	fn.leg.books.Expire(d.Handle.MessageID)
}

// valveFn notes what a safety valve let pass.
type valveFn struct{ member }

// ProcessElement takes one message over quota that was let pass.
func (fn *valveFn) ProcessElement(v throttlefn.ValveEvent) {
	fn.leg.books.Valve(v.Message.Handle.MessageID)
}
