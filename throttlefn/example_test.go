// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn_test

import (
	"context"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/throttlefn"
)

func init() {
	register.Function2x2(callModel)
	register.Function1x1(tenant)
	register.Function1x1(message)
	throttlefn.RegisterPolicy[nightly]()
}

func callModel(_ context.Context, m coders.AckableMessage) (coders.AckableMessage, error) {
	return m, nil
}

// tenant is what stands before the first dash of a lite topic's name.
func tenant(m coders.AckableMessage) string {
	name, _, _ := strings.Cut(m.LiteTopic(), "-")
	return name
}

func message(e throttlefn.ValveEvent) coders.AckableMessage { return e.Message }

// Slow down tenants over quota, and acknowledge after the work.
func ExampleThrottle() {
	_, s := beam.NewPipelineWithRoot()
	msgs := litegrpcio.Read(s, "proxy:8081", "agent-bus", "beam-agents")
	groups := throttlefn.GroupByLiteTopic(s, msgs, throttlefn.GroupEvery(time.Second))
	fair := throttlefn.Throttle(s, groups, throttlefn.Quota{PerWindow: 10, Defer: 20 * time.Second},
		throttlefn.WorkWithin(10*time.Second), throttlefn.Credentials("env"))
	done := beam.ParDo(s, callModel, fair.Passed)
	ackfn.Ack(s, done, ackfn.Credentials("env"))
}

// What a valve lets through goes to a dead-letter topic, and is acknowledged when
// it is there.
func ExampleDivertValve() {
	_, s := beam.NewPipelineWithRoot()
	msgs := litegrpcio.Read(s, "proxy:8081", "agent-bus", "beam-agents")
	groups := throttlefn.GroupBy(s, msgs, tenant)
	fair := throttlefn.Throttle(s, groups, throttlefn.TokenBucket{PerSecond: 5, Burst: 20}, throttlefn.DivertValve(true))
	ackfn.Ack(s, beam.ParDo(s, callModel, fair.Passed))
	stored := beam.ParDo(s, callModel, beam.ParDo(s, message, fair.Valve)) // in place of callModel, a write
	ackfn.Ack(s, stored)
}

// nightly lets messages pass at night only. Its fields are exported, for they
// travel in the pipeline graph.
type nightly struct{ FromHour, ToHour int }

// Start returns the deciding function.
func (n nightly) Start() throttlefn.Decide {
	return func(_ coders.AckableMessage, at throttlefn.Position) throttlefn.Verdict {
		if hour := at.Now.UTC().Hour(); hour >= n.FromHour || hour < n.ToHour {
			return throttlefn.Pass()
		}
		return throttlefn.Defer(10 * time.Minute)
	}
}

// A policy of one's own.
func ExampleRegisterPolicy() {
	_, s := beam.NewPipelineWithRoot()
	msgs := litegrpcio.Read(s, "proxy:8081", "agent-bus", "beam-agents")
	groups := throttlefn.GroupByLiteTopic(s, msgs)
	throttlefn.Throttle(s, groups, nightly{FromHour: 22, ToHour: 6}, throttlefn.MaxTotalDelay(24*time.Hour))
}
