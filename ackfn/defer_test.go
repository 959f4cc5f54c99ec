// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"context"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// L09, X24, L30: three changes in a row, each with the handle of the one before;
// each handle differs, the broker's deadline is that of the third, and the last
// handle acks the message, so that nothing comes again (L03).
func TestChangesChainTheirHandles(t *testing.T) {
	clock := embedded.NewClock(time.Now().Truncate(time.Millisecond))
	b := newBus(t, embedded.WithClock(clock))
	ids := b.publish(10, 1)
	msgs := b.receive(10)
	h := msgs[4].Handle
	c, _ := client(t)
	seen := map[string]bool{h.Handle: true}
	for _, d := range []time.Duration{20 * time.Second, 40 * time.Second, 90 * time.Second} {
		clock.Advance(time.Second)
		r, err := c.ChangeInvisibleDuration(t.Context(), h, d)
		if err != nil || r.Outcome != Deferred {
			t.Fatalf("%v, %v", r.Outcome, err)
		}
		if seen[r.Handle.Handle] {
			t.Error("a handle came twice")
		}
		seen[r.Handle.Handle] = true
		h = r.Handle
	}
	m, _ := b.Message(ids[4])
	if until := m.InvisibleUntil.Sub(clock.Now()); until != 90*time.Second {
		t.Errorf("the broker holds it for %v, want 90s", until)
	}
	if got := time.Until(h.InvisibleUntil); got < 85*time.Second || got > 90*time.Second {
		t.Errorf("the handle's lease lasts %v, want 90s", got)
	}
	msgs[4].Handle = h
	results, err := c.Ack(t.Context(), handlesOf(msgs)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Outcome != Acked {
			t.Errorf("%v: %v", r.Handle, r.Outcome)
		}
	}
	b.wantAcked(ids...)
	if n := b.Pending(testTopic); n != 0 {
		t.Errorf("%d messages are pending, want none", n)
	}
}

// L03, the other way round: the handle from before the change, once its own time
// is over, is reported as expired and never as acked.
func TestTheHandleFromBeforeAChangeExpires(t *testing.T) {
	clock := embedded.NewClock(time.Now().Truncate(time.Millisecond))
	b := newBus(t, embedded.WithClock(clock))
	id := b.publish(1, 1)[0]
	old := b.receive(1)[0].Handle
	c, _ := client(t)
	if _, err := c.ChangeInvisibleDuration(t.Context(), old, 5*time.Minute); err != nil {
		t.Fatal(err)
	}
	clock.Advance(2 * time.Minute)
	results, err := c.Ack(t.Context(), old)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcomes(t, results, Expired)
	if m, _ := b.Message(id); m.Acked() {
		t.Error("the old handle acked it")
	}
}

// L27: a change that failed once is asked for again with the same handle.
func TestAFailedChangeIsRetriedWithTheSameHandle(t *testing.T) {
	b := newBus(t)
	id := b.publish(1, 1)[0]
	h := b.receive(1)[0].Handle
	var asked []string
	b.ControlAlways(embedded.ChangeInvisibleDuration, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		asked = append(asked, r.Change().GetReceiptHandle())
		return embedded.Pass()
	})
	b.Control(embedded.ChangeInvisibleDuration, unavailable)
	c, _ := client(t)
	r, err := c.ChangeInvisibleDuration(t.Context(), h, 20*time.Second)
	if err != nil || r.Outcome != Deferred || r.Handle.Handle == h.Handle {
		t.Errorf("%v, %v, handle changed: %v", r.Outcome, err, r.Handle.Handle != h.Handle)
	}
	if len(asked) != 2 || asked[0] != asked[1] || asked[0] != h.Handle {
		t.Errorf("asked with %v, want twice with the handle received", asked)
	}
	if m, _ := b.Message(id); len(m.Deferrals) != 1 {
		t.Errorf("%d deferrals, want 1", len(m.Deferrals))
	}
}

// X16, L11: with suspend the attempt stays, without it grows.
func TestSuspendBurnsNoAttempts(t *testing.T) {
	for _, suspend := range []bool{true, false} {
		clock := embedded.NewClock(time.Now().Truncate(time.Millisecond))
		b := newBus(t, embedded.WithClock(clock), embedded.WithMaxDeliveryAttempts(100))
		b.publish(1, 1)
		c, _ := client(t)
		var last coders.AckableMessage
		for range 20 {
			last = b.receive(1)[0]
			if _, err := c.Defer(t.Context(), Deferral{Handle: last.Handle, For: 2 * time.Second, Suspend: suspend}); err != nil {
				t.Fatal(err)
			}
			clock.Advance(3 * time.Second)
		}
		got := last.Handle.DeliveryAttempt
		if suspend && got > 2 || !suspend && got != 20 {
			t.Errorf("suspend %v: attempt %d after 20 deliveries", suspend, got)
		}
	}
}

// Y41: a thousand deferrals are a thousand requests, never more than allowed at
// a time.
func TestDeferralsAreBoundedInParallel(t *testing.T) {
	b := newBus(t)
	b.publish(1000, 1000)
	msgs := b.receive(1000)
	gauge := newGauge()
	b.ControlAlways(embedded.ChangeInvisibleDuration, gauge.control)
	deferrals := make([]Deferral, len(msgs))
	for i, m := range msgs {
		deferrals[i] = Deferral{Handle: m.Handle, For: time.Minute + time.Duration(i)*time.Second, Suspend: true}
	}
	c, _ := client(t, MaxInFlight(8))
	results, err := c.Defer(t.Context(), deferrals...)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r.Outcome != Deferred || r.Handle.MessageID != msgs[i].Handle.MessageID {
			t.Fatalf("result %d: %v of %v", i, r.Outcome, r.Handle)
		}
	}
	if n := b.Requests(embedded.ChangeInvisibleDuration); n != 1000 || gauge.most() > 8 || gauge.most() < 2 {
		t.Errorf("%d requests, at most %d at a time; want 1000, 2 to 8", n, gauge.most())
	}
}

func TestADeferralOutOfRangeFailsWithoutARequest(t *testing.T) {
	b := newBus(t)
	b.publish(1, 1)
	h := b.receive(1)[0].Handle
	c, _ := client(t)
	for _, d := range []time.Duration{0, -time.Second, MaxDeferral + 1} {
		if _, err := c.ChangeInvisibleDuration(t.Context(), h, d); err == nil {
			t.Errorf("%v was taken", d)
		}
	}
	if n := b.Requests(embedded.ChangeInvisibleDuration); n != 0 {
		t.Errorf("%d requests", n)
	}
}
