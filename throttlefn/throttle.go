// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/typex"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

// Outputs are the PCollections that [Throttle] makes.
type Outputs struct {
	// Passed holds the messages to work on, as coders.AckableMessage. They are
	// not acknowledged, unless [AckPassed] is on.
	Passed beam.PCollection
	// Deferred holds a [Deferral] for each message that did not pass.
	Deferred beam.PCollection
	// Valve holds a [ValveEvent] for each message that the policy would have
	// deferred, but a valve let through. Unless [DivertValve] is on they are in
	// Passed as well, or in Deferred if the lease ended in between.
	Valve beam.PCollection
}

// Throttle asks the policy about each message of each group and has those
// delivered again later that it defers. groups is what [GroupByLiteTopic] or
// [GroupBy] makes.
//
// Two valves see to it that no message is deferred for ever (see
// [MaxDeliveryAttempt] and [MaxTotalDelay]). A message whose lease has ended
// before it got here does not pass, for it is delivered again (see
// [PassExpired]). A deferral that fails is tried once more; then the message is
// left to the end of its lease. A failure that no retry can help, such as wrong
// credentials, fails the bundle with an [ackfn.Error] that says what to check.
//
// A group is held in memory while it is decided about.
//
// It panics, while the pipeline is built, if groups has another type, the
// policy is not registered or refuses its values, or an option has a value out
// of range.
func Throttle(s beam.Scope, groups beam.PCollection, policy Policy, opts ...Option) Outputs {
	s = s.Scope("throttlefn.Throttle")
	settings, err := resolve(opts)
	if err != nil {
		panic(fmt.Sprintf("throttlefn.Throttle: %v", err))
	}
	encoded, err := encodePolicy(policy)
	if err != nil {
		panic(fmt.Sprintf("throttlefn.Throttle: %v", err))
	}
	if !groups.IsValid() {
		panic("throttlefn.Throttle: the input is no PCollection of this pipeline")
	}
	if !isGrouped(groups.Type()) {
		panic(fmt.Sprintf("throttlefn.Throttle: the input is of type %v: want the groups that throttlefn.GroupByLiteTopic or throttlefn.GroupBy makes", groups.Type()))
	}
	passed, deferred, valve := beam.ParDo3(s, &throttleFn{Settings: settings, Policy: encoded}, groups)
	return Outputs{Passed: passed, Deferred: deferred, Valve: valve}
}

func isGrouped(t beam.FullType) bool {
	if !typex.IsCoGBK(t) {
		return false
	}
	parts := t.Components()
	return len(parts) == 2 && parts[0].Type() == reflect.TypeFor[string]() && parts[1].Type() == reflect.TypeFor[coders.AckableMessage]()
}
