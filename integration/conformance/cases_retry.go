// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
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
