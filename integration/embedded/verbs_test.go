// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// (L31, L32) After a restart of the proxy sessions are gone; messages, leases and
// subscriptions are not.
func TestRestartForgetsSessionsAndKeepsMessages(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := consumer(t, b, "c1")
	b.Publish(bus, "t1", []byte("out"))
	msgs := c.want("out")
	before := b.Endpoints()
	b.Restart()
	if b.Endpoints() != before {
		t.Errorf("listens on %s, before on %s", b.Endpoints(), before)
	}
	if _, err := c.stream.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("telemetry stream: got %v, want Unavailable", err)
	}
	if n := len(b.Sessions()); n != 0 {
		t.Errorf("%d sessions", n)
	}
	again := dial(t, b, "c1")
	st, _, err := again.receive(again.receiveRequest())
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, "receive without settings", st, v2.Code_INTERNAL_SERVER_ERROR)
	again.open()
	if !b.Sessions()[0].Subscribed {
		t.Error("the restart of a proxy took the subscription along, which the broker holds")
	}
	again.ack(msgs...)
	b.Publish(bus, "t1", []byte("next"))
	again.want("next")
	b.ForgetSubscriptions(wild)
	if b.Sessions()[0].Subscribed {
		t.Error("still subscribed after ForgetSubscriptions")
	}
}

func TestStopRefusesConnectionsUntilResume(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := dial(t, b, "c1")
	if _, err := routeOf(c, patience); err != nil {
		t.Fatal(err)
	}
	b.Stop()
	b.Stop()
	if n := b.Connections(); n != 0 {
		t.Errorf("%d connections after Stop", n)
	}
	if _, err := routeOf(c, patience); status.Code(err) != codes.Unavailable {
		t.Errorf("got %v, want Unavailable", err)
	}
	b.Resume()
	if _, err := routeOf(dial(t, b, "c2"), patience); err != nil {
		t.Errorf("after Resume: %v", err)
	}
}

func TestRestartsAtTheSameTimeDoNotCollide(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithProxies(2))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(b.Restart)
	}
	wg.Wait()
	for _, addr := range strings.Split(b.Endpoints(), ";") {
		if _, err := routeOf(dialAt(t, b, addr, "c1", insecureCreds()), patience); err != nil {
			t.Errorf("%s after the restarts: %v", addr, err)
		}
	}
	wg.Go(b.Restart)
	b.Close()
	wg.Wait()
}

func TestCutConnectionsLeavesSessions(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := consumer(t, b, "c1")
	b.CutConnections()
	if _, err := c.stream.Recv(); err == nil {
		t.Error("the stream survived")
	}
	wait(t, b, "the broken stream", func(s embedded.Snapshot) bool {
		ss := s.Sessions()
		return len(ss) == 1 && !ss[0].Stream && !ss[0].Subscribed
	})
}

func TestExpireLeasesMakesHandlesExpire(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.Publish(bus, "t1", []byte("0"))
	b.Publish(bus, "t1", []byte("1"))
	c := consumer(t, b, "c1")
	first := c.want("0", "1")
	c.ack(first[0])
	b.ExpireLeases()
	wantCode(t, "the old handle", c.ackEntries(entry(first[1])).GetStatus(), v2.Code_INVALID_RECEIPT_HANDLE)
	wantCode(t, "changing it", c.change(first[1], time.Minute, false).GetStatus(), v2.Code_INVALID_RECEIPT_HANDLE)
	second := c.want("1")
	if attempt(second[0]) != 2 {
		t.Errorf("attempt %d, want 2", attempt(second[0]))
	}
	c.ack(second...)
}

// A stream that breaks after n messages: those are with the client, the others
// are out as well and come back when their time is up.
func TestCutReceiveAfterBreaksTheStream(t *testing.T) {
	t.Parallel()
	b := start(t)
	for i := range 4 {
		b.Publish(bus, fmt.Sprintf("t%d", i), []byte("m"))
	}
	c := consumer(t, b, "c1")
	b.CutReceiveAfter(2)
	_, msgs, err := c.receive(c.receiveRequest())
	if status.Code(err) != codes.Unavailable || len(msgs) != 2 {
		t.Fatalf("%d messages and %v, want 2 and Unavailable", len(msgs), err)
	}
	out := 0
	for _, m := range b.Messages(bus) {
		if len(m.Deliveries) == 1 && !m.InvisibleUntil.IsZero() {
			out++
		}
	}
	if out != 4 {
		t.Errorf("%d messages are out, want 4", out)
	}
	c.ack(msgs...)
}

func TestFailAckEntryFailsThatEntryOnly(t *testing.T) {
	t.Parallel()
	b := start(t)
	for i := range 3 {
		b.Publish(bus, fmt.Sprintf("t%d", i), []byte("m"))
	}
	c := consumer(t, b, "c1")
	msgs := c.want("m", "m", "m")
	b.FailAckEntry(1, v2.Code_INTERNAL_SERVER_ERROR)
	c.ack(msgs[2]) // has no entry 1
	r := c.ackEntries(entry(msgs[0]), entry(msgs[1]))
	wantCode(t, "whole", r.GetStatus(), v2.Code_MULTIPLE_RESULTS)
	wantCode(t, "entry 0", r.GetEntries()[0].GetStatus(), v2.Code_OK)
	wantCode(t, "entry 1", r.GetEntries()[1].GetStatus(), v2.Code_INTERNAL_SERVER_ERROR)
	if n := b.Pending(bus); n != 1 {
		t.Errorf("pending %d, want 1", n)
	}
	c.ack(msgs[1])
}

// (Y37) A message delivered twice at a time; both handles can be acked.
func TestDeliverTwiceDeliversBesideTheRules(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.Publish(bus, "t1", []byte("m"))
	c := consumer(t, b, "c1")
	first := c.want("m")
	if !b.DeliverTwice(id) || b.DeliverTwice("nothing") {
		t.Error("DeliverTwice mistook what exists")
	}
	second := c.want("m")
	if entry(first[0]).ReceiptHandle == entry(second[0]).ReceiptHandle {
		t.Error("both deliveries have one handle")
	}
	c.ack(second...)
	c.ack(first...)
	if m, _ := b.Message(id); !m.Acked() || len(m.Deliveries) != 2 {
		t.Errorf("acked %v, %d deliveries", m.Acked(), len(m.Deliveries))
	}
	b.DeliverTwice(id) // acked already
	c.ack(c.want("m")...)
}

// (L44) Flow control.
func TestBusyAnswersTooManyRequests(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := consumer(t, b, "c1")
	b.Publish(bus, "t1", []byte("m"))
	msgs := c.want("m")
	b.Busy(embedded.AckMessage, 2)
	b.Busy(embedded.ChangeInvisibleDuration, 1)
	b.Busy(embedded.ReceiveMessage, 1)
	for range 2 {
		wantCode(t, "ack", c.ackEntries(entry(msgs[0])).GetStatus(), v2.Code_TOO_MANY_REQUESTS)
	}
	r := c.change(msgs[0], time.Minute, false)
	wantCode(t, "change", r.GetStatus(), v2.Code_TOO_MANY_REQUESTS)
	if r.GetReceiptHandle() != entry(msgs[0]).ReceiptHandle {
		t.Error("the refused change does not give the handle back")
	}
	st, _, err := c.receive(c.receiveRequest())
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, "receive", st, v2.Code_TOO_MANY_REQUESTS)
	c.ack(msgs...)
}

// (L14, Y29) A lite topic may vanish between receive and ack.
func TestADeletedLiteTopicTakesItsMessagesAlong(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.Publish(bus, "t1", []byte("0"))
	b.Publish(bus, "t1", []byte("1"))
	b.Publish(bus, "t2", []byte("2"))
	c := consumer(t, b, "c1")
	msgs := c.want("0", "1", "2")
	c.ack(msgs[2])
	b.DeleteLiteTopic(bus, "t1")
	if n := b.Pending(bus); n != 0 {
		t.Errorf("pending %d, want 0 (L15)", n)
	}
	wantCode(t, "ack of the second", c.ackEntries(entry(msgs[1])).GetStatus(), v2.Code_INTERNAL_SERVER_ERROR)
	if m, ok := b.Message(id); !ok || m.Acked() {
		t.Errorf("deleted message: known %v, acked %v", ok, m.Acked())
	}
	b.Publish(bus, "t1", []byte("anew"))
	c.want("anew")
}

// The broker takes an ack of offset 0 of a queue that it does not know, and then
// believes that the group has consumed one message of it.
func TestAnAckIntoADeletedLiteTopicSkipsItsNextMessage(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.Publish(bus, "t1", []byte("gone"))
	c := consumer(t, b, "c1")
	msgs := c.want("gone")
	b.DeleteLiteTopic(bus, "t1")
	wantCode(t, "ack", c.ackEntries(entry(msgs[0])).GetStatus(), v2.Code_OK)
	b.Publish(bus, "t1", []byte("skipped"))
	b.Publish(bus, "t1", []byte("delivered"))
	c.want("delivered")
}

func TestUnsubscribeLiteTellsTheClient(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := dial(t, b, "c1")
	c.group = plain
	c.open()
	wantCode(t, "add", c.sync(v2.LiteSubscriptionAction_PARTIAL_ADD, "t1"), v2.Code_OK)
	b.UnsubscribeLite("c1", "t1")
	cmd, err := c.stream.Recv()
	if err != nil || cmd.GetNotifyUnsubscribeLiteCommand().GetLiteTopic() != "t1" {
		t.Errorf("told %v, %v", cmd, err)
	}
	if got := b.Sessions()[0].LiteTopics; len(got) != 0 {
		t.Errorf("still subscribed to %v", got)
	}
}

// (L39, X25e) Each proxy has sessions of its own, over one broker.
func TestProxiesHaveSessionsOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithProxies(2))
	addrs := strings.Split(b.Endpoints(), ";")
	if len(addrs) != 2 || addrs[0] == addrs[1] {
		t.Fatalf("endpoints %q", b.Endpoints())
	}
	c1 := consumer(t, b, "c1")
	c2 := dialAt(t, b, addrs[1], "c1", insecureCreds())
	b.Publish(bus, "t1", []byte("m"))
	st, _, err := c2.receive(c2.receiveRequest())
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, "at the other proxy", st, v2.Code_INTERNAL_SERVER_ERROR)
	c2.open()
	m := c2.want("m")
	b.RestartProxy(1)
	if s := b.Sessions(); len(s) != 1 || s[0].Proxy != 0 {
		t.Errorf("sessions %+v, want that of proxy 0", s)
	}
	c1.ack(m...)
}

func TestWaitIdleReturnsWhenAllIsAcked(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := consumer(t, b, "c1")
	b.Publish(bus, "t1", []byte("m"))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	idle := make(chan error, 1)
	go func() { idle <- b.WaitIdle(ctx, bus) }()
	msgs := c.want("m")
	select {
	case err := <-idle:
		t.Fatalf("idle with a message out: %v", err)
	default:
	}
	c.ack(msgs...)
	if err := <-idle; err != nil {
		t.Error(err)
	}
	short, stop := context.WithCancel(context.Background())
	stop()
	if err := b.Wait(short, func(embedded.Snapshot) bool { return false }); err == nil {
		t.Error("Wait outlived its context")
	}
}

func TestInspectionGivesCopies(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.Publish(bus, "t1", []byte("m"), embedded.PublishProperty("k", "v"))
	m, _ := b.Message(id)
	m.Body[0], m.Properties["k"] = 'X', "changed"
	if m, _ := b.Message(id); string(m.Body) != "m" || m.Properties["k"] != "v" {
		t.Errorf("a change of the copy reached the broker: %s, %v", m.Body, m.Properties)
	}
}
