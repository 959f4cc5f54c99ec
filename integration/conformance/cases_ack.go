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

// ackCases are about AckMessage.
func ackCases() []testCase {
	return []testCase{
		{
			name: "many entries are acked in one request, and answered one by one in their order",
			run: func(s *scene) {
				c := s.consumer()
				for i := range 20 {
					c.mustSend(fmt.Sprintf("lt-%d", i), fmt.Sprint(i))
				}
				got := c.mustReceiveAll(20)
				entries := make([]*v2.AckMessageEntry, 0, 20)
				for _, m := range got {
					entries = append(entries, entry(m))
				}
				answer := c.ack(entries...)
				s.wantStatus("ack", answer.GetStatus(), v2.Code_OK, "OK")
				for i, e := range answer.GetEntries() {
					s.wantStatus("entry", e.GetStatus(), v2.Code_OK, "OK")
					if e.GetReceiptHandle() != entries[i].GetReceiptHandle() || e.GetMessageId() != entries[i].GetMessageId() {
						s.Errorf("entry %d: got another message's answer", i)
					}
				}
				if n := len(answer.GetEntries()); n != 20 {
					s.Errorf("got %d entries, want 20", n)
				}
				s.pass(invisible)
				c.mustBeEmpty("after the acks")
			},
		},
		{
			// A process that never received anything can ack: the handle, the
			// group and both topics are all that it takes (P04, X04a).
			name: "an ack needs no session",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				s.dial().mustAck(got...)
				s.pass(invisible)
				c.mustBeEmpty("after the ack")
			},
		},
		{
			name: "an entry without its lite topic fails by itself (L10, X25d)",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b")
				bare := entry(got[0])
				bare.LiteTopic = nil
				answer := c.ack(bare, entry(got[1]))
				s.wantStatus("ack", answer.GetStatus(), v2.Code_MULTIPLE_RESULTS, "MULTIPLE_RESULTS")
				s.wantStatus("without", answer.GetEntries()[0].GetStatus(), v2.Code_INTERNAL_SERVER_ERROR, "ack failed: status is abnormal")
				s.wantStatus("with", answer.GetEntries()[1].GetStatus(), v2.Code_OK, "OK")
			},
		},
		{
			name: "an ack with the name of a lite topic that does not exist fails",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				wrong := entry(got[0])
				wrong.LiteTopic = proto.String("other")
				s.wantEntry("ack", c.ack(wrong), v2.Code_INTERNAL_SERVER_ERROR, "ack failed: status is abnormal")
				s.pass(invisible)
				s.wantBodies("again", c.mustReceive(), "a")
			},
		},
		{
			name: "an ack of an expired handle answers INVALID_RECEIPT_HANDLE, and the rest is acked (L06, X05)",
			run: func(s *scene) {
				c := s.consumer()
				old := c.mustBatch("lt", "a")
				s.pass(invisible)
				again := c.mustReceive(invisibleFor(time.Minute))
				c.mustSend("other", "b")
				fresh := c.mustReceive(invisibleFor(time.Minute))
				answer := c.ack(entry(old[0]), entry(fresh[0]))
				s.wantStatus("ack", answer.GetStatus(), v2.Code_MULTIPLE_RESULTS, "MULTIPLE_RESULTS")
				s.wantStatus("the expired one", answer.GetEntries()[0].GetStatus(), v2.Code_INVALID_RECEIPT_HANDLE, "receipt handle is expired")
				s.wantStatus("the fresh one", answer.GetEntries()[1].GetStatus(), v2.Code_OK, "OK")
				// The handle of the latest delivery is the one that works (Y01).
				c.mustAck(again...)
				c.mustSend("lt", "c")
				s.wantBodies("the lite topic goes on", c.mustReceive(), "c")
			},
		},
		{
			name: "a malformed handle is an internal error of its entry (L06)",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				bad := entry(got[0])
				bad.ReceiptHandle = "garbage"
				answer := c.ack(bad, entry(got[0]))
				s.wantStatus("ack", answer.GetStatus(), v2.Code_MULTIPLE_RESULTS, "MULTIPLE_RESULTS")
				s.wantStatus("garbage", answer.GetEntries()[0].GetStatus(), v2.Code_INTERNAL_SERVER_ERROR, "Parse failed, dataList size 1")
				s.wantStatus("the real one", answer.GetEntries()[1].GetStatus(), v2.Code_OK, "OK")
			},
		},
		{
			name: "an empty handle is an internal error of its entry",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				bad := entry(got[0])
				bad.ReceiptHandle = ""
				s.wantEntry("ack", c.ack(bad), v2.Code_INTERNAL_SERVER_ERROR, "Parse failed, dataList size 1")
			},
		},
		{
			name: "an ack without entries is an internal error",
			run: func(s *scene) {
				s.wantStatus("ack", s.dial().ack().GetStatus(), v2.Code_INTERNAL_SERVER_ERROR, "ack message result is empty")
			},
		},
		{
			name: "an ack twice answers OK twice (B21)",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				c.mustAck(got...)
				c.mustAck(got...)
				c.mustAck(got[0], got[0])
			},
		},
		{
			// Both groups popped the message at different times, and the time
			// of the pop is what an ack is known by.
			name:  "another group's handle is OK and acks nothing",
			setup: secondGroup,
			run: func(s *scene) {
				a, b := s.consumer(), s.dial()
				b.group = s.name("second")
				b.mustSession()
				b.mustSubscribe()
				a.mustSend("lt", "a")
				got := a.mustReceive()
				s.pass(10 * time.Millisecond)
				s.wantBodies("the second group", b.mustReceive(), "a")
				s.wantStatus("ack", b.ack(entry(got[0])).GetStatus(), v2.Code_OK, "OK")
				s.pass(invisible)
				s.wantBodies("the second group again", b.mustReceive(), "a")
			},
		},
		{
			// A group that never popped from the lite topic has nothing to
			// compare the handle with: the ack moves it past the message.
			name:  "a foreign handle acks a message for a group that has not received it yet",
			setup: secondGroup,
			run: func(s *scene) {
				a, b := s.consumer(), s.dial()
				b.group = s.name("second")
				a.mustSend("lt", "a")
				got := a.mustReceive()
				a.mustSend("lt", "b")
				s.wantStatus("ack", b.ack(entry(got[0])).GetStatus(), v2.Code_OK, "OK")
				b.mustSession()
				b.mustSubscribe()
				s.pass(6 * time.Second)
				s.wantBodies("the second group", b.mustReceive(), "b")
			},
		},
		{
			name:  "an ack for a group that is bound to another topic is an internal error",
			setup: otherTopicWithGroup,
			run: func(s *scene) {
				a, b := s.consumer(), s.dial()
				b.group = s.name("second")
				got := a.mustBatch("lt", "a")
				s.wantEntry("ack", b.ack(entry(got[0])), v2.Code_INTERNAL_SERVER_ERROR, "ack failed: status is abnormal")
			},
		},
		{
			name: "an ack for a group or a topic that does not exist is an internal error",
			run: func(s *scene) {
				a := s.consumer()
				got := a.mustBatch("lt", "a")
				b := s.dial()
				b.group = s.name("missing")
				s.wantEntry("the group", b.ack(entry(got[0])), v2.Code_INTERNAL_SERVER_ERROR, "ack failed: status is abnormal")
				b = s.dial()
				b.topic = s.name("missing")
				s.wantEntry("the topic", b.ack(entry(got[0])), v2.Code_INTERNAL_SERVER_ERROR, "ack failed: status is abnormal")
			},
		},
		{
			name: "the message id of an ack is not looked at",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				e := entry(got[0])
				e.MessageId = "nonsense"
				s.wantStatus("ack", c.ack(e).GetStatus(), v2.Code_OK, "OK")
				s.pass(invisible)
				c.mustBeEmpty("after the ack")
			},
		},
		{
			name: "a handle that names a broker which does not exist answers INVALID_RECEIPT_HANDLE",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				e := entry(got[0])
				e.ReceiptHandle = strings.Replace(e.ReceiptHandle, "broker-a", "broker-x", 1)
				s.wantEntry("ack", c.ack(e), v2.Code_INVALID_RECEIPT_HANDLE, "cannot find broker broker-x")
			},
		},
		{
			// The time in the handle decides, not the broker's memory: a
			// message whose deferral was cut short can come again while the
			// first handle has not run out. That handle is then answered OK
			// and acks nothing (L03).
			name: "an ack with the handle of an earlier delivery that has not run out is OK and acks nothing (L03)",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a")
				old := got[0]
				first := handleOf(old)
				c.mustChange(old, time.Second)
				s.pass(time.Second)
				again := c.mustReceive()
				s.wantBodies("again", again, "a")
				s.wantStatus("the first delivery's handle", c.ack(entry(withHandle(old, first))).GetStatus(), v2.Code_OK, "OK")
				s.pass(invisible)
				s.wantBodies("once more", c.mustReceive(), "a")
			},
		},
		{
			name: "an ack through another client id of the same group works",
			run: func(s *scene) {
				a := s.consumer()
				got := a.mustBatch("lt", "a")
				b := s.consumer()
				b.mustAck(got...)
				s.pass(invisible)
				a.mustBeEmpty("after the ack")
			},
		},
		{
			// Half of what was popped is acked at random places; everything
			// else comes again (Y36).
			name: "what is not acked of many comes again (Y36)",
			run: func(s *scene) {
				c := s.consumer()
				const n = 60
				for i := range n {
					c.mustSend(fmt.Sprintf("lt-%d", i), fmt.Sprint(i))
				}
				want := map[string]bool{}
				for i, m := range c.mustReceiveAll(n) {
					if i%2 == 0 {
						c.mustAck(m)
					} else {
						want[string(m.GetBody())] = true
					}
				}
				s.pass(invisible)
				for _, m := range c.mustReceiveAll(len(want)) {
					if !want[string(m.GetBody())] {
						s.Errorf("got %q again, which was acked", m.GetBody())
					}
					delete(want, string(m.GetBody()))
				}
				if len(want) > 0 {
					s.Errorf("%d messages did not come again", len(want))
				}
			},
		},
	}
}
