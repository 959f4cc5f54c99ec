// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"strings"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/protobuf/proto"
)

// changeCases are about ChangeInvisibleDuration without the suspend flag.
func changeCases() []testCase {
	return []testCase{
		{
			name: "a change without a session answers a null pointer",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				answer := s.dial().change(c.changeRequest(got[0], 20*time.Second))
				s.wantStatus("change", answer.GetStatus(), v2.Code_INTERNAL_SERVER_ERROR, "NullPointerException")
			},
		},
		{
			// Any session will do: here one of a regular group, which has no
			// lite subscription.
			name:  "a change needs a session of its client id, of any consumer type and group",
			setup: regularGroup,
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				other := s.dial()
				other.group = s.name("regular")
				other.mustSessionAs(v2.ClientType_SIMPLE_CONSUMER)
				other.group = s.group
				other.mustChange(got[0], time.Second)
				s.pass(time.Second)
				s.wantBodies("again", c.mustReceive(), "a")
			},
		},
		{
			name: "a change brings the message back at the new time, one attempt on",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				start := s.broker.Now()
				c.mustChange(got[0], 2*time.Second)
				s.pass(2 * time.Second)
				again := c.mustReceive()
				s.wantBodies("again", again, "a")
				s.wantAttempts("again", again, 2)
				s.wantWithin("the change", s.broker.Now().Sub(start), 1500*time.Millisecond, 2*time.Second+slack)
			},
		},
		{
			name: "a change to a longer time holds the message back",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				start := s.broker.Now()
				c.mustChange(got[0], 18*time.Second)
				s.pass(invisible)
				c.mustBeEmpty("at the old time")
				s.pass(3 * time.Second)
				s.wantBodies("again", c.mustReceive(), "a")
				s.wantWithin("the change", s.broker.Now().Sub(start), 17*time.Second, 18*time.Second+slack)
			},
		},
		{
			// No lower bound: the ten seconds are for receives.
			name: "a change to nothing brings the message back at once",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				start := s.broker.Now()
				c.mustChange(got[0], 0)
				s.wantBodies("again", c.mustReceive(), "a")
				s.wantWithin("the change", s.broker.Now().Sub(start), 0, slack)
			},
		},
		{
			name: "a change to less than nothing or to over twelve hours is refused",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				s.wantStatus("negative", c.change(c.changeRequest(got[0], -time.Second)).GetStatus(),
					v2.Code_ILLEGAL_INVISIBLE_TIME, "too small. min is 0")
				s.wantStatus("12h1ms", c.change(c.changeRequest(got[0], 12*time.Hour+time.Millisecond)).GetStatus(),
					v2.Code_ILLEGAL_INVISIBLE_TIME, "too large. max is 43200000")
				s.wantStatus("12h", c.change(c.changeRequest(got[0], 12*time.Hour)).GetStatus(), v2.Code_OK, "OK")
			},
		},
		{
			name: "a change answers a new handle, and an ack with it works (L03, L30)",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				old := handleOf(got[0])
				c.mustChange(got[0], 20*time.Second)
				if handleOf(got[0]) == old {
					s.Error("got the old handle, want a new one")
				}
				c.mustAck(got...)
				s.pass(20 * time.Second)
				c.mustBeEmpty("after the ack")
			},
		},
		{
			// Luck, not contract: see the twin case about a message that came
			// again in the meantime.
			name: "the old handle goes on working after a change, as long as its own time has not run out (L03)",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				old := withHandle(got[0], handleOf(got[0]))
				c.mustChange(got[0], 20*time.Second)
				c.mustAck(old)
				s.pass(20 * time.Second)
				c.mustBeEmpty("after the ack")
			},
		},
		{
			name: "the old handle expires at its own time, the new one at the new time (L03)",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				old := withHandle(got[0], handleOf(got[0]))
				c.mustChange(got[0], 25*time.Second)
				s.pass(invisible + time.Second)
				s.wantEntry("the old handle", c.ack(entry(old)), v2.Code_INVALID_RECEIPT_HANDLE, "expired")
				c.mustAck(got...)
			},
		},
		{
			name: "a chain of three changes, each with the handle of the one before, ends at the third (L09, X24)",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				handles := map[string]bool{handleOf(got[0]): true}
				for _, d := range []time.Duration{20 * time.Second, 15 * time.Second, 3 * time.Second} {
					c.mustChange(got[0], d)
					handles[handleOf(got[0])] = true
				}
				if len(handles) != 4 {
					s.Errorf("got %d different handles, want 4", len(handles))
				}
				start := s.broker.Now()
				s.pass(3 * time.Second)
				again := c.mustReceive()
				s.wantBodies("again", again, "a")
				s.wantAttempts("again", again, 2)
				s.wantWithin("the third change", s.broker.Now().Sub(start), 2500*time.Millisecond, 3*time.Second+slack)
			},
		},
		{
			// 5.5.0 keeps deadlines of lite topics in memory, not as records
			// that cancel each other out.
			name: "a hundred messages whose deadline is changed to what it is all come again (Y35)",
			run: func(s *scene) {
				c := s.consumer()
				const n = 100
				for i := range n {
					c.mustSend(fmt.Sprintf("lt-%d", i), fmt.Sprint(i))
				}
				got := c.mustReceiveAll(n)
				now := s.broker.Now()
				for _, m := range got {
					// The same deadline to the millisecond needs luck on a real
					// clock; it is as near as a client can come.
					c.mustChange(m, deadline(s, m).Sub(now))
				}
				s.pass(invisible)
				seen := map[string]bool{}
				for _, m := range c.mustReceiveAll(n) {
					seen[string(m.GetBody())] = true
				}
				if len(seen) != n {
					s.Errorf("got %d different messages again, want %d", len(seen), n)
				}
			},
		},
		{
			name: "a change of an expired handle answers INVALID_RECEIPT_HANDLE",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				s.pass(invisible + time.Second)
				s.wantStatus("change", c.change(c.changeRequest(got[0], 20*time.Second)).GetStatus(),
					v2.Code_INVALID_RECEIPT_HANDLE, "receipt handle is expired")
			},
		},
		{
			name: "a change after the ack answers OK with a handle of zeros",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				c.mustAck(got...)
				c.mustChange(got[0], 20*time.Second)
				if h := handleOf(got[0]); !strings.Contains(h, " 0 0 0 ") {
					s.Errorf("got handle %q, want zeros for pop time, invisible time and revive queue", h)
				}
				s.wantEntry("an ack with it", c.ack(entry(got[0])), v2.Code_INVALID_RECEIPT_HANDLE, "expired")
			},
		},
		{
			name: "a change with a malformed handle is an internal error",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				s.wantStatus("change", c.change(c.changeRequest(withHandle(got[0], "garbage"), time.Second)).GetStatus(),
					v2.Code_INTERNAL_SERVER_ERROR, "Parse failed, dataList size 1")
			},
		},
		{
			name: "a change without the lite topic does not change the message (L28)",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				req := c.changeRequest(got[0], 20*time.Second)
				req.LiteTopic = nil
				s.wantStatus("change", c.change(req).GetStatus(), v2.Code_INTERNAL_SERVER_ERROR, "changeInvisibleDuration failed: status is abnormal")
				s.pass(invisible)
				s.wantBodies("again", c.mustReceive(), "a")
			},
		},
		{
			name: "a change for a lite topic that does not exist fails",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				req := c.changeRequest(got[0], 20*time.Second)
				req.LiteTopic = proto.String("no-such")
				s.wantStatus("change", c.change(req).GetStatus(), v2.Code_INTERNAL_SERVER_ERROR, "changeInvisibleDuration failed: status is abnormal")
			},
		},
		{
			// OK and a handle, though the message has a newer delivery: a
			// former owner is not told (Y32).
			name: "a change with the handle of an earlier delivery is OK and changes nothing (Y32)",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				first := handleOf(got[0])
				c.mustChange(got[0], time.Second)
				s.pass(time.Second)
				again := c.mustReceive()
				start := s.broker.Now()
				answer := c.change(c.changeRequest(withHandle(got[0], first), 30*time.Second))
				s.wantStatus("change", answer.GetStatus(), v2.Code_OK, "OK")
				s.pass(invisible)
				s.wantBodies("once more", c.mustReceive(), bodies(again)...)
				s.wantWithin("the second delivery's time", s.broker.Now().Sub(start), invisible-time.Second, invisible+slack)
			},
		},
		{
			name: "a change goes through another client of the group too",
			run: func(s *scene) {
				a, b := s.consumer(), s.consumer()
				a.mustSend("lt", "a")
				var got []*v2.Message
				for len(got) == 0 {
					got = append(a.receive().msgs, b.receive().msgs...)
				}
				b.mustChange(got[0], 20*time.Second)
				a.mustChange(got[0], 20*time.Second)
				a.mustAck(got...)
			},
		},
	}
}

// deadline is when the message's handle runs out: the second and third field
// of a handle are the instant of the pop and the invisible time, in
// milliseconds.
func deadline(s *scene, m *v2.Message) time.Time {
	s.Helper()
	var start, popped, hidden int64
	if _, err := fmt.Sscan(handleOf(m), &start, &popped, &hidden); err != nil {
		s.Fatalf("handle %q: %v", handleOf(m), err)
	}
	return time.UnixMilli(popped + hidden)
}
