// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func TestARouteListsQueuesAndAddresses(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithBrokers("x", "y"), embedded.WithQueues(3))
	ns := dialWire(t, b.NameServer())
	a := ns.want(0, 105, fields{"topic": "orders"}, nil)
	var r struct {
		QueueDatas []struct {
			BrokerName                          string
			ReadQueueNums, WriteQueueNums, Perm int
		}
		BrokerDatas []struct {
			BrokerName  string
			BrokerAddrs map[string]string
		}
	}
	if err := json.Unmarshal(a.Body, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.QueueDatas) != 2 || r.QueueDatas[1].BrokerName != "y" || r.QueueDatas[1].ReadQueueNums != 3 || r.QueueDatas[1].Perm != 6 {
		t.Errorf("queues %+v", r.QueueDatas)
	}
	if len(r.BrokerDatas) != 2 || r.BrokerDatas[1].BrokerAddrs["0"] != b.BrokerAddrOf("y") {
		t.Errorf("brokers %+v, want y at %s", r.BrokerDatas, b.BrokerAddrOf("y"))
	}
	ns.want(17, 105, fields{"topic": "nothing"}, nil)
}

func TestWhatWasSentIsPulled(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	a := c.send("orders", 1, "one", "TAGS\x01red\x02KEYS\x01k1 k2\x02u\x01v\x02UNIQ_KEY\x01ID1\x02")
	if a.Fields["queueId"] != "1" || a.Fields["queueOffset"] != "0" || a.Fields["transactionId"] != "ID1" {
		t.Errorf("answer %v", a.Fields)
	}
	c.send("orders", 1, "two", "")
	ms := c.wantPull(0, 2, pullFields("orders", 1, 0, "*", 0), "one", "two")
	m := ms[0]
	if m.Tag() != "red" || strings.Join(m.Keys(), ",") != "k1,k2" || m.Properties.Get("u") != "v" || m.UniqueKey() != "ID1" || m.OffsetID() != a.Fields["msgId"] {
		t.Errorf("message %+v, sent with answer %v", m, a.Fields)
	}
	if m, _ := b.Message("ID1"); string(m.Body) != "one" || m.Tag != "red" || m.Properties["u"] != "v" {
		t.Errorf("the gRPC side has %+v", m)
	}
}

func TestALongPollEndsWithAMessageOrItsTime(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b, c := startRemoting(t, embedded.WithClock(clock))
	c.begin(11, pullFields("orders", 0, 0, "*", 15*time.Second), nil)
	wait(t, b, "the hold", func(s embedded.Snapshot) bool { return s.LongPolls("g") == 1 })
	b.PublishTo(embedded.Queue{Topic: "orders"}, []byte("m"))
	c.wantPulled(c.end(), 1, "m")
	c.begin(11, pullFields("orders", 0, 1, "*", 15*time.Second), nil)
	wait(t, b, "the hold", func(s embedded.Snapshot) bool { return s.LongPolls("g") == 1 })
	clock.Advance(15 * time.Second)
	if a := c.end(); a.Code != 19 {
		t.Errorf("answer %d %s, want 19", a.Code, a.Remark)
	}
}
