// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

func remotingQueryCases() []remotingCase {
	return []remotingCase{
		{
			name: "a message is found by its unique key, each copy of it",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSend(0, "a", properties("UNIQ_KEY", "U-"+s.unique))
				c.mustSend(1, "b", properties("UNIQ_KEY", "U-"+s.unique))
				c.mustSend(0, "c", properties("UNIQ_KEY", "V-"+s.unique))
				s.eventually("both are found", func() bool { return len(c.found(s.uniqueFields("U-"+s.unique))) == 2 })
				if got := fmt.Sprint(texts(c.found(s.uniqueFields("U-" + s.unique)))); got != "[a b]" {
					s.Errorf("got %s, want [a b]", got)
				}
			},
		},
		{
			name: "a message is found by each of its keys, the newest of many in order of storage",
			run: func(s *remotingScene) {
				c := s.dial()
				for i := range 5 {
					c.mustSend(0, fmt.Sprint(i), properties("KEYS", "all n"+strconv.Itoa(i)))
				}
				s.eventually("all are found", func() bool { return len(c.found(s.keyFields("all", 32))) == 5 })
				for key, want := range map[string]string{"all": "[0 1 2 3 4]", "n3": "[3]"} {
					if got := fmt.Sprint(texts(c.found(s.keyFields(key, 32)))); got != want {
						s.Errorf("key %s: got %s, want %s", key, got, want)
					}
				}
				if got := fmt.Sprint(texts(c.found(s.keyFields("all", 2)))); got != "[3 4]" {
					s.Errorf("two of them: got %s, want [3 4]", got)
				}
			},
		},
		{
			name: "a key that nothing has is answered 22, and so is another topic or time",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSend(0, "a", properties("UNIQ_KEY", "U-"+s.unique, "KEYS", "k"))
				s.eventually("it is found", func() bool { return len(c.found(s.uniqueFields("U-"+s.unique))) == 1 })
				text := "can not find message, maybe time range not correct"
				c.want(22, text, reqQuery, s.uniqueFields("W-"+s.unique), nil)
				c.want(22, text, reqQuery, s.keyFields("no", 32), nil)
				c.want(22, text, reqQuery, with(s.uniqueFields("U-"+s.unique), "topic", s.name("no")), nil)
				c.want(22, text, reqQuery, with(s.uniqueFields("U-"+s.unique), "endTimestamp", "1000"), nil)
			},
		},
		{
			// The index has hash codes of Java only. Who asks whether a message
			// is there has to look at the keys of what comes.
			name: "a query brings what has another key of the same hash, and a unique key is a key",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSend(0, "a", properties("KEYS", s.unique+"Aa"))
				c.mustSend(0, "b", properties("UNIQ_KEY", s.unique+"BB"))
				for _, key := range []string{"Aa", "BB"} {
					for _, unique := range []string{"true", "false"} {
						f := with(s.keyFields(s.unique+key, 32), "_UNIQUE_KEY_QUERY", unique)
						s.eventually("both are found", func() bool { return len(c.found(f)) == 2 })
					}
				}
			},
		},
		{
			name: "a query by tag finds what has exactly these tags",
			run: func(s *remotingScene) {
				c := s.dial()
				c.mustSend(0, "a", tagged("x-"+s.unique))
				c.mustSend(0, "b", tagged("y-"+s.unique))
				f := with(s.keyFields("x-"+s.unique, 32), "indexType", "T")
				s.eventually("it is found", func() bool { return len(c.found(f)) == 1 })
				if got := fmt.Sprint(texts(c.found(f))); got != "[a]" {
					s.Errorf("got %s", got)
				}
			},
		},
		{
			name: "a message is found by the place that its id names",
			run: func(s *remotingScene) {
				c := s.dial()
				a := c.want(0, "", reqSend, s.sendFields(0, ""), []byte("m"))
				_, at, err := remoting.ParseOffsetID(a.Fields["msgId"])
				if err != nil {
					s.Fatal(err)
				}
				got := s.decode(c.want(0, "", reqView, fields{"offset": fmt.Sprint(at)}, nil))
				if fmt.Sprint(texts(got)) != "[m]" {
					s.Errorf("got %q", texts(got))
				}
				c.want(1, "can not find message by the offset, "+fmt.Sprint(1<<50), reqView, fields{"offset": fmt.Sprint(1 << 50)}, nil)
			},
		},
	}
}

func (s *remotingScene) keyFields(key string, most int) fields {
	return fields{"topic": s.topic, "key": key, "maxNum": strconv.Itoa(most), "beginTimestamp": "0",
		"endTimestamp": fmt.Sprint(s.broker.Now().Add(time.Hour).UnixMilli()), "_UNIQUE_KEY_QUERY": "false"}
}

func (s *remotingScene) uniqueFields(key string) fields {
	return with(s.keyFields(key, 1), "_UNIQUE_KEY_QUERY", "true")
}

// found returns the messages that a query finds.
func (c *remotingClient) found(f fields) []remoting.Message {
	c.s.Helper()
	a := c.call(reqQuery, f, nil)
	if a.Code == remoting.CodeQueryNotFound {
		return nil
	}
	return c.s.decode(a)
}

func remotingClientCases() []remotingCase {
	return []remotingCase{
		{
			name: "a group's consumers are those whose heartbeats came, until they leave or hang up",
			run: func(s *remotingScene) {
				c, other := s.dial(), s.dial()
				list := fields{"consumerGroup": s.group}
				c.want(1, "no consumer for this group, "+s.group, reqConsumers, list, nil)
				c.mustHeartbeat("C1-"+s.unique, s.topic, "*", 1)
				other.mustHeartbeat("C2-"+s.unique, s.topic, "*", 1)
				s.wantConsumers(c, "C1-"+s.unique, "C2-"+s.unique)
				other.nc.Close()
				s.eventually("one hung up", func() bool { return len(s.consumers(c)) == 1 })
				s.wantConsumers(c, "C1-"+s.unique)
				c.want(0, "", reqUnregister, fields{"clientID": "C1-" + s.unique, "consumerGroup": s.group}, nil)
				c.want(1, "no consumer for this group", reqConsumers, list, nil)
			},
		},
		{
			name: "a group has a retry topic of one queue from its first heartbeat on",
			run: func(s *remotingScene) {
				c := s.dial()
				f := with(s.pullFields(0, 0), "topic", "%RETRY%"+s.group)
				c.want(17, "not exist", reqPull, f, nil)
				c.mustHeartbeat("C-"+s.unique, s.topic, "*", 1)
				c.want(19, "", reqPull, f, nil)
				c.want(29, "", reqPull, with(f, "queueId", "1"), nil)
			},
		},
		{
			name: "a group's name has 120 characters at most",
			run: func(s *remotingScene) {
				c := s.dial()
				create := func(name string) []byte {
					b, err := json.Marshal(map[string]any{"groupName": name})
					if err != nil {
						s.Fatal(err)
					}
					return b
				}
				long := fmt.Sprintf("%-120s", "G-"+s.unique)
				long = string(bytes.ReplaceAll([]byte(long), []byte(" "), []byte("x")))
				c.want(0, "", reqCreateGroup, nil, create(long))
				c.want(29, "is longer than group max length: 120", reqCreateGroup, nil, create(long+"x"))
				c.want(29, "contains illegal characters", reqCreateGroup, nil, create("a b"))
				c.want(29, "The specified group is blank.", reqCreateGroup, nil, create(""))
			},
		},
	}
}

// mustHeartbeat tells the broker of a consumer that pulls.
func (c *remotingClient) mustHeartbeat(id, topic, expr string, version int64) {
	c.s.Helper()
	body, err := json.Marshal(map[string]any{"clientID": id, "producerDataSet": []any{}, "consumerDataSet": []any{map[string]any{
		"groupName": c.s.group, "consumeType": "CONSUME_ACTIVELY", "messageModel": "CLUSTERING", "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET", "unitMode": false,
		"subscriptionDataSet": []any{map[string]any{"classFilterMode": false, "topic": topic, "subString": expr, "tagsSet": []string{expr},
			"codeSet": []int{int(expr[0])}, "subVersion": version, "expressionType": "TAG"}},
	}}})
	if err != nil {
		c.s.Fatal(err)
	}
	c.want(0, "", reqHeartbeat, nil, body)
}

func (s *remotingScene) consumers(c *remotingClient) []string {
	s.Helper()
	a := c.call(reqConsumers, fields{"consumerGroup": s.group}, nil)
	var out struct{ ConsumerIDList []string }
	if a.Code == 0 {
		if err := json.Unmarshal(a.Body, &out); err != nil {
			s.Fatal(err)
		}
	}
	return out.ConsumerIDList
}

func (s *remotingScene) wantConsumers(c *remotingClient, want ...string) {
	s.Helper()
	got := map[string]bool{}
	for _, id := range s.consumers(c) {
		got[id] = true
	}
	for _, id := range want {
		if !got[id] || len(got) != len(want) {
			s.Errorf("got consumers %v, want %v", got, want)
		}
	}
}

func zlibbed(text string) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // into memory: cannot fail
	_ = w.Close()
	return b.Bytes()
}
