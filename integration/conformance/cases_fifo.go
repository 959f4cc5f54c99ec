// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// fifoCases are about the order within a lite topic.
//
// What a group pops from a lite topic in one go is a batch. While any message
// of the batch is neither acked nor visible again, nothing of that lite topic
// is delivered. Then the next pop begins at the first message of the batch that
// was not acked, and takes what follows, acked or not.
func fifoCases() []testCase {
	return []testCase{
		{
			name: "messages of a lite topic come in the order in which they were sent (L45)",
			run: func(s *scene) {
				c := s.consumer()
				var want []string
				for i := range 10 {
					want = append(want, fmt.Sprint(i))
				}
				c.mustSend("lt", want...)
				got := c.mustReceive()
				c.mustAck(got...)
				for len(got) < 10 {
					next := c.mustReceive()
					c.mustAck(next...)
					got = append(got, next...)
				}
				s.wantBodies("receive", got, want...)
			},
		},
		{
			name: "what waits in a lite topic comes as one batch, with one pop time in its handles",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b", "c")
				s.wantAttempts("first delivery", got, 1, 1, 1)
			},
		},
		{
			name: "a lite topic stands still while a message of its batch is un-acked, and others go on",
			run: func(s *scene) {
				c := s.consumer()
				c.mustBatch("lt", "a")
				c.mustSend("lt", "b")
				c.mustSend("other", "c")
				s.wantBodies("receive", c.mustReceive(), "c")
				c.mustBeEmpty("the first lite topic")
			},
		},
		{
			name: "a lite topic goes on at once when its batch is acked",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b")
				c.mustSend("lt", "c")
				c.mustAck(got...)
				start := s.broker.Now()
				s.wantBodies("receive", c.mustReceive(), "c")
				s.wantWithin("the next message", s.broker.Now().Sub(start), 0, slack)
			},
		},
		{
			// (a) The rest of the batch comes when its time is up, without the
			// acked head; what was sent later comes in the same batch.
			name: "of a batch with only its first message acked the rest comes again when it expires",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b", "c")
				c.mustAck(got[0])
				c.mustSend("lt", "d")
				c.mustBeEmpty("before the rest expires")
				s.pass(invisible - pollTime)
				again := c.mustReceive()
				s.wantBodies("again", again, "b", "c", "d")
			},
		},
		{
			// (b) Acks count from the front: the group goes back to the first
			// message that is not acked, and delivers again what was acked
			// behind it, with a new handle.
			name: "of a batch with only its last message acked everything comes again, the acked one too",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b", "c")
				c.mustAck(got[2])
				s.pass(invisible)
				again := c.mustReceive()
				s.wantBodies("again", again, "a", "b", "c")
				s.wantAttempts("again", again, 2, 2, 2)
				if handleOf(again[2]) == handleOf(got[2]) {
					s.Error("got the old handle again, want a new one")
				}
			},
		},
		{
			// Acked behind an un-acked message, and acked once more when it
			// comes again: then it is done.
			name: "a message that comes again though acked can be acked again and is done",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b")
				c.mustAck(got[1])
				s.pass(invisible)
				again := c.mustReceive()
				s.wantBodies("again", again, "a", "b")
				c.mustAck(again...)
				s.pass(invisible)
				c.mustBeEmpty("after everything is acked")
			},
		},
		{
			// (c) This is what throttling a lite topic by its first message
			// costs: everything behind it comes again.
			name: "of a batch with its first message deferred and the others acked everything comes again",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b", "c")
				c.mustAck(got[1], got[2])
				start := s.broker.Now()
				c.mustChange(got[0], 3*time.Second)
				s.pass(3 * time.Second)
				again := c.mustReceive()
				s.wantBodies("again", again, "a", "b", "c")
				s.wantAttempts("again", again, 2, 2, 2)
				s.wantWithin("the deferral", s.broker.Now().Sub(start), 2500*time.Millisecond, 3*time.Second+slack)
			},
		},
		{
			// (d)
			name: "of a batch with its first message acked and the others deferred the others come after the longest deferral",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b", "c")
				c.mustAck(got[0])
				start := s.broker.Now()
				c.mustChange(got[1], 2*time.Second)
				c.mustChange(got[2], 4*time.Second)
				s.pass(4 * time.Second)
				again := c.mustReceive()
				s.wantBodies("again", again, "b", "c")
				s.wantAttempts("again", again, 2, 2)
				s.wantWithin("the deferral", s.broker.Now().Sub(start), 3500*time.Millisecond, 4*time.Second+slack)
			},
		},
		{
			// A message deferred for a short time does not come back before the
			// others of its batch are acked or expired.
			name: "a short deferral of one message waits for the rest of its batch",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b")
				start := s.broker.Now()
				c.mustChange(got[0], time.Second)
				c.mustBeEmpty("while the second message is invisible")
				s.pass(invisible - pollTime)
				s.wantBodies("again", c.mustReceive(), "a", "b")
				s.wantWithin("the batch", s.broker.Now().Sub(start), invisible-time.Second, invisible+slack)
			},
		},
		{
			name: "acking the rest of a batch sets a deferred message free at its own time",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b")
				start := s.broker.Now()
				c.mustChange(got[1], 2*time.Second)
				c.mustAck(got[0])
				s.pass(2 * time.Second)
				s.wantBodies("again", c.mustReceive(), "b")
				s.wantWithin("the deferral", s.broker.Now().Sub(start), 1500*time.Millisecond, 2*time.Second+slack)
			},
		},
		{
			// (e)
			name: "a batch that expires comes again as a whole, each message one attempt on (L22)",
			run: func(s *scene) {
				c := s.consumer()
				got := c.mustBatch("lt", "a", "b", "c")
				start := s.broker.Now()
				s.pass(invisible)
				again := c.mustReceive()
				s.wantBodies("again", again, "a", "b", "c")
				s.wantAttempts("again", again, 2, 2, 2)
				s.wantWithin("the expiry", s.broker.Now().Sub(start), invisible-time.Second, invisible+slack)
				for i := range got {
					if handleOf(got[i]) == handleOf(again[i]) {
						s.Errorf("got the old handle of %q again", got[i].GetBody())
					}
				}
			},
		},
		{
			// The broker sends one count per message that had earlier
			// deliveries; its own reader drops the counts when some of the
			// batch had none. So attempts may fall back to 1: they are a lower
			// bound, never the truth.
			name: "a batch of old and new messages shows all of them as delivered for the first time",
			run: func(s *scene) {
				c := s.consumer()
				c.mustBatch("lt", "a", "b")
				c.mustSend("lt", "c")
				s.pass(invisible)
				again := c.mustReceive()
				s.wantBodies("again", again, "a", "b", "c")
				s.wantAttempts("again", again, 1, 1, 1)
			},
		},
		{
			name: "a smaller batch size at the redelivery takes the head of the old batch only",
			run: func(s *scene) {
				c := s.consumer()
				c.mustBatch("lt", "a", "b", "c")
				s.pass(invisible)
				again := c.mustReceive(batchSize(1))
				s.wantBodies("again", again, "a")
				s.wantAttempts("again", again, 2)
				c.mustAck(again...)
				rest := c.mustReceive()
				s.wantBodies("the rest", rest, "b", "c")
				// The rest was not in the last pop: it counts as new.
				s.wantAttempts("the rest", rest, 1, 1)
			},
		},
		{
			name: "acking every message while receives are under way loses none of many lite topics (L02)",
			run: func(s *scene) {
				c := s.consumer()
				const topics, each = 4, 10
				for i := range each {
					for j := range topics {
						c.mustSend(fmt.Sprintf("lt-%d", j), fmt.Sprintf("%d-%d", j, i))
					}
				}
				seen := map[string]bool{}
				for tries := 0; len(seen) < topics*each && tries < 200; tries++ {
					for _, m := range c.receive(batchSize(3)).msgs {
						c.mustAck(m)
						seen[string(m.GetBody())] = true
					}
				}
				if len(seen) != topics*each {
					s.Errorf("got %d different messages, want %d", len(seen), topics*each)
				}
			},
		},
	}
}

// mustBatch sends bodies to a lite topic and receives them in one batch.
func (c *client) mustBatch(lite string, bodies ...string) []*v2.Message {
	c.s.Helper()
	c.behindGate(lite, func() { c.mustSend(lite, bodies...) })
	got := c.mustReceive()
	c.s.wantBodies("the batch", got, bodies...)
	return got
}

// behindGate makes what send sends to a lite topic wait there together. A pop
// may come between two sends, so a gate message keeps the lite topic blocked
// until all of them are there. A send is answered before the message is in its
// queue; queues are filled in the order of the sends, so they are there when a
// later message of another lite topic is.
func (c *client) behindGate(lite string, send func()) {
	c.s.Helper()
	c.mustSend(lite, "gate")
	gate := c.mustReceive()
	c.s.wantBodies("the gate", gate, "gate")
	send()
	c.mustSend("fence", "fence")
	fence := c.mustReceive()
	c.s.wantBodies("the fence", fence, "fence")
	c.mustAck(append(gate, fence...)...)
}
