// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package fairshare

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/load"
)

func init() {
	beam.RegisterDoFn(&arriveFn{})
	register.Function3x0((&arriveFn{}).ProcessElement)
	beam.RegisterDoFn(&ungroupFn{})
	register.Function3x0((&ungroupFn{}).ProcessElement)
	register.Emitter1[coders.AckableMessage]()
	register.Iter1[coders.AckableMessage]()
	register.Function1x1(tenant)
}

// arriveFn notes each delivery and tells the messages of this leg from those
// that earlier runs left in the topic.
type arriveFn struct{ member }

// ProcessElement takes one delivery.
func (fn *arriveFn) ProcessElement(m coders.AckableMessage, own, foreign func(coders.AckableMessage)) {
	if fn.leg.books.Deliver(m.Handle.MessageID) {
		own(m)
		return
	}
	foreign(m)
}

// tenant is the key of the groups.
func tenant(m coders.AckableMessage) string { return load.Tenant(m.LiteTopic()) }

// ungroupFn stands where the other leg has its policy.
type ungroupFn struct{}

// ProcessElement lets everything pass.
func (*ungroupFn) ProcessElement(_ string, msgs func(*coders.AckableMessage) bool, emit func(coders.AckableMessage)) {
	var m coders.AckableMessage
	for msgs(&m) {
		emit(m)
	}
}
