// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"context"
	"strings"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// abandon starts a receive and gives it up once it waits.
func (c *client) abandon(b *embedded.Broker) {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.ctx(patience))
	stream, err := c.ReceiveMessage(c.sign(ctx), c.receiveRequest())
	if err != nil {
		c.t.Fatal(err)
	}
	wait(c.t, b, "a long poll", func(s embedded.Snapshot) bool { return s.LongPolls(wild) == 1 })
	cancel()
	if _, err := stream.Recv(); err == nil {
		c.t.Fatal("got an answer from a receive that was given up")
	}
	wait(c.t, b, "the long poll to be given up", func(s embedded.Snapshot) bool { return s.LongPolls(wild) == 0 })
}

func TestALongPollThatItsClientGaveUpTakesTheNextMessage(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	c := consumer(t, b, "c1")
	c.abandon(b)
	id := b.Publish(bus, "t1", []byte("m"))
	wait(t, b, "a delivery to nowhere", func(s embedded.Snapshot) bool {
		m, _ := s.Message(id)
		return len(m.Deliveries) == 1
	})
	clock.Advance(30 * time.Second)
	if n := attempt(c.want("m")[0]); n != 2 {
		t.Errorf("attempt %d at its first sight, want 2", n)
	}
}

func TestALongPollThatItsClientGaveUpEndsWithItsTimeTheSubscriptionOrTheProxy(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(b *embedded.Broker, clock *embedded.Clock){
		"time":         func(_ *embedded.Broker, clock *embedded.Clock) { clock.Advance(20 * time.Second) },
		"subscription": func(b *embedded.Broker, _ *embedded.Clock) { b.ForgetSubscriptions(wild) },
		"proxy":        func(b *embedded.Broker, _ *embedded.Clock) { b.Restart() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := embedded.NewClock(epoch())
			b := start(t, embedded.WithClock(clock))
			consumer(t, b, "c1").abandon(b)
			end(b, clock)
			b.Publish(bus, "t1", []byte("m"))
			if n := attempt(consumer(t, b, "c2").want("m")[0]); n != 1 {
				t.Errorf("attempt %d, want 1", n)
			}
		})
	}
}

// A message of the batch is acked after the restart and takes the one before it
// along: that one is lost to the group. It is what the real broker does.
func TestAfterARestartOfTheBrokerAnAckTakesEarlierMessagesAlong(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	for _, body := range []string{"a", "b", "c"} {
		b.Publish(bus, "t1", []byte(body))
	}
	c := consumer(t, b, "c1")
	got := c.want("a", "b", "c")
	b.RestartBroker()
	for _, s := range b.Sessions() {
		if s.Subscribed {
			t.Errorf("session %v is still subscribed", s)
		}
	}
	c.ack(got[1])
	c.subscribe()
	if n := attempt(c.want("c")[0]); n != 1 {
		t.Errorf("attempt %d after the restart, want 1", n)
	}
}

func TestADeadLetterTakesThePlaceOfTheNextMessage(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	c := consumer(t, b, "c1")
	id := b.Publish(bus, "t1", []byte("a"))
	c.forward(id, c.want("a")[0])
	lost := b.Publish(bus, "t1", []byte("b"))
	b.Publish(bus, "t1", []byte("c"))
	c.want("a", "c")
	if m, ok := b.Message(lost); !ok || len(m.Deliveries) != 0 {
		t.Errorf("message b: stored %v, deliveries %v, want stored and never delivered", ok, m.Deliveries)
	}
}

func TestALiteMessageIsBoundedAsAWhole(t *testing.T) {
	t.Parallel()
	const limit = 10000
	b := start(t, embedded.WithMaxBodySize(limit))
	c := dial(t, b, "p1")
	wantCode(t, "a body at the limit", c.send(message(bus, "t1", "1", strings.Repeat("x", limit))).GetStatus(), v2.Code_INTERNAL_SERVER_ERROR)
	wantCode(t, "a body below it", c.send(message(bus, "t1", "2", strings.Repeat("x", limit-1000))).GetStatus(), v2.Code_OK)
	m := message(bus, "t1", "3", strings.Repeat("x", limit-1000))
	m.UserProperties = map[string]string{"k": strings.Repeat("v", 1000)}
	wantCode(t, "the same with properties", c.send(m).GetStatus(), v2.Code_INTERNAL_SERVER_ERROR)
	m = message("orders", "", "4", strings.Repeat("x", limit))
	wantCode(t, "a normal message at the limit", c.send(m).GetStatus(), v2.Code_OK)
}
