// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

func remotingPullCases() []remotingCase {
	return []remotingCase{
		{
			name: "an empty queue has nothing at offset 0, and moves any other offset there",
			run: func(s *remotingScene) {
				c := s.dial()
				none := pulled{code: 19, remark: "NO_MESSAGE_IN_QUEUE"}
				moved := pulled{code: 21, remark: "NO_MESSAGE_IN_QUEUE"}
				c.wantPull("at 0", s.pullFields(0, 0), none)
				c.wantPull("at 5", s.pullFields(0, 5), moved)
				c.wantPull("at -1", s.pullFields(0, -1), moved)
			},
		},
		{
			name: "a pull at the next offset finds nothing, beyond it or below the first one it is moved (Y48, X11a)",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSend(0, "a", "")
				c.mustSend(0, "b", "")
				s.settled(c, 0, 2)
				c.wantPull("at 0", s.pullFields(0, 0), pulled{code: 0, remark: "FOUND", next: 2, most: 2, bodies: []string{"a", "b"}})
				c.wantPull("at 1", s.pullFields(0, 1), pulled{code: 0, remark: "FOUND", next: 2, most: 2, bodies: []string{"b"}})
				c.wantPull("at 2", s.pullFields(0, 2), pulled{code: 19, remark: "OFFSET_OVERFLOW_ONE", next: 2, most: 2})
				c.wantPull("at 3", s.pullFields(0, 3), pulled{code: 21, remark: "OFFSET_OVERFLOW_BADLY", next: 2, most: 2})
				c.wantPull("at -1", s.pullFields(0, -1), pulled{code: 21, remark: "OFFSET_TOO_SMALL", next: 0, most: 2})
				c.wantPull("at -2", s.pullFields(0, -2), pulled{code: 21, remark: "OFFSET_TOO_SMALL", next: 0, most: 2})
			},
		},
		{
			name: "the answer suggests the master and has no flags",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSend(0, "a", "")
				s.settled(c, 0, 1)
				a := c.want(0, "FOUND", reqPull, s.pullFields(0, 0), nil)
				for name, want := range map[string]string{"suggestWhichBrokerId": "0", "topicSysFlag": "0", "groupSysFlag": "0"} {
					if a.Fields[name] != want {
						s.Errorf("%s: got %q, want %q, in %v", name, a.Fields[name], want, a.Fields)
					}
				}
			},
		},
		{
			// maxTransferCountOnMessageInMemory.
			name: "a pull brings 32 messages at most, whatever it asks for",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSendMany(0, 40, func(int) string { return "t" })
				s.settled(c, 0, 40)
				for ask, want := range map[string]int{"1": 1, "10": 10, "32": 32, "33": 32, "1000": 32, "0": 1} {
					a := c.want(0, "FOUND", reqPull, with(s.pullFields(0, 0), "maxMsgNums", ask), nil)
					if got := len(s.decode(a)); got != want || s.number(a, "nextBeginOffset") != int64(want) {
						s.Errorf("asked for %s: got %d and next offset %s, want %d", ask, got, a.Fields["nextBeginOffset"], want)
					}
				}
			},
		},
		{
			// maxTransferBytesOnMessageInMemory.
			name: "a pull brings 256 KiB at most, but for a first message that is larger",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSend(0, strings.Repeat("x", 300<<10), "")
				for range 4 {
					c.mustSend(0, strings.Repeat("x", 100<<10), "")
				}
				s.settled(c, 0, 5)
				for offset, want := range map[int64]int{0: 1, 1: 2, 3: 2} {
					if got := len(s.decode(c.want(0, "FOUND", reqPull, s.pullFields(0, offset), nil))); got != want {
						s.Errorf("at %d: got %d messages, want %d", offset, got, want)
					}
				}
			},
		},
		{
			name: "a pull of what does not exist says what it is (X14a, X14b)",
			run: func(s *remotingScene) {
				c := s.dial()
				f := s.pullFields(0, 0)
				c.want(17, "topic["+s.name("no")+"] not exist, apply first please!", reqPull, with(f, "topic", s.name("no")), nil)
				c.want(29, "queueId[2] is illegal", reqPull, with(f, "queueId", "2"), nil)
				c.want(29, "queueId[-1] is illegal", reqPull, with(f, "queueId", "-1"), nil)
				c.want(19, "", reqPull, with(f, "consumerGroup", s.name("new")), nil)
				c.want(26, "subscription group [a b] does not exist", reqPull, with(f, "consumerGroup", "a b"), nil)
			},
		},
		{
			name: "a topic that may not be read is answered 16",
			run: func(s *remotingScene) {
				c := s.dial()
				c.want(0, "", reqCreateTopic, fields{"topic": s.topic, "defaultTopic": "TBW102", "readQueueNums": "2", "writeQueueNums": "2",
					"perm": "2", "topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false"}, nil)
				c.want(16, "the topic["+s.topic+"] pulling message is forbidden", reqPull, s.pullFields(0, 0), nil)
			},
		},
		{
			name: "a pull without an expression needs a heartbeat of its group",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSend(0, "a", tagged("x"))
				c.mustSend(0, "b", tagged("y"))
				s.settled(c, 0, 2)
				f := with(s.pullFields(0, 0), "sysFlag", "0")
				// Any pull with an expression counts as a heartbeat, too.
				c.want(24, "the consumer's group info not exist", reqPull, with(f, "consumerGroup", s.name("other")), nil)
				c.mustHeartbeat("C-"+s.unique, s.topic, "y", 7)
				c.wantPull("after it", f, pulled{code: 0, remark: "FOUND", next: 2, most: 2, bodies: []string{"b"}})
				c.want(25, "the consumer's subscription not latest", reqPull, with(f, "subVersion", "8"), nil)
			},
		},
		{
			name: "a pull can commit an offset on its way",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSend(0, "a", "")
				s.settled(c, 0, 1)
				c.want(0, "FOUND", reqPull, with(s.pullFields(0, 0), "sysFlag", "5", "commitOffset", "1"), nil)
				c.wantCommitted(0, 1)
			},
		},
		{
			name: "a lite pull is a pull",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSend(0, "a", "")
				s.settled(c, 0, 1)
				c.want(0, "FOUND", reqLitePull, s.pullFields(0, 0), nil)
			},
		},
	}
}

// checkBody asks whether an expression parses.
func (s *remotingScene) checkBody(kind, expr string) []byte {
	s.Helper()
	b, err := json.Marshal(map[string]any{"clientId": "C", "group": s.group, "namespace": "",
		"subscriptionData": map[string]any{"topic": s.topic, "subString": expr, "expressionType": kind, "subVersion": 1}})
	if err != nil {
		s.Fatal(err)
	}
	return b
}

// settled waits until a queue has its messages: the real broker puts them there
// a moment after it has answered the sender.
func (s *remotingScene) settled(c *remotingClient, queue int, next int64) {
	s.Helper()
	s.eventually(fmt.Sprintf("queue %d reaches %d", queue, next), func() bool {
		return s.number(c.want(0, "", reqMax, s.queueFields(queue), nil), "offset") == next
	})
}

func remotingFilterCases() []remotingCase {
	even := func(i int) string { return []string{"even", "odd"}[i%2] }
	return []remotingCase{
		{
			name: "a tag filter passes over what does not match (O26)",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSendMany(0, 6, even)
				s.settled(c, 0, 6)
				c.wantPull("odd", with(s.pullFields(0, 0), "subscription", "odd"), pulled{code: 0, remark: "FOUND", next: 6, most: 6, bodies: []string{"1", "3", "5"}})
				c.wantPull("odd from 5", with(s.pullFields(0, 5), "subscription", "odd"), pulled{code: 0, remark: "FOUND", next: 6, most: 6, bodies: []string{"5"}})
				c.wantPull("two of them", with(s.pullFields(0, 0), "subscription", "odd", "maxMsgNums", "2"), pulled{code: 0, remark: "FOUND", next: 4, most: 6, bodies: []string{"1", "3"}})
				c.wantPull("both", with(s.pullFields(0, 0), "subscription", " odd || even "), pulled{code: 0, remark: "FOUND", next: 6, most: 6, bodies: []string{"0", "1", "2", "3", "4", "5"}})
				c.wantPull("none", with(s.pullFields(0, 0), "subscription", "no"), pulled{code: 20, remark: "NO_MATCHED_MESSAGE", next: 6, most: 6})
				c.wantPull("none from 2", with(s.pullFields(0, 2), "subscription", "no"), pulled{code: 20, remark: "NO_MATCHED_MESSAGE", next: 6, most: 6})
				for _, all := range []string{"*", ""} {
					c.wantPull("all by "+all, with(s.pullFields(0, 4), "subscription", all), pulled{code: 0, remark: "FOUND", next: 6, most: 6, bodies: []string{"4", "5"}})
				}
			},
		},
		{
			// maxFilterMessageSize / 20 bytes an entry.
			name: "a filter that matches nothing passes over 800 messages a pull (O26)",
			run: func(s *remotingScene) {
				c := s.dial()
				for range 13 {
					var entries []string
					for range 64 {
						entries = append(entries, "m")
					}
					c.mustSendBatch(0, entries...)
				}
				s.settled(c, 0, 832)
				f := with(s.pullFields(0, 0), "subscription", "no")
				c.wantPull("from 0", f, pulled{code: 20, remark: "NO_MATCHED_MESSAGE", next: 800, most: 832})
				c.wantPull("from 800", with(f, "queueOffset", "800"), pulled{code: 20, remark: "NO_MATCHED_MESSAGE", next: 832, most: 832})
				c.wantPull("from 832", with(f, "queueOffset", "832"), pulled{code: 19, remark: "OFFSET_OVERFLOW_ONE", next: 832, most: 832})
			},
		},
		{
			// The filter compares hash codes of Java only.
			name: "a tag with the same hash code comes too (F02, Aa and BB)",
			run: func(s *remotingScene) {
				c := s.dial()
				for _, tag := range []string{"Aa", "BB", "C"} {
					c.mustSend(0, tag, tagged(tag))
				}
				s.settled(c, 0, 3)
				c.wantPull("Aa", with(s.pullFields(0, 0), "subscription", "Aa"), pulled{code: 0, remark: "FOUND", next: 3, most: 3, bodies: []string{"Aa", "BB"}})
			},
		},
		{
			name: "tags are compared as they are, also long and foreign ones (Y10)",
			run: func(s *remotingScene) {
				c := s.dial()
				tags := []string{"a", strings.Repeat("b", 16), strings.Repeat("c", 17), strings.Repeat("d", 128), "订单", "😀"}
				for _, tag := range tags {
					c.mustSend(0, tag, tagged(tag))
				}
				s.settled(c, 0, int64(len(tags)))
				for _, tag := range tags {
					ms := s.decode(c.want(0, "FOUND", reqPull, with(s.pullFields(0, 0), "subscription", tag), nil))
					if len(ms) != 1 || ms[0].Tag() != tag {
						s.Errorf("tag %q: got %d messages %v", tag, len(ms), ms)
					}
				}
			},
		},
		{
			name: "an expression of separators only does not parse (F01)",
			run: func(s *remotingScene) {
				c := s.dial()
				for _, expr := range []string{"||", "||||"} {
					c.want(23, "parse the consumer's subscription failed", reqPull, with(s.pullFields(0, 0), "subscription", expr), nil)
				}
				c.want(19, "", reqPull, with(s.pullFields(0, 0), "subscription", "a || || b"), nil)
			},
		},
		{
			name: "SQL filters by properties, and passes over what does not match (Y26)",
			setup: func(*remotingScene) RemotingSetup {
				return RemotingSetup{SQL: map[string]func(map[string]string) bool{
					"a > 5 AND b = 'x'": func(p map[string]string) bool { return len(p["a"]) == 1 && p["a"] > "5" && p["b"] == "x" },
					"a > 99":            func(map[string]string) bool { return false },
				}}
			},
			run: func(s *remotingScene) {
				c := s.dial()
				for i := range 10 {
					c.mustSend(0, fmt.Sprint(i), properties("a", fmt.Sprint(i), "b", []string{"x", "y"}[i%2]))
				}
				s.settled(c, 0, 10)
				f := with(s.pullFields(0, 0), "expressionType", "SQL92", "subscription", "a > 5 AND b = 'x'")
				c.wantPull("some", f, pulled{code: 0, remark: "FOUND", next: 10, most: 10, bodies: []string{"6", "8"}})
				c.wantPull("none", with(f, "subscription", "a > 99"), pulled{code: 20, remark: "NO_MATCHED_MESSAGE", next: 10, most: 10})
			},
		},
		{
			// The broker logs that it cannot parse and forgets the filter. Only
			// CHECK_CLIENT_CONFIG tells, so a client has to ask.
			name: "a pull with SQL that does not parse brings everything, only a check beforehand tells (F04, Y26)",
			setup: func(*remotingScene) RemotingSetup {
				return RemotingSetup{SQL: map[string]func(map[string]string) bool{"a > 5": func(map[string]string) bool { return true }}}
			},
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSend(0, "m", properties("a", "1"))
				s.settled(c, 0, 1)
				f := with(s.pullFields(0, 0), "expressionType", "SQL92")
				for _, bad := range []string{"a >", "a/b > 5", "* ||"} {
					c.wantPull(bad, with(f, "subscription", bad), pulled{code: 0, remark: "FOUND", next: 1, most: 1, bodies: []string{"m"}})
					c.want(23, "", reqCheckClient, nil, s.checkBody("SQL92", bad))
				}
				c.want(23, "parse the consumer's subscription failed", reqPull, with(f, "subscription", ""), nil)
				c.want(0, "", reqCheckClient, nil, s.checkBody("SQL92", "a > 5"))
				c.want(0, "", reqCheckClient, nil, s.checkBody("TAG", "||"))
			},
		},
	}
}

func remotingHoldCases() []remotingCase {
	return []remotingCase{
		{
			name: "a pull that waits is answered 19 when its time is up, and that up to five seconds late",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSend(0, "a", "")
				s.settled(c, 0, 1)
				a, took := c.held(s.holdFields(0, 1, 6*time.Second), 6*time.Second)
				s.wantPulled("hold", a, pulled{code: 19, remark: "OFFSET_OVERFLOW_ONE", next: 1, most: 1})
				if took < 6*time.Second || took > 12*time.Second {
					s.Errorf("took %v", took)
				}
			},
		},
		{
			name: "a pull that waits on a queue that never had a message waits as well",
			run: func(s *remotingScene) {
				a, took := s.dial().held(s.holdFields(1, 0, 6*time.Second), 6*time.Second)
				s.wantPulled("hold", a, pulled{code: 19, remark: "NO_MESSAGE_IN_QUEUE"})
				if took < 6*time.Second || took > 12*time.Second {
					s.Errorf("took %v", took)
				}
			},
		},
		{
			name: "a message ends the wait at once",
			run: func(s *remotingScene) {
				c, sender := s.dial(), s.dial()
				start := s.broker.Now()
				c.begin(reqPull, s.holdFields(0, 0, 20*time.Second), nil)
				s.broker.AwaitHold(s.ctx, s.group, time.Second, after(make(chan struct{}), time.Second))
				sender.mustSend(1, "elsewhere", "")
				sender.mustSend(0, "a", "")
				s.wantPulled("hold", c.end(), pulled{code: 0, remark: "FOUND", next: 1, most: 1, bodies: []string{"a"}})
				if took := s.broker.Now().Sub(start); took > 4*time.Second {
					s.Errorf("took %v", took)
				}
			},
		},
		{
			// Every five seconds the broker looks whether anything came at all.
			name: "messages that do not match end the wait after five seconds, with an offset beyond them (O26)",
			run: func(s *remotingScene) {
				c, sender := s.dial(), s.dial()
				start := s.broker.Now()
				c.begin(reqPull, with(s.holdFields(0, 0, 20*time.Second), "subscription", "x"), nil)
				s.broker.AwaitHold(s.ctx, s.group, 100*time.Millisecond, after(make(chan struct{}), 100*time.Millisecond))
				sender.mustSend(0, "a", tagged("y"))
				s.pass(5 * time.Second)
				s.wantPulled("hold", c.end(), pulled{code: 20, remark: "NO_MATCHED_MESSAGE", next: 1, most: 1})
				if took := s.broker.Now().Sub(start); took > 11*time.Second {
					s.Errorf("took %v", took)
				}
			},
		},
		{
			name: "a message that matches ends the wait at once, and what did not match before it is passed over",
			run: func(s *remotingScene) {
				c, sender := s.dial(), s.dial()
				c.begin(reqPull, with(s.holdFields(0, 0, 20*time.Second), "subscription", "x"), nil)
				s.broker.AwaitHold(s.ctx, s.group, 100*time.Millisecond, after(make(chan struct{}), 100*time.Millisecond))
				sender.mustSend(0, "a", tagged("y"))
				sender.mustSend(0, "b", tagged("x"))
				a := c.end()
				if got := texts(s.decode(a)); fmt.Sprint(got) != "[b]" || s.number(a, "nextBeginOffset") != 2 {
					s.Errorf("got %q and next offset %s", got, a.Fields["nextBeginOffset"])
				}
			},
		},
		{
			name: "an offset that is out of range is answered at once, whatever the pull is ready to wait",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSend(0, "a", "")
				s.settled(c, 0, 1)
				start := s.broker.Now()
				c.wantPull("beyond", s.holdFields(0, 2, 20*time.Second), pulled{code: 21, remark: "OFFSET_OVERFLOW_BADLY", next: 1, most: 1})
				c.wantPull("below", s.holdFields(0, -1, 20*time.Second), pulled{code: 21, remark: "OFFSET_TOO_SMALL", next: 0, most: 1})
				c.wantPull("no match", with(s.holdFields(0, 0, 20*time.Second), "subscription", "x"), pulled{code: 20, remark: "NO_MATCHED_MESSAGE", next: 1, most: 1})
				if took := s.broker.Now().Sub(start); took > 4*time.Second {
					s.Errorf("took %v", took)
				}
			},
		},
	}
}

// held sends a pull that waits, lets d pass and returns the answer and how long
// it took.
func (c *remotingClient) held(f fields, d time.Duration) (a *remoting.Command, took time.Duration) {
	c.s.Helper()
	start := c.s.broker.Now()
	c.begin(reqPull, f, nil)
	done := make(chan struct{})
	got := make(chan *remoting.Command, 1)
	go func() {
		defer close(done)
		for {
			a, err := c.r.Next()
			if err != nil {
				return
			}
			if a.IsAnswer() && a.Opaque == c.opaque {
				got <- a
				return
			}
		}
	}()
	c.s.broker.AwaitHold(c.s.ctx, c.s.group, d, done)
	select {
	case a := <-got:
		return a, c.s.broker.Now().Sub(start)
	case <-c.s.ctx.Done():
		c.s.Fatal("no answer")
		return nil, 0
	}
}
