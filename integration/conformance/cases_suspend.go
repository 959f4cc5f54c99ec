// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// suspendCases are about ChangeInvisibleDuration with the suspend flag. It acts
// on the batch, not on the message: all messages of the lite topic that were
// popped with this one get its time, and lose the times that they had.
func suspendCases() []testCase {
	return []testCase{
		{
			// The first redelivery counts before the first suspend can take it
			// back, so it is 2, and stays so (L11, X16).
			name: "a message that is suspended again and again stays at attempt 2 (L11, X16)",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				for range 4 {
					c.mustSuspend(got[0], time.Second)
					s.pass(time.Second)
					got = c.mustReceive()
					s.wantBodies("again", got, "a")
					s.wantAttempts("again", got, 2)
				}
			},
		},
		{
			name: "a message that is deferred without suspend counts every time (L11, X16)",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				for i := range int32(4) {
					c.mustChange(got[0], time.Second)
					s.pass(time.Second)
					got = c.mustReceive()
					s.wantBodies("again", got, "a")
					s.wantAttempts("again", got, i+2)
				}
			},
		},
		{
			// It comes within a second of the time asked for (Y39).
			name: "suspending one message of a batch gives all of them its time",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b", "c")
				start := s.broker.Now()
				c.mustSuspend(got[1], 2*time.Second)
				s.pass(2 * time.Second)
				s.wantBodies("again", c.mustReceive(), "a", "b", "c")
				s.wantWithin("the batch", s.broker.Now().Sub(start), 1500*time.Millisecond, 2*time.Second+slack)
			},
		},
		{
			// Deferring each message of a batch by its own time works without
			// suspend only.
			name: "of several suspends in a batch the last one decides, however short",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b")
				start := s.broker.Now()
				c.mustSuspend(got[0], 20*time.Second)
				c.mustChange(got[0], 20*time.Second)
				c.mustSuspend(got[1], 2*time.Second)
				s.pass(2 * time.Second)
				s.wantBodies("again", c.mustReceive(), "a", "b")
				s.wantWithin("the batch", s.broker.Now().Sub(start), 1500*time.Millisecond, 2*time.Second+slack)
			},
		},
		{
			name: "a change after a suspend gives the message its own time again",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b")
				start := s.broker.Now()
				c.mustSuspend(got[0], 2*time.Second)
				c.mustChange(got[1], 4*time.Second)
				s.pass(4 * time.Second)
				s.wantBodies("again", c.mustReceive(), "a", "b")
				s.wantWithin("the batch", s.broker.Now().Sub(start), 3500*time.Millisecond, 4*time.Second+slack)
			},
		},
		{
			// Each suspend takes one attempt back from every message of the
			// batch. Suspending n messages of one batch takes back n.
			name: "each suspend of a batch takes back one attempt of all its messages",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b")
				for range 3 {
					c.mustChange(got[0], time.Second)
					c.mustChange(got[1], time.Second)
					s.pass(time.Second)
					got = c.mustReceive()
				}
				s.wantAttempts("after three deferrals", got, 4, 4)
				c.mustSuspend(got[0], time.Second)
				c.mustSuspend(got[1], time.Second)
				s.pass(time.Second)
				s.wantAttempts("after two suspends", c.mustReceive(), 3, 3)
			},
		},
		{
			name: "a suspend answers a new handle, and an ack with it works",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b")
				old := handleOf(got[0])
				c.mustSuspend(got[0], 20*time.Second)
				if handleOf(got[0]) == old {
					s.Error("got the old handle, want a new one")
				}
				// The other message's handle is still the old one. It works as
				// long as its own time has not run out.
				c.mustAck(got...)
				s.pass(20 * time.Second)
				c.mustBeEmpty("after the acks")
			},
		},
		{
			name: "the other handles of a suspended batch run out at their old time",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b")
				c.mustSuspend(got[0], 20*time.Second)
				s.pass(invisible + time.Second)
				answer := c.ack(entry(got[1]))
				s.wantEntry("the other handle", answer, v2.Code_INVALID_RECEIPT_HANDLE, "expired")
				c.mustAck(got[0])
				s.pass(20*time.Second - invisible - time.Second)
				s.wantBodies("again", c.mustReceive(), "b")
			},
		},
		{
			name: "messages that were acked in a suspended batch come again if they are behind one that was not",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b", "c")
				c.mustAck(got[0], got[2])
				c.mustSuspend(got[1], time.Second)
				s.pass(time.Second)
				s.wantBodies("again", c.mustReceive(), "b", "c")
			},
		},
	}
}
