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
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
)

// B23: from the source to the ack. The noisy lite topic comes in rounds, the calm
// ones at once; each message passes once and is acked, and comes again only when
// it was deferred. How many rounds it takes depends on where windows end.
func TestFromTheSourceToTheAck(t *testing.T) {
	b := newBus(t)
	noisy := b.publish("noisy", 12)
	calm := append(b.publish("calm-1", 2), b.publish("calm-2", 2)...)
	p, s := beam.NewPipelineWithRoot()
	msgs := litegrpcio.Read(s, b.Endpoints(), testTopic, testGroup,
		litegrpcio.ReadIdleTimeout(5*time.Second), litegrpcio.ReadAwaitDuration(5*time.Second))
	groups := GroupByLiteTopic(s, msgs, GroupEvery(200*time.Millisecond))
	out := Throttle(s, groups, Quota{PerWindow: 4, Defer: 2 * time.Second}, WorkWithin(time.Second))
	results := ackfn.Ack(s, out.Passed)
	passert.EqualsList(s, global(s, beam.ParDo(s, idOf, out.Passed)), append(append([]string{}, noisy...), calm...))
	passert.Count(s, global(s, results), "acked", 16)
	if err := ptest.Run(p); err != nil {
		t.Fatal(err)
	}
	b.wantAcked(true, append(noisy, calm...)...)
	for i, id := range noisy {
		m, _ := b.Message(id)
		if len(m.Deliveries) != 1+len(m.Deferrals) || m.StaleAcks > 0 || m.Attempt > 2 {
			t.Errorf("noisy %d: %d deliveries, %d deferrals, %d stale acks, attempt %d; want one delivery more than deferrals, no stale acks, attempt 1 or 2",
				i, len(m.Deliveries), len(m.Deferrals), m.StaleAcks, m.Attempt)
		}
	}
	if m, _ := b.Message(noisy[11]); len(m.Deferrals) == 0 {
		t.Error("the last noisy message was never deferred")
	}
	for _, id := range calm {
		if m, _ := b.Message(id); len(m.Deliveries) != 1 {
			t.Errorf("calm %s: %d deliveries, want 1", id, len(m.Deliveries))
		}
	}
}

// A deferral that is shorter than the work on what passed: were it suspended,
// the broker would deliver everything again at its end, the ack of the first
// message would be for an earlier delivery and do nothing, and so on for ever.
func TestADeferralShorterThanTheWorkDoesNotUndoIt(t *testing.T) {
	clock := embedded.NewClock(time.Now().Truncate(time.Millisecond))
	b := newBus(t, embedded.WithClock(clock))
	ids := b.publish("noisy", 3)
	msgs := b.receive(3)
	counters := run(t, msgs, Quota{PerWindow: 1, Defer: 20 * time.Second}, func(beam.Scope, Outputs) {})
	wantCounters(t, counters, map[string]int64{"passed": 1, "deferred": 2, "deferred_unsuspended": 2})
	clock.Advance(30 * time.Second) // the work
	client, err := ackfn.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Ack(t.Context(), msgs[0].Handle); err != nil {
		t.Fatal(err)
	}
	if m, _ := b.Message(ids[0]); !m.Acked() || len(m.Deliveries) != 1 {
		t.Errorf("acked %v, %d deliveries; want acked at the first", m.Acked(), len(m.Deliveries))
	}
	again := b.receive(2)
	if again[0].Handle.MessageID != ids[1] || again[1].Handle.MessageID != ids[2] {
		t.Errorf("delivered %v and %v, want the other two", again[0].Handle, again[1].Handle)
	}
}
