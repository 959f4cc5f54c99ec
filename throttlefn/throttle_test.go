// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
)

func TestTheNoisyLiteTopicIsDeferredAndTheOthersPass(t *testing.T) {
	b := newBus(t)
	noisy, calm := b.publish("noisy", 10), b.publish("calm", 2)
	p, s := beam.NewPipelineWithRoot()
	groups := GroupByLiteTopic(s, beam.CreateList(s, b.receive(12)))
	out := Throttle(s, groups, Quota{PerWindow: 3, Defer: 20 * time.Second})
	passert.Count(s, global(s, out.Passed), "passed", 5)
	passert.Count(s, global(s, out.Deferred), "deferred", 7)
	passert.Empty(s, global(s, out.Valve))
	passert.Count(s, global(s, ackfn.Ack(s, out.Passed)), "acked", 5)
	if err := ptest.Run(p); err != nil {
		t.Fatal(err)
	}
	for _, id := range append(calm, noisy[:3]...) {
		if m, _ := b.Message(id); !m.Acked() {
			t.Errorf("%s is not acked", id)
		}
	}
	for _, id := range noisy[3:] {
		m, _ := b.Message(id)
		if m.Acked() || len(m.Deferrals) != 1 {
			t.Errorf("%s: acked %v, %d deferrals; want deferred once", id, m.Acked(), len(m.Deferrals))
		}
	}
}
