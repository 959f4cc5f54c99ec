// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/userfunc"
)

func init() { RegisterPolicy[deferWhile]() }

// DeferWhile defers a message by d for as long as holds says so of it; it is
// asked at each delivery. holds must be a named function, registered with Beam
// (register.Function1x1), and safe for concurrent use.
func DeferWhile(holds func(coders.AckableMessage) bool, d time.Duration) Policy {
	p := deferWhile{Defer: d}
	if holds != nil {
		p.Holds.Fn = reflectx.MakeFunc(holds)
	}
	return p
}

type deferWhile struct {
	Holds beam.EncodedFunc
	Defer time.Duration
}

// Check refuses a function that does not travel, and a delay out of range.
func (p deferWhile) Check() error {
	if err := userfunc.Check("DeferWhile: holds", p.Holds.Fn); err != nil {
		return err
	}
	return checkDefer("DeferWhile: delay", p.Defer)
}

// Start returns the deciding function.
func (p deferWhile) Start() Decide {
	holds := reflectx.ToFunc1x1(p.Holds.Fn)
	return func(m coders.AckableMessage, _ Position) Verdict {
		if holds.Call1x1(m).(bool) {
			return Defer(p.Defer)
		}
		return Pass()
	}
}
