// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
)

func remotingRouteCases() []remotingCase {
	return []remotingCase{
		{
			name: "a route says how many queues a topic has at a broker and where that is",
			run: func(s *remotingScene) {
				c := s.dialAt(s.broker.NameServer())
				a := c.want(0, "", reqRoute, fields{"topic": s.topic}, nil)
				var r struct {
					QueueDatas  []map[string]any
					BrokerDatas []struct {
						BrokerName, Cluster string
						BrokerAddrs         map[string]string
					}
				}
				if err := json.Unmarshal(a.Body, &r); err != nil {
					s.Fatalf("%s: %v", a.Body, err)
				}
				want := "[map[brokerName:broker-a perm:6 readQueueNums:2 topicSysFlag:0 writeQueueNums:2]]"
				if got := fmt.Sprint(r.QueueDatas); got != want {
					s.Errorf("got queues %s, want %s", got, want)
				}
				want = "[{broker-a DefaultCluster map[0:" + s.broker.BrokerAddr() + "]}]"
				if got := fmt.Sprint(r.BrokerDatas); got != want {
					s.Errorf("got brokers %s, want %s", got, want)
				}
			},
		},
		{
			// Before 4.9.4 broker ids were written as names without quotes.
			name: "an older client gets broker ids without quotes, unless it asks for standard JSON",
			run: func(s *remotingScene) {
				c := s.dialAt(s.broker.NameServer())
				c.version = 317
				a := c.want(0, "", reqRoute, fields{"topic": s.topic}, nil)
				if !strings.Contains(string(a.Body), "{0:\"") {
					s.Errorf("got %s", a.Body)
				}
				a = c.want(0, "", reqRoute, fields{"topic": s.topic, "acceptStandardJsonOnly": "true"}, nil)
				if !json.Valid(a.Body) {
					s.Errorf("got %s", a.Body)
				}
			},
		},
		{
			// A topic of type LITE takes what is sent to it over this protocol, and no
			// consumer of lite topics ever gets it: a producer has to ask before.
			name: "a broker tells the type of a topic, and that it does not know one",
			run: func(s *remotingScene) {
				c := s.dial()
				lite := s.name("lite")
				c.want(0, "", reqCreateTopic, fields{"topic": lite, "defaultTopic": "TBW102", "readQueueNums": "1", "writeQueueNums": "3", "perm": "6",
					"topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false", "attributes": "+message.type=LITE"}, nil)
				for topic, want := range map[string]string{lite: lite + " LITE 1 3", s.topic: s.topic + " NORMAL 2 2"} {
					a := c.want(0, "", reqTopicConfig, fields{"topic": topic, "lo": "true"}, nil)
					var told struct {
						TopicName                     string
						ReadQueueNums, WriteQueueNums int
						Attributes                    map[string]string
					}
					if err := json.Unmarshal(a.Body, &told); err != nil {
						s.Fatalf("%s: %v", a.Body, err)
					}
					got := fmt.Sprint(told.TopicName, " ", told.Attributes["message.type"], " ", told.ReadQueueNums, " ", told.WriteQueueNums)
					if got != want {
						s.Errorf("got %q, want %q: %s", got, want, a.Body)
					}
				}
				c.want(17, "No topic in this broker. topic: "+s.name("no"), reqTopicConfig, fields{"topic": s.name("no")}, nil)
			},
		},
		{
			name: "the route of an unknown topic is an answer of its own, 17 (N02, X14a)",
			run: func(s *remotingScene) {
				s.dialAt(s.broker.NameServer()).want(17, "No topic route info in name server for the topic: "+s.name("no"), reqRoute, fields{"topic": s.name("no")}, nil)
			},
		},
		{
			name: "a topic gets more queues, which begin at offset 0 (O06, O07)",
			run: func(s *remotingScene) {
				c, ns := s.dial(), s.dialAt(s.broker.NameServer())
				c.mustSend(1, "a", "")
				f := fields{"topic": s.topic, "defaultTopic": "TBW102", "readQueueNums": "4", "writeQueueNums": "4", "perm": "6",
					"topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false"}
				c.want(0, "", reqCreateTopic, f, nil)
				s.eventually("the new route", func() bool {
					return strings.Contains(string(ns.want(0, "", reqRoute, fields{"topic": s.topic}, nil).Body), "\"readQueueNums\":4")
				})
				c.wantOffsets(1, 0, 1)
				c.wantOffsets(3, 0, 0)
				if got := c.mustSend(3, "b", ""); got != 0 {
					s.Errorf("got offset %d, want 0", got)
				}
			},
		},
		{
			name: "a topic's name has 127 characters at most, of a few kinds (Y07)",
			run: func(s *remotingScene) {
				c := s.dial()
				f := fields{"defaultTopic": "TBW102", "readQueueNums": "1", "writeQueueNums": "1", "perm": "6", "topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false"}
				long := (s.unique + strings.Repeat("x", 127))[:127]
				c.want(0, "", reqCreateTopic, with(f, "topic", long), nil)
				c.want(29, "is longer than topic max length: 127", reqCreateTopic, with(f, "topic", long+"x"), nil)
				c.want(29, "contains illegal characters", reqCreateTopic, with(f, "topic", "a b"), nil)
				c.want(29, "The specified topic is blank.", reqCreateTopic, with(f, "topic", " "), nil)
				c.want(29, "is conflict with system topic.", reqCreateTopic, with(f, "topic", "TBW102"), nil)
				send := with(s.sendFields(0, ""), "topic", long)
				c.want(0, "", reqSend, send, []byte("m"))
				c.want(29, "is longer than topic max length: 127", reqSend, with(send, "topic", long+"x"), []byte("m"))
			},
		},
		{
			name: "a request that nobody knows is answered 3",
			run: func(s *remotingScene) {
				s.dial().want(3, " request type 987 not supported", 987, nil, nil)
				s.dialAt(s.broker.NameServer()).want(3, " request type 10 not supported", reqSend, s.sendFields(0, ""), nil)
			},
		},
		{
			// The text is that of an exception, a null pointer for some codes.
			name: "a request without a field that it needs is a system error",
			run: func(s *remotingScene) {
				c := s.dial()
				c.want(1, "xception", reqPull, with(s.pullFields(0, 0), "queueOffset", without), nil)
				c.want(1, "xception", reqMax, fields{"topic": s.topic}, nil)
				c.want(1, "xception", reqSend, with(s.sendFields(0, ""), "topic", without), []byte("m"))
			},
		},
	}
}
