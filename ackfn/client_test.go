// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// unavailable is the answer of a proxy that is going down.
func unavailable(context.Context, *embedded.Request) embedded.Reaction {
	return embedded.Fail(status.Error(codes.Unavailable, "going down"))
}

func TestHandlesOfManyLiteTopicsAreAckedInSharedRequests(t *testing.T) {
	b := newBus(t)
	ids := b.publish(70, 70)
	c, _ := client(t)
	results, err := c.Ack(t.Context(), handlesOf(b.receive(70))...)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Outcome != Acked {
			t.Errorf("%v: %v, want acked", r.Handle, r.Outcome)
		}
	}
	b.wantAcked(ids...)
	if n := b.Requests(embedded.AckMessage); n != 3 {
		t.Errorf("%d requests for 70 handles, want 3", n)
	}
}

// X23: whoever wants each acknowledgement by itself and in order gets that.
func TestABatchSizeOfOneSendsEachHandleByItselfInOrder(t *testing.T) {
	b := newBus(t)
	b.publish(3, 1)
	var seen []string
	b.ControlAlways(embedded.AckMessage, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		for _, e := range r.Ack().GetEntries() {
			seen = append(seen, e.GetReceiptHandle())
		}
		return embedded.Pass()
	})
	c, _ := client(t, BatchSize(1), MaxInFlight(1))
	handles := handlesOf(b.receive(3))
	if _, err := c.Ack(t.Context(), handles...); err != nil {
		t.Fatal(err)
	}
	if n := b.Requests(embedded.AckMessage); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
	for i, h := range handles {
		if i >= len(seen) || seen[i] != h.Handle {
			t.Errorf("request %d was not for handle %d", i, i)
		}
	}
}

// X25d, L10: each entry carries the lite topic of its message, on an ack and on
// a change, although the client that acks never received anything.
func TestRequestsCarryTheLiteTopic(t *testing.T) {
	b := newBus(t)
	b.publish(2, 2)
	msgs := b.receive(2)
	var acked, changed atomic.Value
	b.ControlAlways(embedded.AckMessage, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		acked.Store(r.Ack().GetEntries()[0].GetLiteTopic())
		return embedded.Pass()
	})
	b.ControlAlways(embedded.ChangeInvisibleDuration, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		changed.Store(r.Change().GetLiteTopic())
		return embedded.Pass()
	})
	c, _ := client(t)
	if _, err := c.Ack(t.Context(), msgs[0].Handle); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ChangeInvisibleDuration(t.Context(), msgs[1].Handle, time.Minute); err != nil {
		t.Fatal(err)
	}
	if acked.Load() != msgs[0].LiteTopic() || changed.Load() != msgs[1].LiteTopic() {
		t.Errorf("lite topics %v and %v, want %s and %s", acked.Load(), changed.Load(), msgs[0].LiteTopic(), msgs[1].LiteTopic())
	}
}

// B21: acking twice is harmless, in two requests and in one.
func TestAckingTwiceIsHarmless(t *testing.T) {
	b := newBus(t)
	ids := b.publish(1, 1)
	h := b.receive(1)[0].Handle
	c, _ := client(t)
	for range 2 {
		results, err := c.Ack(t.Context(), h, h)
		if err != nil {
			t.Fatal(err)
		}
		wantOutcomes(t, results, Acked, Acked)
	}
	b.wantAcked(ids...)
}

// L06, L07, B22, X05: one stale handle among ten is an outcome, asked for once,
// and the other nine are acked.
func TestAnExpiredHandleIsAnOutcomeAndNeverRetried(t *testing.T) {
	b := newBus(t)
	ids := b.publish(10, 10)
	handles := handlesOf(b.receive(10))
	b.FailAckEntry(4, v2.Code_INVALID_RECEIPT_HANDLE)
	c, pauses := client(t)
	results, err := c.Ack(t.Context(), handles...)
	if err != nil {
		t.Fatal(err)
	}
	want := []Outcome{Acked, Acked, Acked, Acked, Expired, Acked, Acked, Acked, Acked, Acked}
	wantOutcomes(t, results, want...)
	if n := b.Requests(embedded.AckMessage); n != 1 || len(*pauses) != 0 {
		t.Errorf("%d requests, %d pauses; want 1 and none", n, len(*pauses))
	}
	if !strings.Contains(results[4].Detail, "INVALID_RECEIPT_HANDLE") || results[0].Detail != "" {
		t.Errorf("details %q and %q", results[4].Detail, results[0].Detail)
	}
	acked := 0
	for _, id := range ids {
		if m, _ := b.Message(id); m.Acked() {
			acked++
		}
	}
	if acked != 9 {
		t.Errorf("%d acked at the broker, want 9", acked)
	}
}

// L05, L08: after the lease is over, whatever made it so, handles are expired
// and the message comes again; its latest handle works (Y01), the former does
// not count as an ack.
func TestTheLatestHandleAcksAfterARedelivery(t *testing.T) {
	b := newBus(t)
	id := b.publish(1, 1)[0]
	first := b.receive(1)[0].Handle
	b.ExpireLeases()
	second := b.receive(1)[0].Handle
	if second.DeliveryAttempt != 2 {
		t.Errorf("attempt %d, want 2", second.DeliveryAttempt)
	}
	c, _ := client(t)
	results, err := c.Ack(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcomes(t, results, Expired)
	if m, _ := b.Message(id); m.Acked() {
		t.Error("the handle of the first delivery acked the message")
	}
	if results, err = c.Ack(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	wantOutcomes(t, results, Acked)
	b.wantAcked(id)
}

// L04: the first ack finds the proxy unavailable, the retry meets a lease that
// is over. That is "not acked", no failure and no loop.
func TestALeaseThatEndsDuringTheRetriesIsAnOutcome(t *testing.T) {
	b := newBus(t)
	b.publish(1, 1)
	h := b.receive(1)[0].Handle
	b.Control(embedded.AckMessage, func(ctx context.Context, r *embedded.Request) embedded.Reaction {
		b.ExpireLeases()
		return unavailable(ctx, r)
	})
	c, _ := client(t)
	results, err := c.Ack(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcomes(t, results, Expired)
	if n := b.Requests(embedded.AckMessage); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}

// L14, Y29: the lite topic is deleted between receive and ack: stale, no loop.
func TestALiteTopicThatIsGoneIsAnOutcome(t *testing.T) {
	b := newBus(t)
	b.publish(2, 1)
	msgs := b.receive(2)
	b.DeleteLiteTopic(testTopic, msgs[1].LiteTopic())
	c, pauses := client(t)
	results, err := c.Ack(t.Context(), msgs[1].Handle)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcomes(t, results, Expired)
	result, err := c.ChangeInvisibleDuration(t.Context(), msgs[1].Handle, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcomes(t, []Result{result}, Expired)
	if len(*pauses) != 0 {
		t.Errorf("%d retries, want none", len(*pauses))
	}
}

// X03: exactly one clear error, without a request, that names what is missing.
func TestAHandleThatLostAFieldFailsWithItsName(t *testing.T) {
	b := newBus(t)
	b.publish(1, 1)
	good := b.receive(1)[0].Handle
	for field, drop := range map[string]func(*coders.ReceiptHandle){
		"LiteTopic":     func(h *coders.ReceiptHandle) { h.LiteTopic = "" },
		"Handle":        func(h *coders.ReceiptHandle) { h.Handle = "" },
		"Topic":         func(h *coders.ReceiptHandle) { h.Topic = "" },
		"ConsumerGroup": func(h *coders.ReceiptHandle) { h.ConsumerGroup = "" },
		"Endpoints":     func(h *coders.ReceiptHandle) { h.Endpoints = "" },
	} {
		t.Run(field, func(t *testing.T) {
			h := good
			drop(&h)
			c, pauses := client(t)
			results, err := c.Ack(t.Context(), h)
			wantOutcomes(t, results, Failed)
			if e, ok := errors.AsType[*Error](err); !ok || !e.Permanent || !strings.Contains(err.Error(), "has no "+field) {
				t.Errorf("ack: error %v, want a permanent one that names %s", err, field)
			}
			_, err = c.ChangeInvisibleDuration(t.Context(), h, time.Minute)
			if err == nil || !strings.Contains(err.Error(), "has no "+field) {
				t.Errorf("defer: error %v, want one that names %s", err, field)
			}
			if len(*pauses) != 0 {
				t.Error("it was retried")
			}
		})
	}
	if n := b.Requests(embedded.AckMessage) + b.Requests(embedded.ChangeInvisibleDuration); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
}

// L44: flow control does not use up the attempts; ten refusals, then success.
func TestFlowControlHasABudgetOfItsOwn(t *testing.T) {
	b := newBus(t)
	ids := b.publish(1, 1)
	h := b.receive(1)[0].Handle
	b.Busy(embedded.AckMessage, 10)
	c, pauses := client(t, MaxAttempts(2))
	results, err := c.Ack(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcomes(t, results, Acked)
	b.wantAcked(ids...)
	var waited time.Duration
	for _, d := range *pauses {
		waited += d
	}
	if len(*pauses) != 10 || c.Stats().Throttled != waited || waited > DefaultFlowControlBudget {
		t.Errorf("%d pauses of %v altogether, counted as %v", len(*pauses), waited, c.Stats().Throttled)
	}
	if s := c.Stats(); s.Requests != 11 || s.Retried != 10 {
		t.Errorf("stats %+v, want 11 requests, 10 of them retries", s)
	}
}

func TestFlowControlThatDoesNotEndFailsWhenItsBudgetIsSpent(t *testing.T) {
	b := newBus(t)
	b.publish(1, 1)
	h := b.receive(1)[0].Handle
	b.Busy(embedded.AckMessage, 1000)
	c, _ := client(t, FlowControlBudget(3*time.Second))
	results, err := c.Ack(t.Context(), h)
	wantOutcomes(t, results, Failed)
	if e, ok := errors.AsType[*Error](err); !ok || e.Permanent {
		t.Errorf("error %v, want one that is not permanent", err)
	}
	if got := c.Stats().Throttled; got != 3*time.Second {
		t.Errorf("waited %v, want the budget of 3s", got)
	}
}

// X26: transient errors are retried with growing pauses until the attempts are
// used up; the error names message, topic and group.
func TestTransientErrorsAreRetriedUntilTheAttemptsAreUsedUp(t *testing.T) {
	b := newBus(t)
	b.publish(1, 1)
	h := b.receive(1)[0].Handle
	b.ControlAlways(embedded.AckMessage, unavailable)
	c, pauses := client(t, MaxAttempts(4))
	results, err := c.Ack(t.Context(), h)
	wantOutcomes(t, results, Failed)
	if n := b.Requests(embedded.AckMessage); n != 4 || len(*pauses) != 3 {
		t.Errorf("%d requests and %d pauses, want 4 and 3", n, len(*pauses))
	}
	for i := 1; i < len(*pauses); i++ {
		if (*pauses)[i] <= (*pauses)[i-1] {
			t.Errorf("pauses %v do not grow", *pauses)
		}
	}
	for _, part := range []string{"4 attempts", h.MessageID, testTopic, h.LiteTopic, testGroup, "going down"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

// Only what failed is sent again, and each handle keeps its place.
func TestARetrySendsOnlyWhatFailed(t *testing.T) {
	b := newBus(t)
	ids := b.publish(5, 5)
	handles := handlesOf(b.receive(5))
	b.FailAckEntry(1, v2.Code_INTERNAL_SERVER_ERROR)
	b.FailAckEntry(3, v2.Code_INVALID_RECEIPT_HANDLE)
	var sizes []int
	b.ControlAlways(embedded.AckMessage, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		sizes = append(sizes, len(r.Ack().GetEntries()))
		return embedded.Pass()
	})
	c, _ := client(t)
	results, err := c.Ack(t.Context(), handles...)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcomes(t, results, Acked, Acked, Acked, Expired, Acked)
	if len(sizes) != 2 || sizes[0] != 5 || sizes[1] != 1 {
		t.Errorf("requests with %v entries, want 5 and 1", sizes)
	}
	b.wantAcked(ids[0], ids[1], ids[2], ids[4])
}

// X26, Y33: a caller that leaves is answered within a second, whatever the
// broker does.
func TestACancelledCallerIsAnsweredAtOnce(t *testing.T) {
	for name, control := range map[string]embedded.ControlFunc{
		"while a request hangs":  func(context.Context, *embedded.Request) embedded.Reaction { return embedded.Drop() },
		"between two attempts":   unavailable,
		"while it is throttled":  busyAnswer,
		"before the first reply": func(context.Context, *embedded.Request) embedded.Reaction { return embedded.LoseReply() },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBus(t)
			b.publish(1, 1)
			h := b.receive(1)[0].Handle
			ctx, cancel := context.WithCancel(t.Context())
			b.ControlAlways(embedded.AckMessage, func(c context.Context, r *embedded.Request) embedded.Reaction {
				defer cancel()
				return control(c, r)
			})
			c, err := Acquire(ctx, RequestTimeout(time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			_, err = c.Ack(ctx, h)
			if took := time.Since(begin); took > time.Second {
				t.Errorf("it took %v", took)
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want canceled", err)
			}
		})
	}
}

func busyAnswer(context.Context, *embedded.Request) embedded.Reaction {
	return embedded.Answer(&v2.AckMessageResponse{Status: &v2.Status{Code: v2.Code_TOO_MANY_REQUESTS}})
}

// Y33: after message 1 of a lite topic ended in a failure, message 2 is
// delivered all the same.
func TestAFailedAckDoesNotStopTheLiteTopic(t *testing.T) {
	b := newBus(t)
	ids := b.publish(2, 1)
	h := b.receive(1)[0].Handle
	b.FailAckEntry(0, v2.Code_INVALID_RECEIPT_HANDLE)
	c, _ := client(t)
	if _, err := c.Ack(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	b.ExpireLeases()
	again := b.receive(2)
	if again[0].Handle.MessageID != ids[0] || again[1].Handle.MessageID != ids[1] {
		t.Fatalf("got %v and %v", again[0].Handle, again[1].Handle)
	}
	if _, err := c.Ack(t.Context(), handlesOf(again)...); err != nil {
		t.Fatal(err)
	}
	b.wantAcked(ids...)
}

// Y37: two deliveries of one message at a time: both handles can be acked.
func TestBothHandlesOfADoubleDeliveryCanBeAcked(t *testing.T) {
	b := newBus(t)
	id := b.publish(1, 1)[0]
	first := b.receive(1)[0].Handle
	b.DeliverTwice(id)
	second := b.receive(1)[0].Handle
	if first.MessageID != second.MessageID || first.Handle == second.Handle {
		t.Fatalf("deliveries %v and %v", first, second)
	}
	c, pauses := client(t)
	results, err := c.Ack(t.Context(), first, second)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcomes(t, results, Acked, Acked)
	if m, _ := b.Message(id); !m.Acked() || len(*pauses) != 0 {
		t.Errorf("acked %v, %d pauses", m.Acked(), len(*pauses))
	}
}

// X04d: eight clients at a time use one session, which closes when nobody has
// used it for a while.
func TestAllClientsShareOneSession(t *testing.T) {
	b := newBus(t)
	ids := b.publish(8, 8)
	handles := handlesOf(b.receive(8))
	sessions.CloseIdle()
	connections, known := b.Connections(), len(b.Sessions())
	var wg sync.WaitGroup
	for _, h := range handles {
		wg.Go(func() {
			c, err := Acquire(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			if _, err := c.Ack(t.Context(), h); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	b.wantAcked(ids...)
	if n := b.Connections(); n != connections+1 {
		t.Errorf("%d more connections, want 1", n-connections)
	}
	if n := len(b.Sessions()); n != known+1 {
		t.Errorf("%d more sessions, want 1", n-known)
	}
	sessions.CloseIdle()
	if err := b.Wait(t.Context(), func(b embedded.Snapshot) bool {
		return b.Connections() == connections && len(b.Sessions()) == known
	}); err != nil {
		t.Errorf("%d connections and %d sessions, want %d and %d again", b.Connections(), len(b.Sessions()), connections, known)
	}
}

// L08: the proxy restarts while messages are out; handles of before work, for
// they are the broker's, and the session is opened again.
func TestARestartOfTheProxyIsBridged(t *testing.T) {
	b := newBus(t)
	ids := b.publish(32, 32)
	handles := handlesOf(b.receive(32))
	c, err := Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Ack(t.Context(), handles[0]); err != nil {
		t.Fatal(err)
	}
	b.Restart()
	result, err := c.ChangeInvisibleDuration(t.Context(), handles[1], time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	handles[1] = result.Handle
	results, err := c.Ack(t.Context(), handles...)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Outcome != Acked {
			t.Errorf("%v: %v", r.Handle, r.Outcome)
		}
	}
	b.wantAcked(ids...)
}

func TestAClosedClientRefusesCalls(t *testing.T) {
	c, _ := client(t)
	c.Close()
	c.Close()
	if _, err := c.Ack(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("ack: %v", err)
	}
	if _, err := c.Defer(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("defer: %v", err)
	}
}

func TestWrongCredentialsFailAtOnceAndAreNotPrinted(t *testing.T) {
	b := embedded.Start(t.Context(), embedded.WithLiteTopic(testTopic), embedded.WithWildcardGroup(testGroup, testTopic),
		embedded.WithCredentials("AKTESTKEY", "SKTESTSECRET"))
	t.Cleanup(b.Close)
	t.Cleanup(sessions.CloseIdle)
	h := coders.ReceiptHandle{Endpoints: b.Endpoints(), ConsumerGroup: testGroup, Topic: testTopic, LiteTopic: "l", Handle: "0 1 2 3 4 5 6 7", MessageID: "m"}
	c, _ := client(t, StaticCredentials("AKTESTKEY", "SKWRONG"))
	begin := time.Now()
	_, err := c.Ack(t.Context(), h)
	e, ok := errors.AsType[*Error](err)
	if !ok || !e.Permanent || !strings.Contains(err.Error(), "secret key") {
		t.Errorf("error %v, want a permanent one that says what to check", err)
	}
	if strings.Contains(err.Error(), "SKWRONG") || strings.Contains(err.Error(), "AKTESTKEY") {
		t.Errorf("error %q shows a key", err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestAWrongOptionIsRefusedWithNameAndValue(t *testing.T) {
	for _, c := range []struct {
		opt  Option
		want []string
	}{
		{RequestTimeout(time.Millisecond), []string{"RequestTimeout", "1ms"}},
		{MaxAttempts(0), []string{"MaxAttempts", "0"}},
		{FlowControlBudget(-time.Second), []string{"FlowControlBudget", "-1s"}},
		{BatchSize(1001), []string{"BatchSize", "1001"}},
		{MaxInFlight(0), []string{"MaxInFlight", "0"}},
		{Credentials(""), []string{"Credentials", "empty"}},
		{Credentials("nosuch"), []string{"Credentials", "nosuch"}},
		{StaticCredentials("ak", ""), []string{"StaticCredentials"}},
	} {
		_, err := Acquire(t.Context(), c.opt)
		for _, part := range append(c.want, "ackfn.Acquire: ") {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("error %v does not say %q", err, part)
			}
		}
	}
}

// An ack that is repeated for minutes says so: nobody would know why the pipeline stands.
func TestAcksThatDoNotGetThroughAreWarnedOf(t *testing.T) {
	b := newBus(t)
	b.publish(1, 1)
	var out strings.Builder
	c, _ := client(t)
	c.log = slog.New(slog.NewTextHandler(&out, nil))
	handle := handlesOf(b.receive(1))[0]
	gone := status.Error(codes.Unavailable, "going down")
	c.hear(time.Now().Add(-30*time.Second), routeOf(&handle), gone)
	if got := out.String(); !strings.Contains(got, "nothing gets through") || !strings.Contains(got, "topic="+handle.Topic) || !strings.Contains(got, "for=30s") {
		t.Errorf("got %q, want a warning that names the topic", got)
	}
	out.Reset()
	if _, err := c.Ack(t.Context(), handle); err != nil {
		t.Fatal(err)
	}
	c.hear(time.Now(), routeOf(&handle), gone)
	if out.Len() > 0 {
		t.Errorf("a single failure after an ack is warned of: %s", out.String())
	}
}
