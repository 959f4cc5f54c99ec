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
			// One delivery and as many retries as the group allows.
			name: "a message that had its attempts is delivered no more (Y38)",
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
				// The proxy gives it to the dead letters and answers at once,
				// with another text than after a long poll.
				r := c.receive()
				s.wantStatus("the fourth time", r.status, v2.Code_MESSAGE_NOT_FOUND, "no match message")
				s.wantWithin("the answer", r.took, 0, slack)
				c.mustSend("lt", "b")
				s.wantBodies("what follows", c.mustReceive(), "b")
			},
		},
		{
			name: "a message that is forwarded to the dead letters comes no more, and the lite topic goes on (L47)",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b")
				p := got[0].GetSystemProperties()
				ctx, cancel := c.rpc()
				defer cancel()
				answer, err := c.stub.ForwardMessageToDeadLetterQueue(ctx, &v2.ForwardMessageToDeadLetterQueueRequest{
					Group: resource(c.group), Topic: resource(c.topic), ReceiptHandle: p.GetReceiptHandle(),
					MessageId: p.GetMessageId(), DeliveryAttempt: p.GetDeliveryAttempt(), MaxDeliveryAttempts: 16, LiteTopic: p.LiteTopic})
				if err != nil {
					s.Fatal(err)
				}
				s.wantStatus("forward", answer.GetStatus(), v2.Code_OK, "")
				c.mustAck(got[1])
				s.pass(invisible)
				c.mustBeEmpty("after the forward and the ack")
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
