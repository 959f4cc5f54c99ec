// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func init() {
	register.Function1x1(tenantOf)
	register.Function1x1(idOf)
	register.Function1x1(describe)
	register.Function1x1(reasonOf)
	register.Function1x1(messageOf)
	register.Function1x1(handleOf)
	register.Function1x2(failing)
}

func tenantOf(m coders.AckableMessage) string {
	tenant, _, _ := strings.Cut(m.LiteTopic(), "-")
	return tenant
}
func idOf(m coders.AckableMessage) string          { return m.Handle.MessageID }
func describe(d Deferral) string                   { return d.Handle.MessageID + " " + d.Outcome.String() }
func reasonOf(e ValveEvent) string                 { return string(e.Reason) }
func messageOf(e ValveEvent) coders.AckableMessage { return e.Message }
func handleOf(d Deferral) coders.ReceiptHandle     { return d.Handle }

func failing(m coders.AckableMessage) (coders.AckableMessage, error) {
	return m, errors.New("the work failed")
}

// run runs a pipeline whose throttle gets the messages in one group a lite topic.
func run(t *testing.T, msgs []coders.AckableMessage, p Policy, check func(beam.Scope, Outputs), opts ...Option) map[string]int64 {
	t.Helper()
	pipeline, s := beam.NewPipelineWithRoot()
	check(s, Throttle(s, GroupByLiteTopic(s, beam.CreateList(s, msgs)), p, opts...))
	res, err := ptest.RunWithMetrics(pipeline)
	if err != nil {
		t.Fatal(err)
	}
	counters := map[string]int64{}
	for _, c := range res.Metrics().AllMetrics().Counters() {
		if c.Key.Namespace == metricsNamespace {
			counters[c.Key.Name] += c.Result()
		}
	}
	return counters
}

func wantCounters(t *testing.T, got, want map[string]int64) {
	t.Helper()
	for name, n := range want {
		if got[name] != n {
			t.Errorf("counter %s is %d, want %d", name, got[name], n)
		}
	}
}

// B23: deferring is decided a message, blocks nobody, and acking is done by Ack
// alone.
func TestTheNoisyLiteTopicIsDeferredAndTheOthersPass(t *testing.T) {
	b := newBus(t)
	noisy, calm := b.publish("noisy", 10), b.publish("calm", 2)
	counters := run(t, b.receive(12), Quota{PerWindow: 3, Defer: 20 * time.Second}, func(s beam.Scope, out Outputs) {
		passert.EqualsList(s, global(s, beam.ParDo(s, idOf, out.Passed)), append(append([]string{}, calm...), noisy[:3]...))
		passert.EqualsList(s, global(s, beam.ParDo(s, describe, out.Deferred)), each(noisy[3:], " deferred"))
		passert.Empty(s, global(s, out.Valve))
		passert.Count(s, global(s, ackfn.Ack(s, out.Passed)), "acked", 5)
	})
	wantCounters(t, counters, map[string]int64{"passed": 5, "deferred": 7, "valve_passed": 0, "expired": 0, "defer_failed": 0})
	b.wantAcked(true, append(calm, noisy[:3]...)...)
	b.wantAcked(false, noisy[3:]...)
	for _, id := range noisy[3:] {
		if m, _ := b.Message(id); len(m.Deferrals) != 1 || m.Deferrals[0].Duration > 20*time.Second || m.Deferrals[0].Duration < 18*time.Second {
			t.Errorf("%s: deferrals %+v; want one of 20s", id, m.Deferrals)
		}
	}
}

func each(ids []string, suffix string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id + suffix
	}
	return out
}

func (b *bus) wantAcked(acked bool, ids ...string) {
	b.t.Helper()
	for _, id := range ids {
		if m, _ := b.Message(id); m.Acked() != acked {
			b.t.Errorf("%s: acked %v, want %v", id, m.Acked(), acked)
		}
	}
}

func TestGroupByAKeyOfTheUsersOwn(t *testing.T) {
	b := newBus(t)
	b.publish("t1-a", 3)
	b.publish("t1-b", 3)
	b.publish("t2-a", 3)
	p, s := beam.NewPipelineWithRoot()
	groups := GroupBy(s, beam.CreateList(s, b.receive(9)), tenantOf, GroupEvery(500*time.Millisecond), GroupLateness(time.Minute))
	out := Throttle(s, groups, Quota{PerWindow: 4, Defer: 20 * time.Second})
	passert.Count(s, global(s, out.Passed), "passed", 7)
	passert.Count(s, global(s, out.Deferred), "deferred", 2)
	if err := ptest.Run(p); err != nil {
		t.Fatal(err)
	}
}

// L09, L30: what is emitted of a deferred message is its newest handle, which
// acks it.
func TestADeferralCarriesTheNewHandle(t *testing.T) {
	b := newBus(t)
	ids := b.publish("noisy", 3)
	msgs := b.receive(3)
	run(t, msgs, DeferWhile(isNoisy, 2*time.Minute), func(s beam.Scope, out Outputs) {
		passert.Count(s, global(s, ackfn.Ack(s, beam.ParDo(s, handleOf, out.Deferred))), "acked", 3)
	})
	b.wantAcked(true, ids...)
	for i, id := range ids {
		m, _ := b.Message(id)
		if m.Deferrals[0].Handle == msgs[i].Handle.Handle {
			t.Errorf("%s: the handle did not change", id)
		}
	}
}

// L11, X16: with suspend a message can be deferred twenty times without using
// its attempts; without, the valve opens at the sixteenth delivery.
func TestTwentyDeferralsWithAndWithoutSuspend(t *testing.T) {
	for _, suspend := range []bool{true, false} {
		t.Run(fmt.Sprint("suspend ", suspend), func(t *testing.T) {
			b := newBus(t, embedded.WithMaxDeliveryAttempts(100))
			b.publish("noisy", 1)
			valved := 0
			for round := 1; round <= 20 && valved == 0; round++ {
				m := b.receiveFor(1, 30*time.Second)[0]
				if suspend && m.Handle.DeliveryAttempt > 2 || !suspend && int(m.Handle.DeliveryAttempt) != round {
					t.Fatalf("attempt %d in round %d", m.Handle.DeliveryAttempt, round)
				}
				counters := run(t, []coders.AckableMessage{m}, DeferWhile(isNoisy, 20*time.Second),
					func(beam.Scope, Outputs) {}, Suspend(suspend))
				valved += int(counters["valve_passed"])
				if valved > 0 && m.Handle.DeliveryAttempt != 16 {
					t.Errorf("the valve opened at attempt %d", m.Handle.DeliveryAttempt)
				}
				b.ExpireLeases()
			}
			if want := map[bool]int{true: 0, false: 1}[suspend]; valved != want {
				t.Errorf("the valve opened %d times, want %d", valved, want)
			}
		})
	}
}

// L47: a diverted message goes to the dead letters and is acked after that.
func TestADivertedMessageIsAckedByWhoTakesIt(t *testing.T) {
	b := newBus(t)
	id := b.Publish(testTopic, "noisy", []byte("x"), embedded.PublishAttempt(16))
	counters := run(t, b.receive(1), DeferWhile(isNoisy, time.Minute), func(s beam.Scope, out Outputs) {
		passert.Empty(s, global(s, out.Passed))
		passert.Empty(s, global(s, out.Deferred))
		passert.Equals(s, global(s, beam.ParDo(s, reasonOf, out.Valve)), "max-delivery-attempt")
		ackfn.Ack(s, beam.ParDo(s, messageOf, out.Valve))
	}, DivertValve(true))
	wantCounters(t, counters, map[string]int64{"valve_passed": 1, "passed": 0})
	b.wantAcked(true, id)

	id = b.Publish(testTopic, "noisy", []byte("x"), embedded.PublishAttempt(16))
	p, s := beam.NewPipelineWithRoot()
	out := Throttle(s, GroupByLiteTopic(s, beam.CreateList(s, b.receive(1))), DeferWhile(isNoisy, time.Minute), DivertValve(true))
	ackfn.Ack(s, beam.ParDo(s, failing, beam.ParDo(s, messageOf, out.Valve)))
	if err := ptest.Run(p); err == nil {
		t.Error("the pipeline did not fail")
	}
	b.wantAcked(false, id)
}

// The valve of the total delay works over deliveries, within one process.
func TestTheTotalDelayIsCountedOverDeliveries(t *testing.T) {
	b := newBus(t)
	b.publish("noisy", 1)
	opts := []Option{MaxTotalDelay(2 * time.Minute), MaxDelay(time.Minute), LiteTopicTTL(3 * time.Minute)}
	for round, want := range []map[string]int64{{"deferred": 1}, {"deferred": 1}, {"valve_passed": 1}} {
		m := b.receiveFor(1, time.Duration(2+round)*10*time.Second) // each lease ends well after the one before
		counters := run(t, m, DeferWhile(isNoisy, time.Minute), func(beam.Scope, Outputs) {}, opts...)
		wantCounters(t, counters, want)
		if t.Failed() {
			t.Fatalf("in round %d: %v", round, counters)
		}
		b.ExpireLeases()
	}
}

// Y44, L27: a deferral that fails once is asked for again, with the same handle;
// one that fails twice is left to the end of its lease, and the others go on.
func TestADeferralThatFailsIsTriedOnceMore(t *testing.T) {
	b := newBus(t)
	ids := append(b.publish("noisy-1", 1), b.publish("noisy-2", 1)...)
	msgs := b.receive(2)
	fails := map[string]int{ids[0]: 1, ids[1]: 2}
	var mu sync.Mutex
	asked := map[string]map[string]int{}
	b.ControlAlways(embedded.ChangeInvisibleDuration, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		mu.Lock()
		defer mu.Unlock()
		id := r.Change().GetMessageId()
		if asked[id] == nil {
			asked[id] = map[string]int{}
		}
		asked[id][r.Change().GetReceiptHandle()]++
		if fails[id]--; fails[id] >= 0 {
			return embedded.Fail(status.Error(codes.Unavailable, "going down"))
		}
		return embedded.Pass()
	})
	counters := run(t, msgs, DeferWhile(isNoisy, time.Minute), func(s beam.Scope, out Outputs) {
		passert.Equals(s, global(s, beam.ParDo(s, describe, out.Deferred)), ids[0]+" deferred", ids[1]+" failed")
	})
	wantCounters(t, counters, map[string]int64{"deferred": 1, "defer_failed": 1})
	for _, id := range ids {
		for handle, n := range asked[id] {
			if n != 2 || len(asked[id]) != 1 {
				t.Errorf("%s: asked %d times with %s", id, n, handle)
			}
		}
	}
}

// Y32, Y29: a lease that is over at the broker, or a lite topic that is gone, is
// an outcome and counted, with no retry.
func TestAStaleHandleIsAnOutcome(t *testing.T) {
	b := newBus(t)
	ids := append(b.publish("noisy-1", 1), b.publish("noisy-2", 2)...)
	msgs := b.receive(3)
	b.DeleteLiteTopic(testTopic, "noisy-2")
	b.Control(embedded.ChangeInvisibleDuration, func(context.Context, *embedded.Request) embedded.Reaction {
		b.ExpireLeases()
		return embedded.Pass()
	})
	counters := run(t, msgs, DeferWhile(isNoisy, time.Minute), func(s beam.Scope, out Outputs) {
		passert.EqualsList(s, global(s, beam.ParDo(s, describe, out.Deferred)), each(ids, " expired"))
	}, MaxInFlight(1))
	wantCounters(t, counters, map[string]int64{"expired": 3, "defer_failed": 0})
	if n := b.Requests(embedded.ChangeInvisibleDuration); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

// What came too late is told, and costs no request.
func TestAMessageThatCameTooLateIsTold(t *testing.T) {
	b := newBus(t)
	ids := b.publish("calm", 2)
	msgs := b.receive(2)
	msgs[0].Handle.InvisibleUntil = time.Now().Add(-time.Second)
	counters := run(t, msgs, Quota{PerWindow: 9, Defer: time.Minute}, func(s beam.Scope, out Outputs) {
		passert.Equals(s, global(s, beam.ParDo(s, idOf, out.Passed)), ids[1])
		passert.Equals(s, global(s, beam.ParDo(s, describe, out.Deferred)), ids[0]+" expired")
	})
	wantCounters(t, counters, map[string]int64{"expired": 1, "passed": 1})
	if n := b.Requests(embedded.ChangeInvisibleDuration); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// Y41: a thousand deferrals are a thousand requests, never more at a time than
// allowed.
func TestAThousandDeferralsAreBounded(t *testing.T) {
	b := newBus(t)
	for i := range 1000 {
		b.publish(fmt.Sprintf("noisy-%d", i), 1)
	}
	msgs := b.receive(1000)
	var mu sync.Mutex
	running, most := 0, 0
	two := make(chan struct{})
	b.ControlAlways(embedded.ChangeInvisibleDuration, func(ctx context.Context, _ *embedded.Request) embedded.Reaction {
		mu.Lock()
		if running++; running > most {
			if most = running; most == 2 {
				close(two)
			}
		}
		mu.Unlock()
		select {
		case <-two:
		case <-ctx.Done():
		}
		mu.Lock()
		defer mu.Unlock()
		running--
		return embedded.Pass()
	})
	counters := run(t, msgs, DeferWhile(isNoisy, 2*time.Minute), func(s beam.Scope, out Outputs) {
		passert.Count(s, global(s, out.Deferred), "deferred", 1000)
	}, MaxInFlight(8))
	wantCounters(t, counters, map[string]int64{"deferred": 1000, "deferred_unsuspended": 0})
	if n := b.Requests(embedded.ChangeInvisibleDuration); n != 1000 || most > 8 || most < 2 {
		t.Errorf("%d requests, at most %d at a time; want 1000, 2 to 8", n, most)
	}
}

// X32: time spent waiting because of flow control is counted, and uses up no
// attempts.
func TestFlowControlIsWaitedForAndCounted(t *testing.T) {
	b := newBus(t)
	ids := b.publish("noisy", 1)
	b.Busy(embedded.ChangeInvisibleDuration, 3)
	counters := run(t, b.receive(1), DeferWhile(isNoisy, time.Minute), func(s beam.Scope, out Outputs) {
		passert.Equals(s, global(s, beam.ParDo(s, describe, out.Deferred)), ids[0]+" deferred")
	})
	if got := counters["throttled_ms"]; got < 200 || got > 600 {
		t.Errorf("throttled_ms is %d, want about 350", got)
	}
	if n := b.Requests(embedded.ChangeInvisibleDuration); n != 4 {
		t.Errorf("%d requests, want 4", n)
	}
}

func TestAckPassedAcksWhatPasses(t *testing.T) {
	b := newBus(t)
	ids := b.publish("noisy", 5)
	run(t, b.receive(5), Quota{PerWindow: 2, Defer: 20 * time.Second}, func(beam.Scope, Outputs) {}, AckPassed(true))
	b.wantAcked(true, ids[:2]...)
	b.wantAcked(false, ids[2:]...)
}

// What can never succeed fails the bundle and says what to check.
func TestAPermanentErrorFailsTheBundle(t *testing.T) {
	b := newBus(t)
	b.publish("noisy", 3)
	msgs := b.receive(3)
	b.ControlAlways(embedded.ChangeInvisibleDuration, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.Answer(&v2.ChangeInvisibleDurationResponse{Status: &v2.Status{Code: v2.Code_FORBIDDEN, Message: "no right"}})
	})
	p, s := beam.NewPipelineWithRoot()
	Throttle(s, GroupByLiteTopic(s, beam.CreateList(s, msgs)), DeferWhile(isNoisy, time.Minute))
	err := ptest.Run(p)
	for _, part := range []string{testTopic, testGroup, "FORBIDDEN", "check the permissions"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not say %q", err, part)
		}
	}
}

// The work on what passes does not wait for the deferrals, and its failure ends
// them.
func TestWorkDoesNotWaitForDeferrals(t *testing.T) {
	b := newBus(t)
	b.publish("noisy", 3)
	msgs := b.receive(3)
	b.ControlAlways(embedded.ChangeInvisibleDuration, func(context.Context, *embedded.Request) embedded.Reaction { return embedded.Drop() })
	p, s := beam.NewPipelineWithRoot()
	out := Throttle(s, GroupByLiteTopic(s, beam.CreateList(s, msgs)), Quota{PerWindow: 1, Defer: time.Minute}, RequestTimeout(time.Minute))
	beam.ParDo(s, failing, out.Passed)
	begin := time.Now()
	if err := ptest.Run(p); err == nil || !strings.Contains(err.Error(), "the work failed") {
		t.Errorf("error %v, want that of the work", err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestThrottleRunsOnTheDirectRunner(t *testing.T) {
	b := newBus(t)
	ids := b.publish("noisy", 4)
	p, s := beam.NewPipelineWithRoot()
	out := Throttle(s, GroupByLiteTopic(s, beam.CreateList(s, b.receive(4))), Quota{PerWindow: 3, Defer: 20 * time.Second})
	ackfn.Ack(s, out.Passed)
	if _, err := beam.Run(t.Context(), "direct", p); err != nil {
		t.Fatal(err)
	}
	b.wantAcked(true, ids[:3]...)
	if m, _ := b.Message(ids[3]); len(m.Deferrals) != 1 {
		t.Errorf("%d deferrals, want 1", len(m.Deferrals))
	}
}
