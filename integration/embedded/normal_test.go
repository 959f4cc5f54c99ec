// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func simple(t *testing.T, b *embedded.Broker, id, topic, group string) *client {
	t.Helper()
	c := dial(t, b, id)
	c.kind, c.topic, c.group = v2.ClientType_SIMPLE_CONSUMER, topic, group
	c.open()
	return c
}

func TestASimpleConsumerOfANormalTopic(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	c := simple(t, b, "c1", "orders", "workers")
	m := message("orders", "", "id-1", "one")
	m.SystemProperties.MessageType = v2.MessageType_NORMAL
	wantCode(t, "send", c.send(m).GetStatus(), v2.Code_OK)
	first := c.want("one")
	b.Publish("orders", "", []byte("two")) // nothing blocks behind a message that is out
	two := c.want("two")
	c.ack(two...)
	clock.Advance(30 * time.Second)
	again := c.want("one")
	if attempt(again[0]) != 2 || strings.Split(entry(again[0]).ReceiptHandle, " ")[4] != "1" {
		t.Errorf("attempt %d, handle %q, want 2 and one of the retry queue", attempt(again[0]), entry(again[0]).ReceiptHandle)
	}
	wantCode(t, "old handle", c.ackEntries(entry(first[0])).GetStatus(), v2.Code_INVALID_RECEIPT_HANDLE)
	r := c.change(again[0], 50*time.Second, true)
	wantCode(t, "change", r.GetStatus(), v2.Code_OK)
	clock.Advance(50 * time.Second)
	third := c.want("one")
	if attempt(third[0]) != 2 {
		t.Errorf("attempt %d after a suspension, want 2", attempt(third[0]))
	}
	c.ack(third...)
	if n := b.Pending("orders"); n != 0 {
		t.Errorf("pending %d", n)
	}
}

func TestANormalMessageIsDeadLetteredAfterItsAttempts(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock), embedded.WithMaxDeliveryAttempts(2))
	id := b.Publish("orders", "", []byte("poison"))
	c := simple(t, b, "c1", "orders", "workers")
	for range 2 {
		c.want("poison")
		clock.Advance(30 * time.Second)
	}
	st, msgs, err := c.receive(c.receiveRequest())
	if err != nil || len(msgs) != 0 {
		t.Fatalf("%v, %d messages, %v", st, len(msgs), err)
	}
	if m, _ := b.Message(id); !m.DeadLettered() {
		t.Error("not dead-lettered")
	}
}

// (L45) Only a group that consumes in order sees the order of a FIFO topic.
func TestAnOrderedGroupSeesMessageGroupsInOrder(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock), embedded.WithFIFOTopic("fifo"), embedded.WithFIFOGroup("in-order"))
	c := simple(t, b, "c1", "fifo", "in-order")
	for i := range 3 {
		b.Publish("fifo", "", fmt.Append(nil, i), embedded.PublishMessageGroup("g"))
	}
	one := c.receiveRequest()
	one.BatchSize = 1
	_, msgs, err := c.receive(one)
	if err != nil {
		t.Fatal(err)
	}
	wantBodies(t, msgs, "0")
	got := make(chan []*v2.Message, 1)
	go func() {
		_, m, _ := c.receive(one)
		got <- m
	}()
	wait(t, b, "the long poll", func(s embedded.Snapshot) bool { return s.LongPolls("in-order") == 1 })
	c.ack(msgs...)
	wantBodies(t, <-got, "1")
	clock.Advance(30 * time.Second)
	_, msgs, err = c.receive(one)
	if err != nil {
		t.Fatal(err)
	}
	wantBodies(t, msgs, "1")
}

func TestGroupsOfANormalTopicGetEachMessageOnceEach(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.Publish("orders", "", []byte("m"), embedded.PublishTag("red"))
	b.Publish("orders", "", []byte("n"), embedded.PublishTag("blue"))
	for _, g := range []string{"workers", "auditors"} {
		c := simple(t, b, "c-"+g, "orders", g)
		req := c.receiveRequest()
		req.FilterExpression.Expression = "red"
		_, msgs, err := c.receive(req)
		if err != nil {
			t.Fatal(err)
		}
		wantBodies(t, msgs, "m")
		c.ack(msgs...)
	}
	m := b.Messages("orders")[0]
	if len(m.AckedBy) != 2 {
		t.Errorf("acked by %v, want both groups", m.AckedBy)
	}
}

// (Y25) A broker without enablePropertyFilter. A lite consumer's SQL filter is
// accepted and has no effect, on the real broker too.
func TestSQLFiltersAreRefusedForNormalTopicsAndIgnoredForLiteOnes(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.Publish(bus, "t1", []byte("m"))
	b.Publish("orders", "", []byte("n"))
	for _, tc := range []struct {
		c    *client
		want v2.Code
	}{
		{consumer(t, b, "c1"), v2.Code_OK},
		{simple(t, b, "c2", "orders", "workers"), v2.Code_INTERNAL_SERVER_ERROR},
	} {
		req := tc.c.receiveRequest()
		req.FilterExpression = &v2.FilterExpression{Type: v2.FilterType_SQL, Expression: "a > 5"}
		st, _, err := tc.c.receive(req)
		if err != nil {
			t.Fatal(err)
		}
		wantCode(t, "receive from "+tc.c.topic, st, tc.want)
	}
}
