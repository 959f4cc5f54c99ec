// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// retryCases are about messages that come again until they come no more.
func retryCases() []testCase {
	return []testCase{
		{
			// One delivery and as many retries as the group allows. The proxy
			// gives the message to the dead letters and answers at once, with
			// another text than after a long poll.
			name: "a message that had its attempts is not delivered again, but goes to the dead letters (Y38)",
			setup: func(s *scene) Setup {
				return Setup{Groups: []Group{{Name: s.group, Bind: s.topic, Wildcard: true, RetryMaxTimes: 2}}}
			},
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				for attempt := int32(2); attempt <= 3; attempt++ {
					c.mustChange(got[0], time.Second)
					s.pass(time.Second)
					got = c.mustReceive()
					s.wantAttempts("again", got, attempt)
				}
				c.mustChange(got[0], time.Second)
				s.pass(time.Second)
				r := c.receive()
				s.wantStatus("the fourth time", r.status, v2.Code_MESSAGE_NOT_FOUND, "no match message")
				s.wantWithin("the answer", r.took, 0, slack)
			},
		},
		{
			// The copy among the dead letters keeps the property by which a
			// message is put into its lite topic, so it lands there once more,
			// with the original's offset in its handle and in the place of the
			// next message, which is lost. An ack acks the original, which is
			// OK and has no effect: the copy comes again and again, and with it
			// what was sent later, acked or not. A client must ack a message
			// before its attempts are over, and never forward one.
			name: "a lite message among the dead letters comes back in the place of the next one, and its lite topic never gets past it (L47, X04c)",
			run: func(s *scene) {
				c := s.consumer()
				c.mustSend("lt", "a")
				answer := c.forward(c.mustReceive()[0])
				s.wantStatus("forward", answer.GetStatus(), v2.Code_OK, "0")
				again := c.mustReceive()
				s.wantBodies("the copy", again, "a")
				s.wantAttempts("the copy", again, 1)
				if got, want := again[0].GetTopic().GetName(), "%DLQ%"+s.group; got != want {
					s.Errorf("got topic %q, want %q", got, want)
				}
				if got := again[0].GetSystemProperties().GetMessageType(); got != v2.MessageType_DELAY {
					s.Errorf("got message type %v, want DELAY", got)
				}
				c.mustAck(again...)
				c.mustSend("lt", "b", "c")
				s.pass(invisible)
				again = c.mustReceive()
				s.wantBodies("after an ack", again, "a", "c")
				c.mustAck(again...)
				s.pass(invisible)
				s.wantBodies("after two acks", c.mustReceive(), "a", "c")
			},
		},
		{
			name: "a large message that expires comes again intact (L25)",
			run: func(s *scene) {
				c := s.consumer()
				big := strings.Repeat("hello ", 500000)
				c.mustSend("lt", big)
				c.mustReceive()
				s.pass(invisible)
				if got := c.mustReceive(); string(got[0].GetBody()) != big {
					s.Errorf("got %d bytes, want the %d that were sent", len(got[0].GetBody()), len(big))
				}
			},
		},
		{
			// A message that was sent meanwhile hides the attempts of those
			// before it: the message that had them all is delivered once more.
			name: "a message that had its attempts is delivered again beside a new one",
			setup: func(s *scene) Setup {
				return Setup{Groups: []Group{{Name: s.group, Bind: s.topic, Wildcard: true, RetryMaxTimes: 1}}}
			},
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				c.mustChange(got[0], time.Second)
				s.pass(time.Second)
				got = c.mustReceive()
				s.wantAttempts("again", got, 2)
				c.mustSend("lt", "b")
				c.mustChange(got[0], 2*time.Second)
				s.pass(2 * time.Second)
				got = c.mustReceive()
				s.wantBodies("once more", got, "a", "b")
				s.wantAttempts("once more", got, 1, 1)
			},
		},
	}
}

func (c *client) forward(m *v2.Message) *v2.ForwardMessageToDeadLetterQueueResponse {
	c.s.Helper()
	p := m.GetSystemProperties()
	ctx, cancel := c.rpc()
	defer cancel()
	answer, err := c.stub.ForwardMessageToDeadLetterQueue(ctx, &v2.ForwardMessageToDeadLetterQueueRequest{
		Group: resource(c.group), Topic: resource(c.topic), ReceiptHandle: p.GetReceiptHandle(), MessageId: p.GetMessageId(),
		DeliveryAttempt: p.GetDeliveryAttempt(), MaxDeliveryAttempts: 16, LiteTopic: p.LiteTopic})
	if err != nil {
		c.s.Fatalf("forward: %v", err)
	}
	return answer
}
