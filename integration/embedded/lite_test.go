// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func epoch() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

func TestALiteMessageIsSentReceivedAndAcked(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := consumer(t, b, "c1")
	r := c.send(message(bus, "t1", "id-1", "one"))
	wantCode(t, "send", r.GetStatus(), v2.Code_OK)
	msgs := c.want("one")
	sp := msgs[0].GetSystemProperties()
	if sp.GetLiteTopic() != "t1" || sp.GetDeliveryAttempt() != 1 || sp.GetMessageType() != v2.MessageType_LITE {
		t.Errorf("system properties %v, want lite topic t1, attempt 1, type LITE", sp)
	}
	if got := msgs[0].GetUserProperties()["INNER_MULTI_DISPATCH"]; got != "%LMQ%$bus$t1" {
		t.Errorf("the broker's dispatch property reads %q", got)
	}
	c.ack(msgs...)
	m, ok := b.Message("id-1")
	if !ok || !m.Acked() || len(m.Deliveries) != 1 || m.Attempt != 1 || !m.InvisibleUntil.IsZero() {
		t.Errorf("message on the broker's side: %+v, want one delivery and acked", m)
	}
	if n := b.Pending(bus); n != 0 {
		t.Errorf("pending %d, want 0", n)
	}
}

// (L45) Messages of a lite topic come in their order, those of many in one answer.
func TestEachLiteTopicKeepsItsOrder(t *testing.T) {
	t.Parallel()
	b := start(t)
	for i := range 5 {
		b.Publish(bus, "a", fmt.Appendf(nil, "a%d", i))
		b.Publish(bus, "b", fmt.Appendf(nil, "b%d", i))
	}
	c := consumer(t, b, "c1")
	_, msgs, err := c.receive(c.receiveRequest())
	if err != nil {
		t.Fatal(err)
	}
	by := map[string][]string{}
	for _, m := range msgs {
		l := m.GetSystemProperties().GetLiteTopic()
		by[l] = append(by[l], string(m.GetBody()))
	}
	for _, l := range []string{"a", "b"} {
		want := []string{l + "0", l + "1", l + "2", l + "3", l + "4"}
		if !slices.Equal(by[l], want) {
			t.Errorf("lite topic %s came as %v, want %v", l, by[l], want)
		}
	}
}

func TestALiteTopicStandsStillWhileAMessageIsOutAndOthersGoOn(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.Publish(bus, "slow", []byte("s1"))
	c := consumer(t, b, "c1")
	first := c.want("s1")
	b.Publish(bus, "slow", []byte("s2"))
	b.Publish(bus, "quick", []byte("q1"))
	c.want("q1")
	c.ack(first...)
	c.want("s2")
}

func TestABatchIsNeverLargerThan32(t *testing.T) {
	t.Parallel()
	b := start(t)
	for i := range 40 {
		b.Publish(bus, fmt.Sprintf("t%d", i), []byte("x"))
	}
	c := consumer(t, b, "c1")
	req := c.receiveRequest()
	req.BatchSize = 100
	_, msgs, err := c.receive(req)
	if err != nil || len(msgs) != 32 {
		t.Fatalf("%d messages, error %v, want 32", len(msgs), err)
	}
	_, msgs, err = c.receive(c.receiveRequest())
	if err != nil || len(msgs) != 8 {
		t.Fatalf("then %d messages, error %v, want 8", len(msgs), err)
	}
}

func TestALongPollIsWokenByAPublish(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := consumer(t, b, "c1")
	got := make(chan []*v2.Message, 1)
	go func() {
		_, msgs, _ := c.receive(c.receiveRequest())
		got <- msgs
	}()
	wait(t, b, "the long poll", func(s embedded.Snapshot) bool { return s.LongPolls(wild) == 1 })
	b.Publish(bus, "t1", []byte("now"))
	wantBodies(t, <-got, "now")
}

// (L19, X25c) An empty long poll ends with MESSAGE_NOT_FOUND, when its time is up.
func TestAnEmptyLongPollEndsOnTheClock(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	c := consumer(t, b, "c1")
	for _, tc := range []struct {
		ask, lasts time.Duration
	}{
		{ask: time.Second, lasts: 5 * time.Second},
		{ask: 7 * time.Second, lasts: 7 * time.Second},
	} {
		got := make(chan *v2.Status, 1)
		go func() {
			req := c.receiveRequest()
			req.LongPollingTimeout = durationpb.New(tc.ask)
			st, _, _ := c.receive(req)
			got <- st
		}()
		wait(t, b, "the long poll", func(s embedded.Snapshot) bool { return s.LongPolls(wild) == 1 })
		clock.Advance(tc.lasts - time.Millisecond)
		if n := b.LongPolls(wild); n != 1 {
			t.Errorf("asked for %v, the poll ended before %v", tc.ask, tc.lasts)
		}
		clock.Advance(time.Millisecond)
		wantCode(t, "empty poll", <-got, v2.Code_MESSAGE_NOT_FOUND)
		wait(t, b, "the end of the poll", func(s embedded.Snapshot) bool { return s.LongPolls(wild) == 0 })
	}
}

// (L22, Y01) What is not acked comes back with the next attempt and a new handle.
func TestAnUnackedMessageComesBackWhenItsTimeIsUp(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	id := b.Publish(bus, "t1", []byte("m"))
	c := consumer(t, b, "c1")
	first := c.want("m")[0]
	m, _ := b.Message(id)
	if want := epoch().Add(30 * time.Second); !m.InvisibleUntil.Equal(want) {
		t.Errorf("invisible until %v, want %v", m.InvisibleUntil, want)
	}
	clock.Advance(30 * time.Second)
	second := c.want("m")[0]
	if attempt(second) != 2 {
		t.Errorf("attempt %d, want 2", attempt(second))
	}
	if entry(first).ReceiptHandle == entry(second).ReceiptHandle {
		t.Error("the handle did not change with the delivery")
	}
	r := c.ackEntries(entry(first))
	wantCode(t, "ack by the expired handle", r.GetEntries()[0].GetStatus(), v2.Code_INVALID_RECEIPT_HANDLE)
	c.ack(second)
}

// What RocketMQ does when the first of several expires while later ones were
// acked: it delivers all again from the first un-acked one, acked ones included.
func TestMessagesAckedBehindAnUnackedOneComeAgain(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	for _, s := range []string{"0", "1", "2"} {
		b.Publish(bus, "t1", []byte(s))
	}
	c := consumer(t, b, "c1")
	msgs := c.want("0", "1", "2")
	c.ack(msgs[1], msgs[2])
	clock.Advance(30 * time.Second)
	again := c.want("0", "1", "2")
	for _, m := range again {
		if attempt(m) != 2 {
			t.Errorf("attempt of %s is %d, want 2", m.GetBody(), attempt(m))
		}
	}
	c.ack(again...)
	if n := b.Pending(bus); n != 0 {
		t.Errorf("pending %d, want 0", n)
	}
}

func TestAcksFromTheFrontMoveTheGroupOn(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	for _, s := range []string{"0", "1", "2"} {
		b.Publish(bus, "t1", []byte(s))
	}
	c := consumer(t, b, "c1")
	msgs := c.want("0", "1", "2")
	c.ack(msgs[0])
	clock.Advance(30 * time.Second)
	again := c.want("1", "2")
	if attempt(again[0]) != 2 || attempt(again[1]) != 2 {
		t.Errorf("attempts %d and %d, want 2 and 2", attempt(again[0]), attempt(again[1]))
	}
}

// RocketMQ loses the counts of a batch that mixes old and new messages.
func TestABatchOfOldAndNewMessagesShowsAllAsNew(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	b.Publish(bus, "t1", []byte("old"))
	c := consumer(t, b, "c1")
	c.want("old")
	b.Publish(bus, "t1", []byte("new"))
	clock.Advance(30 * time.Second)
	msgs := c.want("old", "new")
	if attempt(msgs[0]) != 1 || attempt(msgs[1]) != 1 {
		t.Errorf("attempts %d and %d, want 1 and 1", attempt(msgs[0]), attempt(msgs[1]))
	}
	clock.Advance(30 * time.Second)
	msgs = c.want("old", "new")
	if attempt(msgs[0]) != 3 || attempt(msgs[1]) != 2 {
		t.Errorf("then attempts %d and %d, want 3 and 2", attempt(msgs[0]), attempt(msgs[1]))
	}
}

// An ack by a handle that is in time but of an earlier delivery does nothing, and
// says OK.
func TestAStaleHandleOfAnEarlierPopIsAnsweredOKWithoutEffect(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	id := b.Publish(bus, "t1", []byte("m"))
	c := consumer(t, b, "c1")
	first := c.want("m")[0]
	// Shortened, so that the first handle is still in time when the message has
	// been delivered anew.
	wantCode(t, "change", c.change(first, time.Second, false).GetStatus(), v2.Code_OK)
	clock.Advance(2 * time.Second)
	second := c.want("m")[0]
	c.ack(first)
	m, _ := b.Message(id)
	if m.Acked() || m.StaleAcks != 1 {
		t.Errorf("acked %v, stale acks %d, want not acked and 1 (L03)", m.Acked(), m.StaleAcks)
	}
	c.ack(second)
	if m, _ := b.Message(id); !m.Acked() {
		t.Error("the new handle did not ack")
	}
}

// (B21) Acking twice is fine.
func TestAckingTwiceIsOK(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.Publish(bus, "t1", []byte("m"))
	c := consumer(t, b, "c1")
	msgs := c.want("m")
	c.ack(msgs...)
	c.ack(msgs...)
}

func TestAckNeedsNoSession(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.Publish(bus, "t1", []byte("m"))
	msgs := consumer(t, b, "c1").want("m")
	dial(t, b, "nobody").ack(msgs...)
}

// (X05) One bad entry does not spoil the others.
func TestEachAckEntryHasItsOwnStatus(t *testing.T) {
	t.Parallel()
	b := start(t)
	for i := range 3 {
		b.Publish(bus, fmt.Sprintf("t%d", i), []byte("m"))
	}
	c := consumer(t, b, "c1")
	msgs := c.want("m", "m", "m")
	good, foreign, garbage := entry(msgs[0]), entry(msgs[1]), entry(msgs[2])
	foreign.ReceiptHandle = strings.Replace(foreign.ReceiptHandle, "broker-a", "broker-z", 1)
	garbage.ReceiptHandle = "garbage"
	r := c.ackEntries(good, foreign, garbage)
	wantCode(t, "whole", r.GetStatus(), v2.Code_MULTIPLE_RESULTS)
	wantCode(t, "good", r.GetEntries()[0].GetStatus(), v2.Code_OK)
	wantCode(t, "of another broker", r.GetEntries()[1].GetStatus(), v2.Code_INVALID_RECEIPT_HANDLE)
	wantCode(t, "malformed", r.GetEntries()[2].GetStatus(), v2.Code_INTERNAL_SERVER_ERROR)
	if got := r.GetEntries()[2].GetStatus().GetMessage(); !strings.HasPrefix(got, "Parse failed") {
		t.Errorf("text %q", got)
	}
	if r.GetEntries()[2].GetReceiptHandle() != "garbage" {
		t.Error("the entry does not echo its handle")
	}
}

// (L10, L28) Without its lite topic a handle is taken for one of queue 0 of the
// main topic: refused where that queue is shorter, else OK without any effect.
// Lite topic t1 lies in queue 4, so queue 0 is empty.
func TestAnAckWithoutItsLiteTopicHasNoEffect(t *testing.T) {
	t.Parallel()
	b := start(t)
	ids := []string{b.Publish(bus, "t1", []byte("0")), b.Publish(bus, "t1", []byte("1"))}
	c := consumer(t, b, "c1")
	msgs := c.want("0", "1")
	for i, want := range []v2.Code{v2.Code_OK, v2.Code_INTERNAL_SERVER_ERROR} {
		e := entry(msgs[i])
		e.LiteTopic = nil
		wantCode(t, fmt.Sprintf("ack of offset %d", i), c.ackEntries(e).GetStatus(), want)
		if m, _ := b.Message(ids[i]); m.Acked() {
			t.Errorf("the ack of offset %d had an effect", i)
		}
	}
	c.ack(msgs...)
}

func TestAnAckOfNothingIsAnError(t *testing.T) {
	t.Parallel()
	b := start(t)
	wantCode(t, "ack", dial(t, b, "c1").ackEntries().GetStatus(), v2.Code_INTERNAL_SERVER_ERROR)
}

// (L30, X24) Each change gives a new handle, the last one counts and acks.
func TestChangesChainByTheirHandles(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	id := b.Publish(bus, "t1", []byte("m"))
	c := consumer(t, b, "c1")
	m := c.want("m")[0]
	seen := map[string]bool{entry(m).ReceiptHandle: true}
	for i := range 3 {
		clock.Advance(time.Second)
		r := c.change(m, time.Duration(20+10*i)*time.Second, false)
		wantCode(t, "change", r.GetStatus(), v2.Code_OK)
		if seen[r.GetReceiptHandle()] {
			t.Fatalf("change %d gave a handle that was there before", i)
		}
		seen[r.GetReceiptHandle()] = true
		h := r.GetReceiptHandle()
		m.SystemProperties.ReceiptHandle = &h
	}
	view, _ := b.Message(id)
	if want := clock.Now().Add(40 * time.Second); !view.InvisibleUntil.Equal(want) {
		t.Errorf("invisible until %v, want the third deadline %v", view.InvisibleUntil, want)
	}
	if len(view.Deferrals) != 3 || view.Deferrals[2].Duration != 40*time.Second || view.Deferrals[2].Suspend {
		t.Errorf("deferrals %+v", view.Deferrals)
	}
	c.ack(m)
}

func TestAfterAnAckAChangeIsOKWithAHandleOfZeros(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.Publish(bus, "t1", []byte("m"))
	c := consumer(t, b, "c1")
	m := c.want("m")[0]
	c.ack(m)
	r := c.change(m, 20*time.Second, false)
	wantCode(t, "change", r.GetStatus(), v2.Code_OK)
	if !strings.HasPrefix(r.GetReceiptHandle(), "0 0 0 0 0 broker-a") {
		t.Errorf("handle %q, want zeros", r.GetReceiptHandle())
	}
}

func TestChangeRefusesWhatRocketMQRefuses(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	b.Publish(bus, "t1", []byte("m"))
	c := consumer(t, b, "c1")
	m := c.want("m")[0]
	wantCode(t, "more than 12 h", c.change(m, 12*time.Hour+time.Second, false).GetStatus(), v2.Code_ILLEGAL_INVISIBLE_TIME)
	noLite := &v2.Message{SystemProperties: &v2.SystemProperties{ReceiptHandle: m.GetSystemProperties().ReceiptHandle}}
	wantCode(t, "without lite topic (L28)", c.change(noLite, time.Second, false).GetStatus(), v2.Code_INTERNAL_SERVER_ERROR)
	stranger := dial(t, b, "stranger").change(m, time.Second, false)
	wantCode(t, "without a session", stranger.GetStatus(), v2.Code_INTERNAL_SERVER_ERROR)
	if !strings.Contains(stranger.GetStatus().GetMessage(), "NullPointerException") {
		t.Errorf("text %q, want a null pointer", stranger.GetStatus().GetMessage())
	}
	clock.Advance(time.Minute)
	wantCode(t, "expired", c.change(m, time.Second, false).GetStatus(), v2.Code_INVALID_RECEIPT_HANDLE)
}

// (L11, X16) With suspend the attempts stay, after the first redelivery has
// counted; without it they grow.
func TestSuspendKeepsTheAttempts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		suspend bool
		want    []int32
	}{
		{suspend: true, want: []int32{1, 2, 2, 2, 2}},
		{suspend: false, want: []int32{1, 2, 3, 4, 5}},
	} {
		clock := embedded.NewClock(epoch())
		b := start(t, embedded.WithClock(clock))
		b.Publish(bus, "t1", []byte("m"))
		c := consumer(t, b, "c1")
		var got []int32
		for range tc.want {
			m := c.want("m")[0]
			got = append(got, attempt(m))
			wantCode(t, "change", c.change(m, 2*time.Second, tc.suspend).GetStatus(), v2.Code_OK)
			clock.Advance(2 * time.Second)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("suspend %v: attempts %v, want %v", tc.suspend, got, tc.want)
		}
	}
}

// Suspending acts on the whole batch of the lite topic, not on one message.
func TestSuspendMovesAllMessagesOfTheBatch(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	first, second := b.Publish(bus, "t1", []byte("0")), b.Publish(bus, "t1", []byte("1"))
	c := consumer(t, b, "c1")
	msgs := c.want("0", "1")
	wantCode(t, "suspend", c.change(msgs[1], 5*time.Second, true).GetStatus(), v2.Code_OK)
	for _, id := range []string{first, second} {
		if m, _ := b.Message(id); !m.InvisibleUntil.Equal(epoch().Add(5 * time.Second)) {
			t.Errorf("message %s invisible until %v", m.Body, m.InvisibleUntil)
		}
	}
	clock.Advance(5 * time.Second)
	c.want("0", "1")
}

// Without suspend only the one message moves, and the lite topic waits for the
// last of the batch.
func TestAChangedDeadlineBlocksTheLiteTopicToItsEnd(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	b.Publish(bus, "t1", []byte("0"))
	b.Publish(bus, "t1", []byte("1"))
	c := consumer(t, b, "c1")
	msgs := c.want("0", "1")
	wantCode(t, "change", c.change(msgs[1], 50*time.Second, false).GetStatus(), v2.Code_OK)
	got := make(chan []*v2.Message, 1)
	go func() {
		req := c.receiveRequest()
		req.LongPollingTimeout = durationpb.New(20 * time.Second)
		_, m, _ := c.receive(req)
		got <- m
	}()
	clock.Advance(31 * time.Second)
	wait(t, b, "the long poll", func(s embedded.Snapshot) bool { return s.LongPolls(wild) == 1 })
	clock.Advance(18 * time.Second)
	if n := b.LongPolls(wild); n != 1 {
		t.Error("the lite topic was delivered while one of its messages was out")
	}
	clock.Advance(time.Second)
	wantBodies(t, <-got, "0", "1")
}

// After its last attempt a message goes to the dead letters. RocketMQ delivers
// retryMaxTimes and one times: 17 by default.
func TestAfterTheLastAttemptAMessageIsDeadLettered(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock), embedded.WithMaxDeliveryAttempts(3), embedded.WithDeadLetterEcho(false))
	id := b.Publish(bus, "t1", []byte("poison"))
	b.Publish(bus, "t1", []byte("next"))
	c := consumer(t, b, "c1")
	one := c.receiveRequest()
	one.BatchSize = 1
	for i := range 3 {
		_, msgs, err := c.receive(one)
		if err != nil {
			t.Fatal(err)
		}
		wantBodies(t, msgs, "poison")
		if attempt(msgs[0]) != int32(i+1) {
			t.Errorf("attempt %d, want %d", attempt(msgs[0]), i+1)
		}
		clock.Advance(30 * time.Second)
	}
	st, msgs, err := c.receive(one)
	if err != nil || len(msgs) != 0 || st.GetMessage() != "no match message" {
		t.Fatalf("the poll that gives it up: %v, %d messages, error %v", st, len(msgs), err)
	}
	if m, _ := b.Message(id); !m.DeadLettered() || m.Acked() {
		t.Errorf("dead-lettered %v, acked %v", m.DeadLettered(), m.Acked())
	}
	dead := b.Messages("%DLQ%" + wild)
	if len(dead) != 1 || string(dead[0].Body) != "poison" {
		t.Errorf("dead letters %+v", dead)
	}
	c.want("next")
}

// What 5.5.0 does with dead letters of a lite topic (seen, not only read): the
// copy is filed under the lite topic again, acks of it are OK and have no effect,
// and each time that its attempts are over there is one more.
func TestADeadLetterOfALiteTopicComesBackAndCannotBeAcked(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock), embedded.WithMaxDeliveryAttempts(2))
	id := b.Publish(bus, "t1", []byte("f"))
	c := consumer(t, b, "c1")
	c.forward(id, c.want("f")[0])
	for i, want := range []int32{1, 2} {
		m := c.want("f")[0]
		sp := m.GetSystemProperties()
		if attempt(m) != want || m.GetTopic().GetName() != "%DLQ%wild" || sp.GetMessageType() != v2.MessageType_DELAY || sp.GetMessageId() != id || sp.GetLiteTopic() != "t1" {
			t.Errorf("copy %d: %v of topic %s", i, sp, m.GetTopic().GetName())
		}
		c.ack(m)
		clock.Advance(30 * time.Second)
	}
	st, _, err := c.receive(c.receiveRequest())
	if err != nil || st.GetMessage() != "no match message" {
		t.Fatalf("the poll that gives the copy up: %v, %v", st, err)
	}
	if n := len(b.Messages("%DLQ%" + wild)); n != 2 {
		t.Errorf("%d dead letters, want 2", n)
	}
	clock.Advance(30 * time.Second)
	c.want("f", "f")
	if m, _ := b.Message(id); !m.DeadLettered() || b.Pending(bus) != 0 {
		t.Errorf("the original: dead-lettered %v, pending %d", m.DeadLettered(), b.Pending(bus))
	}
}

func (c *client) forward(id string, m *v2.Message) {
	c.t.Helper()
	r, err := c.ForwardMessageToDeadLetterQueue(c.ctx(patience), &v2.ForwardMessageToDeadLetterQueueRequest{
		Group: res(wild), Topic: res(bus), ReceiptHandle: entry(m).ReceiptHandle, MessageId: id, LiteTopic: entry(m).LiteTopic,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	wantCode(c.t, "forward", r.GetStatus(), v2.Code_OK)
}

func TestAForwardedMessageIsDeadLetteredAtOnce(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithDeadLetterEcho(false))
	id := b.Publish(bus, "t1", []byte("m"))
	c := consumer(t, b, "c1")
	c.forward(id, c.want("m")[0])
	if m, _ := b.Message(id); !m.DeadLettered() || b.Pending(bus) != 0 {
		t.Errorf("message %+v, pending %d", m, b.Pending(bus))
	}
}

// (X17) Two consumers of a shared group get each message once.
func TestTwoConsumersOfAGroupShareTheLiteTopics(t *testing.T) {
	t.Parallel()
	b := start(t)
	c1, c2 := consumer(t, b, "c1"), consumer(t, b, "c2")
	for i := range 20 {
		b.Publish(bus, fmt.Sprintf("t%d", i), []byte("m"))
	}
	small := c1.receiveRequest()
	small.BatchSize = 10
	_, m1, _ := c1.receive(small)
	_, m2, _ := c2.receive(small)
	if len(m1) != 10 || len(m2) != 10 {
		t.Fatalf("%d and %d messages, want 10 and 10", len(m1), len(m2))
	}
	for _, m := range b.Messages(bus) {
		if len(m.Deliveries) != 1 {
			t.Errorf("message of %s was delivered %d times", m.LiteTopic, len(m.Deliveries))
		}
	}
}

// Messages whose tag the receive does not name are acked by the proxy.
func TestMessagesOfOtherTagsAreAckedUnseen(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.Publish(bus, "t1", []byte("red"), embedded.PublishTag("red"))
	id := b.Publish(bus, "t1", []byte("blue"), embedded.PublishTag("blue"))
	c := consumer(t, b, "c1")
	req := c.receiveRequest()
	req.FilterExpression.Expression = "red || green"
	_, msgs, err := c.receive(req)
	if err != nil {
		t.Fatal(err)
	}
	wantBodies(t, msgs, "red")
	if m, _ := b.Message(id); !m.Acked() || len(m.Deliveries) != 0 {
		t.Errorf("the other message: acked %v, deliveries %d", m.Acked(), len(m.Deliveries))
	}
}
