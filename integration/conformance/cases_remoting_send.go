// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

func remotingSendCases() []remotingCase {
	return []remotingCase{
		{
			name: "an answer to a send has queue, offset, and an id that names the broker and a place in its log",
			run: func(s *remotingScene) {
				c := s.dial()
				for want := range 3 {
					a := c.want(0, "", reqSend, s.sendFields(1, ""), []byte("m"))
					if a.Fields["queueId"] != "1" || s.number(a, "queueOffset") != int64(want) {
						s.Errorf("got %v, want queue 1 and offset %d", a.Fields, want)
					}
					host, _, err := remoting.ParseOffsetID(a.Fields["msgId"])
					if err != nil || host.String() != s.broker.BrokerAddr() {
						s.Errorf("got id %q of %v, %v", a.Fields["msgId"], host, err)
					}
					if a.Fields["MSG_REGION"] != "DefaultRegion" || a.Fields["TRACE_ON"] != "true" {
						s.Errorf("got %v", a.Fields)
					}
				}
			},
		},
		{
			name: "what is sent comes as it was sent: body, flags, times, tags, keys, properties (S05, Y09, W20)",
			run: func(s *remotingScene) {
				c := s.dial()
				props := properties("KEYS", "k1 k2", "TAGS", "red", "u", "hi", "empty", "", "文", "字 😀", "UNIQ_KEY", "U-"+s.unique, "__SHARDINGKEY", "s")
				f := with(s.sendFields(0, props), "flag", "42", "reconsumeTimes", "3", "sysFlag", "0")
				sent := c.want(0, "", reqSend, f, []byte("body\x00\xff"))
				s.settled(c, 0, 1)
				m := c.one(0, 0)
				if string(m.Body) != "body\x00\xff" || m.Flag != 42 || m.ReconsumeTimes != 3 || m.SysFlag != 0 || m.QueueID != 0 || m.QueueOffset != 0 {
					s.Errorf("got %+v", m)
				}
				if m.Born.UnixMilli() != 1700000000123 || m.BornHost.Addr().String() != "127.0.0.1" || m.BornHost.String() != c.nc.LocalAddr().String() {
					s.Errorf("got born %v at %v", m.Born, m.BornHost)
				}
				if d := m.Stored.Sub(s.broker.Now()); d < -10e9 || d > 1e9 || m.StoreHost.String() != s.broker.BrokerAddr() {
					s.Errorf("got stored %v at %v", m.Stored, m.StoreHost)
				}
				want := map[string]string{"KEYS": "k1 k2", "TAGS": "red", "u": "hi", "文": "字 😀", "UNIQ_KEY": "U-" + s.unique, "__SHARDINGKEY": "s",
					"CLUSTER": "DefaultCluster", "MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}
				if got := m.Properties.Map(); fmt.Sprint(got) != fmt.Sprint(want) {
					s.Errorf("got properties %v, want %v", got, want)
				}
				if m.OffsetID() != sent.Fields["msgId"] || sent.Fields["transactionId"] != "U-"+s.unique {
					s.Errorf("got id %s, want that of the answer %v", m.OffsetID(), sent.Fields)
				}
			},
		},
		{
			name: "a message without a unique key gets one, which the answer tells",
			run: func(s *remotingScene) {
				c := s.dial()
				a := c.want(0, "", reqSend, s.sendFields(0, ""), []byte("m"))
				s.settled(c, 0, 1)
				if m := c.one(0, 0); m.UniqueKey() == "" || m.UniqueKey() != a.Fields["transactionId"] {
					s.Errorf("got %q, want %q", m.UniqueKey(), a.Fields["transactionId"])
				}
			},
		},
		{
			name: "the short field names of the second version mean the same",
			run: func(s *remotingScene) {
				c := s.dial()
				a := c.want(0, "", reqSendV2, s.sendV2Fields(1, tagged("x")), []byte("m"))
				if a.Fields["queueId"] != "1" || a.Fields["queueOffset"] != "0" {
					s.Errorf("got %v", a.Fields)
				}
				s.settled(c, 1, 1)
				if m := c.one(1, 0); string(m.Body) != "m" || m.Tag() != "x" || m.Born.UnixMilli() != 1700000000123 {
					s.Errorf("got %+v", m)
				}
			},
		},
		{
			name: "any queue will do for a send with a negative one",
			run: func(s *remotingScene) {
				c := s.dial()
				a := c.want(0, "", reqSend, s.sendFields(-1, ""), []byte("m"))
				if q := s.number(a, "queueId"); q < 0 || q >= remotingQueues {
					s.Errorf("got queue %d", q)
				}
			},
		},
		{
			name: "a queue that a topic does not have is refused",
			run: func(s *remotingScene) {
				s.dial().want(29, "request queueId[2] is illegal", reqSend, s.sendFields(2, ""), []byte("m"))
			},
		},
		{
			// autoCreateTopicEnable, true by default; queues as the sender asks
			// for, but no more than the 8 of TBW102.
			name: "an unknown topic is created by the first message",
			run: func(s *remotingScene) {
				c, ns := s.dial(), s.dialAt(s.broker.NameServer())
				for ask, want := range map[string]string{"4": "4", "16": "8"} {
					topic := s.name("new" + ask)
					c.want(0, "", reqSend, with(s.sendFields(0, ""), "topic", topic, "defaultTopicQueueNums", ask), []byte("m"))
					s.eventually("the route", func() bool { return ns.call(reqRoute, fields{"topic": topic}, nil).Code == 0 })
					if a := ns.want(0, "", reqRoute, fields{"topic": topic}, nil); !strings.Contains(string(a.Body), "\"readQueueNums\":"+want) {
						s.Errorf("asked for %s: got %s", ask, a.Body)
					}
				}
			},
		},
		{
			name: "the broker's own topics take no message",
			run: func(s *remotingScene) {
				s.dial().want(16, "Sending message to topic[SCHEDULE_TOPIC_XXXX] is forbidden.", reqSend, with(s.sendFields(0, ""), "topic", "SCHEDULE_TOPIC_XXXX"), []byte("m"))
			},
		},
		{
			// Its offset in the answer is that in the schedule's topic. What that
			// needed to know stays in the properties.
			name: "a message with a delay level comes when its time is over",
			run: func(s *remotingScene) {
				c := s.dial()
				start := s.broker.Now()
				c.mustSend(0, "late", properties("DELAY", "2", "TAGS", "x"))
				c.mustSend(0, "now", "")
				s.settled(c, 0, 1)
				s.pass(5e9)
				s.settled(c, 0, 2)
				c.wantPull("both", s.pullFields(0, 0), pulled{code: 0, remark: "FOUND", next: 2, most: 2, bodies: []string{"now", "late"}})
				m := c.one(0, 1)
				if d := m.Stored.Sub(start); d < 4900e6 || d > 9e9 {
					s.Errorf("came after %v", d)
				}
				if m.Topic != s.topic || m.Tag() != "x" || m.Properties.Get("DELAY") != "2" || m.Properties.Get("REAL_TOPIC") != s.topic || m.Properties.Get("REAL_QID") != "0" {
					s.Errorf("got properties %v", m.Properties.Map())
				}
			},
		},
		{
			name: "a compressed body is stored and comes as it is (S04)",
			run: func(s *remotingScene) {
				c := s.dial()
				z := zlibbed(strings.Repeat("hello ", 1000))
				c.want(0, "", reqSend, with(s.sendFields(0, ""), "sysFlag", "1"), z)
				s.settled(c, 0, 1)
				if m := c.one(0, 0); string(m.Body) != strings.Repeat("hello ", 1000) {
					s.Errorf("got %d bytes", len(m.Body))
				}
			},
		},
	}
}

func (s *remotingScene) sendV2Fields(queue int, props string) fields {
	return fields{"a": "P-" + s.unique, "b": s.topic, "c": "TBW102", "d": "4", "e": strconv.Itoa(queue), "f": "0", "g": "1700000000123",
		"h": "0", "i": props, "j": "0", "k": "false", "m": "false"}
}

func remotingLimitCases() []remotingCase {
	const most = 4 << 20
	illegal := "the message is illegal, maybe msg body or properties length not matched. msg body length limit 4194304B, msg properties length limit 32KB."
	return []remotingCase{
		{
			name: "a body may have 4 MiB, and properties do not count (S03, Y08)",
			run: func(s *remotingScene) {
				c := s.dial()
				props := properties("k", strings.Repeat("v", 1000))
				c.want(0, "", reqSend, s.sendFields(0, props), []byte(strings.Repeat("x", most)))
				c.want(13, illegal, reqSend, s.sendFields(0, ""), []byte(strings.Repeat("x", most+1)))
				s.settled(c, 0, 1)
				if m := c.one(0, 0); len(m.Body) != most {
					s.Errorf("got %d bytes", len(m.Body))
				}
			},
		},
		{
			name: "an empty body is a null pointer at the broker (W20)",
			run: func(s *remotingScene) {
				s.dial().want(1, "NullPointerException", reqSend, s.sendFields(0, ""), nil)
			},
		},
		{
			// With what the broker adds.
			name: "properties may have 32767 bytes with those that the broker adds (Y08)",
			run: func(s *remotingScene) {
				c := s.dial()
				room := 32767 - len(properties("k", "", "UNIQ_KEY", "U-"+s.unique, "MSG_REGION", "DefaultRegion", "TRACE_ON", "true", "CLUSTER", "DefaultCluster"))
				for extra, code := range map[int]int{0: 0, 1: 13, 2: 13, 3: 13, 1000: 13} {
					a := c.call(reqSend, s.sendFields(0, properties("k", strings.Repeat("v", room+extra), "UNIQ_KEY", "U-"+s.unique)), []byte("m"))
					if a.Code != code {
						s.Errorf("%d more: got %d %q, want %d", extra, a.Code, a.Remark, code)
					}
				}
			},
		},
		{
			// Java's clients bound tags to one; the broker does not look.
			name: "tags and keys of any length are taken (Y09, Y10)",
			run: func(s *remotingScene) {
				c := s.dial()
				for i, tag := range []string{"x", strings.Repeat("x", 16), strings.Repeat("x", 17), strings.Repeat("x", 128), "a||b", "a b"} {
					c.mustSend(0, "m", properties("TAGS", tag, "KEYS", "k1 "+tag))
					s.settled(c, 0, int64(i+1))
					m := c.one(0, int64(i))
					if m.Tag() != tag || m.Properties.Get("KEYS") != "k1 "+tag {
						s.Errorf("got tag %q, keys %q", m.Tag(), m.Properties.Get("KEYS"))
					}
				}
			},
		},
	}
}

func remotingBatchCases() []remotingCase {
	return []remotingCase{
		{
			name: "a batch takes consecutive offsets, its answer has the first one and all ids",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSend(0, "before", "")
				a := c.mustSendBatch(0, "a", "b", "c")
				if a.Fields["queueOffset"] != "1" || strings.Count(a.Fields["msgId"], ",") != 2 {
					s.Errorf("got %v", a.Fields)
				}
				c.mustSend(0, "after", "")
				s.settled(c, 0, 5)
				ms := c.wantPull("all", s.pullFields(0, 0), pulled{code: 0, remark: "FOUND", next: 5, most: 5, bodies: []string{"before", "a", "b", "c", "after"}})
				ids := strings.Split(a.Fields["msgId"], ",")
				for i, m := range ms[1:4] {
					if m.OffsetID() != ids[i] || m.QueueOffset != int64(i+1) || m.Tag() != "x" || m.Properties.Get("CLUSTER") != "" {
						s.Errorf("got %v %v, want id %s", m.OffsetID(), m.Properties.Map(), ids[i])
					}
				}
			},
		},
		{
			name: "a batch can be sent with any of the three codes",
			run: func(s *remotingScene) {
				c := s.dial()
				body := batchBody("a", "b")
				c.want(0, "", reqSend, with(s.sendFields(0, ""), "batch", "true"), body)
				c.want(0, "", reqSendV2, with(s.sendV2Fields(0, ""), "m", "true"), body)
				c.want(0, "", reqSendBatch, with(s.sendV2Fields(0, ""), "m", "true"), body)
				s.settled(c, 0, 6)
				c.wantOffsets(0, 0, 6)
			},
		},
		{
			// The code is another one than for a single message.
			name: "a batch may have 4 MiB as a whole (Y08)",
			run: func(s *remotingScene) {
				c := s.dial()
				half := strings.Repeat("x", 2<<20)
				c.want(1, "message body size exceeded", reqSendBatch, with(s.sendV2Fields(0, ""), "m", "true"), batchBody(half, half))
				c.want(0, "", reqSendBatch, with(s.sendV2Fields(0, ""), "m", "true"), batchBody(half, half[100:]))
				s.settled(c, 0, 2)
			},
		},
	}
}

// batchBody puts bodies together, with tag x each.
func batchBody(bodies ...string) []byte {
	var b []byte
	for _, body := range bodies {
		b = remoting.AppendBatchEntry(b, remoting.BatchEntry{Body: []byte(body), Properties: remoting.Properties(tagged("x"))})
	}
	return b
}

func (c *remotingClient) mustSendBatch(queue int, bodies ...string) *remoting.Command {
	c.s.Helper()
	return c.want(0, "", reqSendBatch, with(c.s.sendV2Fields(queue, ""), "m", "true"), batchBody(bodies...))
}
