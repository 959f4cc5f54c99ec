// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"strconv"
	"time"
)

func remotingOffsetCases() []remotingCase {
	return []remotingCase{
		{
			name: "an empty queue begins and ends at 0, and so does any time in it (O19)",
			run: func(s *remotingScene) {
				c := s.dial()
				c.wantOffsets(0, 0, 0)
				for _, at := range []time.Time{time.UnixMilli(0), s.broker.Now(), s.broker.Now().Add(time.Hour)} {
					c.wantSearch(0, at, 0)
				}
			},
		},
		{
			// No error: the broker makes the queue's file.
			name: "what does not exist begins and ends at 0",
			run: func(s *remotingScene) {
				c := s.dial()
				for _, f := range []fields{{"topic": s.topic, "queueId": "77"}, {"topic": s.name("no"), "queueId": "0"}} {
					for _, code := range []int{reqMin, reqMax, reqSearch} {
						a := c.want(0, "", code, with(f, "timestamp", "0"), nil)
						if a.Fields["offset"] != "0" {
							s.Errorf("request %d of %v: got %s, want 0", code, f, a.Fields["offset"])
						}
					}
				}
			},
		},
		{
			name: "a queue ends at the offset of its next message",
			run: func(s *remotingScene) {
				c := s.dial()
				for i := range 3 {
					c.mustSend(0, fmt.Sprint(i), "")
				}
				s.settled(c, 0, 3)
				c.wantOffsets(0, 0, 3)
				c.wantOffsets(1, 0, 0)
			},
		},
		{
			name: "a time finds the first message stored then or later, the end of the queue if there is none (O17, O19, O21)",
			run: func(s *remotingScene) {
				c := s.dial()
				var stored []time.Time
				for i := range 5 {
					c.mustSend(0, fmt.Sprint(i), "")
					s.settled(c, 0, int64(i+1))
					stored = append(stored, c.one(0, int64(i)).Stored)
					s.pass(50 * time.Millisecond)
				}
				ms := time.Millisecond
				for i, at := range stored {
					c.wantSearch(0, at, int64(i))
					c.wantSearch(0, at.Add(-ms), int64(i))
					c.wantSearch(0, at.Add(ms), int64(i+1))
				}
				c.wantSearch(0, time.UnixMilli(0), 0)
				c.wantSearch(0, time.UnixMilli(-1), 0)
				c.wantSearch(0, s.broker.Now().Add(time.Hour), 5)
			},
		},
		{
			name: "of messages stored in the same millisecond a time finds the first",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSend(0, "0", "")
				s.pass(50 * time.Millisecond)
				c.mustSendBatch(0, "1", "2", "3")
				s.settled(c, 0, 4)
				c.wantSearch(0, c.one(0, 3).Stored, 1)
			},
		},
		{
			name: "the upper bound of a time is the last message stored then or earlier",
			run: func(s *remotingScene) {
				c := s.dial()
				var stored []time.Time
				for i := range 3 {
					c.mustSend(0, fmt.Sprint(i), "")
					s.settled(c, 0, int64(i+1))
					stored = append(stored, c.one(0, int64(i)).Stored)
					s.pass(50 * time.Millisecond)
				}
				upper := func(at time.Time, want int64) {
					s.Helper()
					f := with(s.queueFields(0), "timestamp", fmt.Sprint(at.UnixMilli()), "boundaryType", "upper")
					if got := s.number(c.want(0, "", reqSearch, f, nil), "offset"); got != want {
						s.Errorf("upper bound: got %d, want %d", got, want)
					}
				}
				upper(stored[1], 1)
				upper(stored[1].Add(time.Millisecond), 1)
				upper(stored[1].Add(-time.Millisecond), 0)
				upper(stored[0].Add(-time.Hour), 0)
				upper(stored[2].Add(time.Hour), 2)
			},
		},
	}
}

func (c *remotingClient) wantSearch(queue int, at time.Time, want int64) {
	c.s.Helper()
	a := c.want(0, "", reqSearch, with(c.s.queueFields(queue), "timestamp", fmt.Sprint(at.UnixMilli())), nil)
	if got := c.s.number(a, "offset"); got != want {
		c.s.Errorf("at %v: got %d, want %d", at, got, want)
	}
}

func remotingCommitCases() []remotingCase {
	return []remotingCase{
		{
			// 22 alone means that there is no offset; with the field absent or
			// true the broker answers 0 where nothing is lost by that.
			name: "a group without an offset has none, or 0 where the queue's first message is still there (O05, X11a, X14a)",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSend(0, "a", "")
				s.settled(c, 0, 1)
				f := s.groupFields(0)
				c.want(22, "Not found, do not set to zero, maybe this group boot first", reqCommitted, with(f, "setZeroIfNotFound", "false"), nil)
				for _, zero := range []string{"true", without} {
					if a := c.want(0, "", reqCommitted, with(f, "setZeroIfNotFound", zero), nil); a.Fields["offset"] != "0" {
						s.Errorf("got %v, want 0", a.Fields)
					}
				}
				c.want(22, "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first", reqCommitted, s.groupFields(1), nil)
				c.want(22, "do not set to zero", reqCommitted, with(s.groupFields(1), "setZeroIfNotFound", "false"), nil)
			},
		},
		{
			name: "any offset is taken as it is, backwards and beyond the end too (O25, O27)",
			run: func(s *remotingScene) {
				c := s.dial()
				for _, offset := range []int64{5, 3, 0, 1 << 40} {
					c.mustCommit(0, offset)
					c.wantCommitted(0, offset)
				}
				c.want(22, "", reqCommitted, with(s.groupFields(1), "setZeroIfNotFound", "false"), nil)
			},
		},
		{
			name: "a negative offset is taken and then not found (O27)",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustCommit(0, -1)
				c.want(22, "", reqCommitted, with(s.groupFields(0), "setZeroIfNotFound", "false"), nil)
			},
		},
		{
			name: "the queue of an offset need not exist, its topic and its group must",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustCommit(77, 9)
				c.wantCommitted(77, 9)
				f := with(s.groupFields(0), "commitOffset", "1")
				c.want(26, "Group "+s.name("no")+" not exist!", reqCommit, with(f, "consumerGroup", s.name("no")), nil)
				c.want(17, "Topic "+s.name("no")+" not exist!", reqCommit, with(f, "topic", s.name("no")), nil)
				c.want(22, "", reqCommitted, with(s.groupFields(0), "consumerGroup", s.name("no"), "setZeroIfNotFound", "false"), nil)
				c.want(22, "", reqCommitted, with(s.groupFields(0), "topic", s.name("no"), "setZeroIfNotFound", "false"), nil)
			},
		},
		{
			name: "offsets are a group's own",
			setup: func(s *remotingScene) RemotingSetup {
				return RemotingSetup{Groups: []string{s.name("other")}}
			},
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustCommit(0, 5)
				c.want(22, "", reqCommitted, with(s.groupFields(0), "consumerGroup", s.name("other"), "setZeroIfNotFound", "false"), nil)
			},
		},
		{
			name:  "offsets and messages outlive a restart of the broker (O34, Y21)",
			alone: true,
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSend(0, "a", "")
				s.settled(c, 0, 1)
				c.mustCommit(0, 1)
				s.broker.RestartBroker(s.T)
				c = s.dial()
				c.wantCommitted(0, 1)
				c.wantPull("again", s.pullFields(0, 0), pulled{code: 0, remark: "FOUND", next: 1, most: 1, bodies: []string{"a"}})
			},
		},
	}
}

func (s *remotingScene) groupFields(queue int) fields {
	return fields{"consumerGroup": s.group, "topic": s.topic, "queueId": strconv.Itoa(queue)}
}

func (c *remotingClient) mustCommit(queue int, offset int64) {
	c.s.Helper()
	c.want(0, "", reqCommit, with(c.s.groupFields(queue), "commitOffset", fmt.Sprint(offset)), nil)
}

func (c *remotingClient) wantCommitted(queue int, want int64) {
	c.s.Helper()
	a := c.want(0, "", reqCommitted, with(c.s.groupFields(queue), "setZeroIfNotFound", "false"), nil)
	if got := c.s.number(a, "offset"); got != want {
		c.s.Errorf("committed offset: got %d, want %d", got, want)
	}
}

func remotingExpireCases() []remotingCase {
	return []remotingCase{
		{
			name:  "when the head of a queue has expired it begins later, and a pull below that is moved there (O05, X11a, Y48)",
			alone: true,
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSend(0, "0", tagged("x"))
				c.mustSend(0, "1", tagged("x"))
				c.mustSend(1, "gone", "")
				s.settled(c, 0, 2)
				s.settled(c, 1, 1)
				s.broker.Roll(s.T)
				c.mustSend(0, "2", tagged("x"))
				s.settled(c, 0, 3)
				s.broker.Expire(s.T)
				c = s.dial()
				s.eventually("the head goes", func() bool {
					return s.number(c.want(0, "", reqMin, s.queueFields(0), nil), "offset") == 2
				})
				c.wantOffsets(0, 2, 3)
				c.wantPull("at 0", s.pullFields(0, 0), pulled{code: 21, remark: "OFFSET_TOO_SMALL", next: 2, least: 2, most: 3})
				c.wantPull("at 1 with a filter", with(s.pullFields(0, 1), "subscription", "no"), pulled{code: 21, remark: "OFFSET_TOO_SMALL", next: 2, least: 2, most: 3})
				c.wantPull("at 2", s.pullFields(0, 2), pulled{code: 0, remark: "FOUND", next: 3, least: 2, most: 3, bodies: []string{"2"}})
				c.wantPull("at 4", s.pullFields(0, 4), pulled{code: 21, remark: "OFFSET_OVERFLOW_BADLY", next: 3, least: 2, most: 3})
				c.wantSearch(0, time.UnixMilli(0), 2)
				// With messages missing 0 is no longer a safe answer.
				c.want(22, "V3_0_6_SNAPSHOT", reqCommitted, s.groupFields(0), nil)
				s.eventually("the other queue is empty", func() bool {
					return s.number(c.want(0, "", reqMin, s.queueFields(1), nil), "offset") == 1
				})
				c.wantOffsets(1, 1, 1)
				c.wantPull("an emptied queue at 0", s.pullFields(1, 0), pulled{code: 21, remark: "OFFSET_TOO_SMALL", next: 1, least: 1, most: 1})
				c.wantPull("an emptied queue at its end", s.pullFields(1, 1), pulled{code: 19, remark: "OFFSET_OVERFLOW_ONE", next: 1, least: 1, most: 1})
				c.wantSearch(1, time.UnixMilli(0), 1)
				c.wantSearch(1, s.broker.Now().Add(time.Hour), 1)
			},
		},
	}
}
