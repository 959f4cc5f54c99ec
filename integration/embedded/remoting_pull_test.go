// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"bufio"
	"context"
	"encoding/json"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
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

// (Y25) Property filters are off by default.
func TestSQLIsRefusedWherePropertyFiltersAreOff(t *testing.T) {
	t.Parallel()
	_, c := startRemoting(t)
	f := pullFields("orders", 0, 0, "a > 5", 0)
	f["expressionType"] = "SQL92"
	if a := c.want(1, 11, f, nil); a.Remark != "The broker does not support consumer to filter message by SQL92" {
		t.Errorf("remark %q", a.Remark)
	}
	c.want(1, 46, nil, []byte(`{"subscriptionData":{"topic":"orders","subString":"a > 5","expressionType":"SQL92"}}`))
}

// Messages of the gRPC side can be pulled.
func TestWhatTheGRPCSideSentIsPulled(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t, embedded.WithQueues(1))
	m := message("orders", "", "ID1", "body")
	m.SystemProperties.MessageType = v2.MessageType_NORMAL
	m.SystemProperties.Keys = []string{"k1", "k2"}
	tag := "red"
	m.SystemProperties.Tag = &tag
	m.UserProperties = map[string]string{"u": "v"}
	wantCode(t, "send", dial(t, b, "c1").send(m).GetStatus(), v2.Code_OK)
	got := c.wantPull(0, 1, pullFields("orders", 0, 0, "red", 0), "body")[0]
	want := map[string]string{"UNIQ_KEY": "ID1", "KEYS": "k1 k2", "TAGS": "red", "u": "v", "CLUSTER": "DefaultCluster"}
	if !maps.Equal(got.Properties.Map(), want) {
		t.Errorf("properties %v, want %v", got.Properties.Map(), want)
	}
}

// BenchmarkPull measures messages of 1 KiB pulled in batches of 32, on one
// connection, without decoding them.
func BenchmarkPull(b *testing.B) {
	mq := embedded.Start(context.Background(), embedded.WithNormalTopic("orders"), embedded.WithQueues(1))
	defer mq.Close()
	mq.PublishMany("orders", slices.Repeat([][]byte{make([]byte, 1024)}, max(b.N, 1)))
	nc, err := net.Dial("tcp", mq.BrokerAddr())
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	r := remoting.NewReader(bufio.NewReaderSize(nc, 64<<10), remoting.DefaultMaxFrame)
	b.ResetTimer()
	for at := int64(0); at < int64(b.N); {
		frame, err := remoting.AppendCommand(nil, &remoting.Command{Code: 11, Fields: pullFields("orders", 0, at, "*", 0)}, 1<<20)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := nc.Write(frame); err != nil {
			b.Fatal(err)
		}
		a, err := r.Next()
		if err != nil || a.Code != 0 {
			b.Fatal(a, err)
		}
		if at, err = strconv.ParseInt(a.Fields["nextBeginOffset"], 10, 64); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
}
