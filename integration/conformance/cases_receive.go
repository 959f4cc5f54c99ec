// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"slices"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/protobuf/types/known/durationpb"
)

// receiveCases are about ReceiveMessage.
func receiveCases() []testCase {
	return []testCase{
		{
			// The sign that a proxy was restarted and forgot the client.
			name: "a receive without settings answers a null pointer",
			run: func(s *scene) {
				s.wantStatus("receive", s.dial().receive().status, v2.Code_INTERNAL_SERVER_ERROR, "NullPointerException")
			},
		},
		{
			name: "a receive answers its status first, then the messages, then the instant of delivery",
			run: func(s *scene) {
				c := s.consumer()
				c.mustSend("lt", "a")
				if r := c.receive(); r.kinds != "smd" || r.status.GetCode() != v2.Code_OK {
					s.Errorf("got %q with status %v, want smd with OK", r.kinds, r.status)
				}
				if r := c.receive(); r.kinds != "sd" {
					s.Errorf("got %q for nothing, want sd", r.kinds)
				}
			},
		},
		{
			name: "an empty long poll answers MESSAGE_NOT_FOUND after its time (L19, X25c)",
			run: func(s *scene) {
				r := s.consumer().receive(longPoll(7 * time.Second))
				s.wantStatus("receive", r.status, v2.Code_MESSAGE_NOT_FOUND, "no new message")
				s.wantWithin("the long poll", r.took, 6*time.Second, 9*time.Second)
			},
		},
		{
			name: "a long poll shorter than five seconds takes five",
			run: func(s *scene) {
				r := s.consumer().receive(longPoll(time.Second))
				s.wantStatus("receive", r.status, v2.Code_MESSAGE_NOT_FOUND, "no new message")
				s.wantWithin("the long poll", r.took, 4500*time.Millisecond, 7*time.Second)
			},
		},
		{
			name: "a deadline nearer than five seconds is refused",
			run: func(s *scene) {
				c := s.consumer()
				ctx, cancel := context.WithTimeout(c.outgoing(s.ctx), 4*time.Second)
				defer cancel()
				s.wantStatus("receive", c.receiveWith(ctx).status, v2.Code_ILLEGAL_POLLING_TIME,
					"The deadline time remaining is not enough for polling")
			},
		},
		{
			// The case's own context has a deadline, so it is taken off.
			name: "a receive without a deadline answers a null pointer",
			run: func(s *scene) {
				c := s.consumer()
				ctx, cancel := context.WithCancel(c.outgoing(context.WithoutCancel(s.ctx)))
				defer cancel()
				defer context.AfterFunc(s.ctx, cancel)()
				s.wantStatus("receive", c.receiveWith(ctx).status, v2.Code_INTERNAL_SERVER_ERROR, "NullPointerException")
			},
		},
		{
			name: "an invisible duration under ten seconds or over twelve hours is refused (Y43)",
			run: func(s *scene) {
				c := s.consumer()
				s.wantStatus("none", c.receive(invisibleFor(0)).status, v2.Code_ILLEGAL_INVISIBLE_TIME, "too small. min is 10000")
				s.wantStatus("9.999s", c.receive(invisibleFor(9999*time.Millisecond)).status, v2.Code_ILLEGAL_INVISIBLE_TIME, "too small. min is 10000")
				s.wantStatus("12h1ms", c.receive(invisibleFor(12*time.Hour+time.Millisecond)).status, v2.Code_ILLEGAL_INVISIBLE_TIME, "too large. max is 43200000")
				c.mustSend("lt", "a")
				got := c.mustReceive(invisibleFor(12 * time.Hour))
				s.wantWithin("the deadline", deadline(s, got[0]).Sub(s.broker.Now()), 12*time.Hour-slack, 12*time.Hour)
			},
		},
		{
			// With auto-renew the proxy takes a minute whatever is asked for.
			name: "auto-renew needs no invisible duration (X22f)",
			run: func(s *scene) {
				c := s.consumer()
				c.mustSend("lt", "a")
				got := c.mustReceive(invisibleFor(0), func(r *v2.ReceiveMessageRequest) { r.AutoRenew = true })
				s.wantWithin("the deadline", deadline(s, got[0]).Sub(s.broker.Now()), time.Minute-slack, time.Minute)
				c.mustAck(got...)
			},
		},
		{
			name: "a message that is sent during a long poll ends it",
			run: func(s *scene) {
				c, sender := s.consumer(), s.dial()
				ctx, cancel := context.WithTimeout(c.outgoing(s.ctx), 30*time.Second)
				defer cancel()
				got := make(chan received, 1)
				start := s.broker.Now()
				go func() { got <- c.read(ctx, c.receiveRequest()) }()
				sender.mustSend("lt", "a")
				s.wantBodies("receive", (<-got).msgs, "a")
				s.wantWithin("the message", s.broker.Now().Sub(start), 0, slack)
			},
		},
		{
			name: "one receive brings messages of many lite topics, each with its lite topic",
			run: func(s *scene) {
				c := s.consumer()
				for i := range 5 {
					c.mustSend(fmt.Sprintf("lt-%d", i), fmt.Sprint(i))
				}
				for _, m := range c.mustReceiveAll(5) {
					if got, want := m.GetSystemProperties().GetLiteTopic(), "lt-"+string(m.GetBody()); got != want {
						s.Errorf("got lite topic %q for message %q, want %q", got, m.GetBody(), want)
					}
				}
			},
		},
		{
			name: "a receive brings 32 messages at most, whatever its batch size",
			run: func(s *scene) {
				c := s.consumer()
				for i := range 40 {
					c.mustSend(fmt.Sprintf("lt-%d", i), fmt.Sprint(i))
				}
				got := c.mustReceive(batchSize(100))
				if len(got) > 32 {
					s.Errorf("got %d messages, want 32 at most", len(got))
				}
				if rest := c.mustReceiveAll(40 - len(got)); len(got)+len(rest) != 40 {
					s.Errorf("got %d messages in all, want 40", len(got)+len(rest))
				}
			},
		},
		{
			name: "a receive brings no more messages than its batch size",
			run: func(s *scene) {
				c := s.consumer()
				c.mustSend("lt-1", "a", "b")
				c.mustSend("lt-2", "c")
				if got := c.mustReceive(batchSize(1)); len(got) != 1 {
					s.Errorf("got %q, want one message", bodies(got))
				}
			},
		},
		{
			// There is one queue of events per client, not per queue of the topic.
			name: "the queue and the name of the broker in a receive do not matter",
			run: func(s *scene) {
				c := s.consumer()
				for i, change := range []func(*v2.ReceiveMessageRequest){
					func(r *v2.ReceiveMessageRequest) { r.MessageQueue.Id = 0 },
					func(r *v2.ReceiveMessageRequest) { r.MessageQueue.Id = 5 },
					func(r *v2.ReceiveMessageRequest) { r.MessageQueue.Id = 99 },
					func(r *v2.ReceiveMessageRequest) { r.MessageQueue.Broker = nil },
					func(r *v2.ReceiveMessageRequest) { r.MessageQueue.Broker.Name = "no-such-broker" },
				} {
					c.mustSend("lt", fmt.Sprint(i))
					got := c.mustReceive(change)
					s.wantBodies("receive", got, fmt.Sprint(i))
					c.mustAck(got...)
				}
			},
		},
		{
			name: "a batch size of nothing brings nothing",
			run: func(s *scene) {
				c := s.consumer()
				c.mustSend("lt", "a")
				r := c.receive(batchSize(0))
				s.wantStatus("receive", r.status, v2.Code_MESSAGE_NOT_FOUND, "no new message")
				if len(r.msgs) > 0 {
					s.Errorf("got %q, want nothing", bodies(r.msgs))
				}
			},
		},
		{
			// The broker's long poll goes on without the client. What it pops
			// goes nowhere and comes again when its time is up.
			name: "a long poll that the client gave up still takes the next message (L46, X15)",
			run: func(s *scene) {
				c := s.consumer()
				ctx, cancel := context.WithTimeout(c.outgoing(s.ctx), 30*time.Second)
				done := make(chan struct{})
				go func() { defer close(done); c.read(ctx, c.receiveRequest()) }()
				s.broker.AwaitPoll(s.ctx, s.group, time.Second, after(done, time.Second))
				cancel()
				<-done
				start := s.broker.Now()
				c.mustSend("lt", "a")
				s.broker.AwaitTaken(s.ctx, c.topic)
				s.pass(invisible)
				got := c.mustReceive()
				s.wantBodies("again", got, "a")
				s.wantAttempts("again", got, 2)
				s.wantWithin("the message", s.broker.Now().Sub(start), invisible-time.Second, invisible+slack)
			},
		},
		{
			// The broker chooses a client when a message comes, not when a
			// client asks. A client that has subscribed and does not receive,
			// or stops receiving, holds up its share of the group's messages.
			name: "what was put aside for a client that does not ask goes to another one after ten seconds",
			only: Dispatch,
			run: func(s *scene) {
				s.consumer() // subscribes and never receives
				c := s.consumer()
				start := s.broker.Now()
				for i := range 20 {
					c.mustSend(fmt.Sprintf("lt-%d", i), fmt.Sprint(i))
				}
				first := len(c.mustReceive())
				if first == 20 {
					s.Fatal("got all messages at once, want some to be put aside for the other client")
				}
				c.mustReceiveAll(20 - first)
				s.wantWithin("the rest", s.broker.Now().Sub(start), 9*time.Second, 20*time.Second)
			},
		},
		{
			// A busy client that makes a pause of more than ten seconds while
			// something waits for it pays with ten more, even if it is alone.
			name: "a client that let a message wait for more than ten seconds is passed over for a while",
			only: Dispatch,
			run: func(s *scene) {
				c := s.consumer()
				c.mustSend("lt-1", "a")
				s.pass(13 * time.Second)
				s.wantBodies("what waited", c.mustReceive(), "a")
				c.mustSend("lt-2", "b")
				start := s.broker.Now()
				s.wantBodies("the next one", c.mustReceive(), "b")
				s.wantWithin("the next one", s.broker.Now().Sub(start), 2*time.Second, 12*time.Second)
			},
		},
		{
			// The bound is on what the proxy renews for a client.
			name: "a client with more than a hundred un-acked messages under auto-renew is refused",
			only: AutoRenew,
			run: func(s *scene) {
				c := s.consumer()
				renew := func(r *v2.ReceiveMessageRequest) { r.AutoRenew = true }
				for i := range 110 {
					c.mustSend(fmt.Sprintf("lt-%d", i), fmt.Sprint(i))
				}
				n := 0
				for n <= 100 {
					n += len(c.mustReceive(renew))
				}
				r := c.receive(renew)
				s.wantStatus("receive", r.status, v2.Code_FORBIDDEN, "has too many unacked messages")
				s.wantStatus("receive without", c.receive().status, v2.Code_FORBIDDEN, "has too many unacked messages")
			},
		},
		{
			name: "two clients of one group share its lite topics (X17)",
			run: func(s *scene) {
				a, b := s.consumer(), s.consumer()
				const n = 40
				for i := range n {
					a.mustSend(fmt.Sprintf("lt-%d", i), fmt.Sprint(i))
				}
				seen := map[string]int{}
				from := [2]int{}
				for tries := 0; len(seen) < n && tries < 10; tries++ {
					for i, c := range []*client{a, b} {
						got := c.receive(batchSize(8)).msgs
						from[i] += len(got)
						for _, m := range got {
							seen[string(m.GetBody())]++
							c.mustAck(m)
						}
					}
				}
				if len(seen) != n || from[0]+from[1] != n {
					s.Errorf("got %d different messages, %v from the two clients, want %d once each", len(seen), from, n)
				}
				if from[0] == 0 || from[1] == 0 {
					s.Errorf("got %v messages from the two clients, want some from each", from)
				}
			},
		},
		{
			name:  "two groups each get every message",
			setup: secondGroup,
			run: func(s *scene) {
				a, b := s.consumer(), s.dial()
				b.group = s.name("second")
				b.mustSession()
				b.mustSubscribe()
				a.mustSend("lt", "a")
				s.wantBodies("the first group", a.mustReceive(), "a")
				s.wantBodies("the second group", b.mustReceive(), "a")
			},
		},
		{
			name: "a receive from a topic that does not exist answers TOPIC_NOT_FOUND",
			run: func(s *scene) {
				c := s.consumer()
				r := c.receive(func(r *v2.ReceiveMessageRequest) { r.MessageQueue.Topic = resource(s.name("missing")) })
				s.wantStatus("receive", r.status, v2.Code_TOPIC_NOT_FOUND, "")
			},
		},
		{
			name:  "a receive from another topic than the group's is an internal error (X19)",
			setup: otherTopic,
			run: func(s *scene) {
				c := s.consumer()
				r := c.receive(func(r *v2.ReceiveMessageRequest) { r.MessageQueue.Topic = resource(s.name("other")) })
				s.wantStatus("receive", r.status, v2.Code_INTERNAL_SERVER_ERROR, "subscription bind topic not match, "+s.group)
			},
		},
		{
			name:  "a lite consumer's receive from a normal topic is an internal error",
			setup: normalTopic,
			run: func(s *scene) {
				c := s.consumer()
				r := c.receive(func(r *v2.ReceiveMessageRequest) { r.MessageQueue.Topic = resource(s.name("normal")) })
				s.wantStatus("receive", r.status, v2.Code_INTERNAL_SERVER_ERROR, "message type not match")
			},
		},
		{
			name:  "a lite consumer's receive for a regular group is an internal error (X02)",
			setup: regularGroup,
			run: func(s *scene) {
				c := s.consumer()
				c.group = s.name("regular")
				s.wantStatus("receive", c.receive().status, v2.Code_INTERNAL_SERVER_ERROR, "subscription bind topic not match, "+c.group)
			},
		},
		{
			name: "a lite consumer's receive for a group that does not exist is an internal error",
			run: func(s *scene) {
				c := s.consumer()
				c.group = s.name("missing")
				s.wantStatus("receive", c.receive().status, v2.Code_INTERNAL_SERVER_ERROR, "subscription bind topic not match, "+c.group)
			},
		},
		{
			// The proxy acks what does not match: it is lost to the group.
			name: "a tag filter of a lite receive acks what does not match",
			run: func(s *scene) {
				c := s.consumer()
				c.behindGate("lt", func() {
					for _, tag := range []string{"red", "blue", "red"} {
						m := c.message("lt", tag)
						m.SystemProperties.Tag = &tag
						s.wantStatus("send", c.send(m).GetStatus(), v2.Code_OK, "OK")
					}
				})
				got := c.mustReceive(func(r *v2.ReceiveMessageRequest) { r.FilterExpression.Expression = "blue" })
				s.wantBodies("filtered", got, "blue")
				c.mustAck(got...)
				c.mustBeEmpty("without a filter")
			},
		},
		{
			name: "a malformed tag expression is refused",
			run: func(s *scene) {
				c := s.consumer()
				r := c.receive(func(r *v2.ReceiveMessageRequest) { r.FilterExpression.Expression = "||" })
				s.wantStatus("receive", r.status, v2.Code_ILLEGAL_FILTER_EXPRESSION, "")
			},
		},
		{
			// The answer to a receive got lost: the client asks again with the
			// same attempt id and gets the same messages, not counted again.
			name: "a receive with the attempt id of the last one brings the same messages again (L46)",
			run: func(s *scene) {
				c := s.consumer()
				attempt := func(r *v2.ReceiveMessageRequest) { id := "attempt-1"; r.AttemptId = &id }
				c.mustSend("lt", "a", "b")
				first := c.mustReceive(attempt)
				c.mustSend("lt", "c")
				again := c.mustReceive(attempt)
				if !slices.Contains(bodies(again), string(first[0].GetBody())) {
					s.Errorf("got %q, want %q once more", bodies(again), bodies(first))
				}
				s.wantAttempts("again", again[:1], 1)
			},
		},
	}
}

// after is a channel that closes with done, or after d of real time.
func after(done <-chan struct{}, d time.Duration) <-chan struct{} {
	out := make(chan struct{})
	timer := time.NewTimer(d)
	go func() {
		defer close(out)
		defer timer.Stop()
		select {
		case <-done:
		case <-timer.C:
		}
	}()
	return out
}

func longPoll(d time.Duration) func(*v2.ReceiveMessageRequest) {
	return func(r *v2.ReceiveMessageRequest) { r.LongPollingTimeout = durationpb.New(d) }
}

func invisibleFor(d time.Duration) func(*v2.ReceiveMessageRequest) {
	return func(r *v2.ReceiveMessageRequest) { r.InvisibleDuration = durationpb.New(d) }
}

func batchSize(n int32) func(*v2.ReceiveMessageRequest) {
	return func(r *v2.ReceiveMessageRequest) { r.BatchSize = n }
}
