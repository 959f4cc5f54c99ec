// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// routed returns the addresses of a topic's brokers in the route, by name and id.
func routed(t *testing.T, b *embedded.Broker, topic string) map[string]map[string]string {
	t.Helper()
	a := dialWire(t, b.NameServer()).call(105, fields{"topic": topic}, nil)
	var r struct {
		BrokerDatas []struct {
			BrokerName  string
			BrokerAddrs map[string]string
		}
	}
	if a.Code == 0 {
		if err := json.Unmarshal(a.Body, &r); err != nil {
			t.Fatal(err)
		}
	}
	out := map[string]map[string]string{}
	for _, d := range r.BrokerDatas {
		out[d.BrokerName] = d.BrokerAddrs
	}
	return out
}

// refused fails if something listens at addr.
func wantRefused(t *testing.T, addr string) {
	t.Helper()
	if nc, err := net.Dial("tcp", addr); err == nil {
		_ = nc.Close()
		t.Errorf("%s is open", addr)
	}
}

// (W07) One of two brokers is down; its queues are still in the route.
func TestADeadBrokerStaysInTheRouteUntilItIsUnregistered(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithBrokers("x", "y"), embedded.WithQueues(2))
	b.StopBroker("y")
	wantRefused(t, b.BrokerAddrOf("y"))
	if got := routed(t, b, "orders"); got["y"]["0"] != b.BrokerAddrOf("y") {
		t.Errorf("route %v", got)
	}
	dialWire(t, b.BrokerAddrOf("x")).send("orders", 0, "m", "")
	b.UnregisterBroker("y")
	if got := routed(t, b, "orders"); len(got) != 1 {
		t.Errorf("route %v", got)
	}
	b.ResumeBroker("y")
	if got := routed(t, b, "orders"); len(got) != 2 {
		t.Errorf("route %v", got)
	}
	dialWire(t, b.BrokerAddrOf("y")).send("orders", 0, "n", "")
	for broker, want := range map[string]string{"x": "m", "y": "n"} {
		ms := b.MessagesIn(embedded.Queue{Topic: "orders", Broker: broker})
		if len(ms) != 1 || string(ms[0].Body) != want {
			t.Errorf("broker %s has %v, want %q", broker, ms, want)
		}
	}
}

// (O28, X10) A broker is replaced by one on another port.
func TestABrokerThatFailsOverKeepsItsQueues(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	c.send("orders", 0, "m", "")
	old := b.BrokerAddr()
	now := b.FailOver("")
	if now == old || b.BrokerAddr() != now {
		t.Errorf("address %s, before %s", now, old)
	}
	wantRefused(t, old)
	if got := routed(t, b, "orders"); got["broker-a"]["0"] != now {
		t.Errorf("route %v", got)
	}
	dialWire(t, now).wantPull(0, 1, pullFields("orders", 0, 0, "*", 0), "m")
}

// (O14) A slave serves what is there, corrects nothing and sends the client back.
func TestASlaveSendsWhatItHasNotToTheMaster(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t, embedded.WithSlaves(1))
	for range 3 {
		c.send("orders", 0, "m", "")
	}
	b.ExpireMessages(embedded.Queue{Topic: "orders"}, 2)
	b.SuggestBroker("", 1)
	a := c.want(0, 11, pullFields("orders", 0, 2, "*", 0), nil)
	if got := a.Fields["suggestWhichBrokerId"]; got != "1" {
		t.Errorf("the master suggests %s, want 1", got)
	}
	slave := dialWire(t, routed(t, b, "orders")["broker-a"]["1"])
	slave.wantPull(0, 3, pullFields("orders", 0, 2, "*", 0), "m")
	for _, offset := range []int64{0, 3, 9} {
		a := slave.want(20, 11, pullFields("orders", 0, offset, "*", time.Minute), nil)
		if a.Fields["suggestWhichBrokerId"] != "0" || number(t, a, "nextBeginOffset") != offset {
			t.Errorf("at %d: %v, want the master and the same offset", offset, a.Fields)
		}
	}
	slave.want(2, 10, sendFields("orders", 0, ""), []byte("m"))
	c.wantPull(21, 2, pullFields("orders", 0, 0, "*", 0))
}

func TestTheNameServerCanBeAway(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	b.StopNameServer()
	wantRefused(t, b.NameServer())
	c.send("orders", 0, "m", "")
	b.ResumeNameServer()
	if got := routed(t, b, "orders"); len(got) != 1 {
		t.Errorf("route %v", got)
	}
}

// (X06a) The route names a proxy only, the queues keep the broker's name.
func TestARouteViaAProxy(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithRouteVia("proxy-0"))
	if got := routed(t, b, "orders"); len(got) != 1 || got["proxy-0"]["0"] != b.BrokerAddr() {
		t.Errorf("route %v", got)
	}
	a := dialWire(t, b.NameServer()).want(0, 105, fields{"topic": "orders"}, nil)
	if !strings.Contains(string(a.Body), "\"queueDatas\":[{\"brokerName\":\"broker-a\"") {
		t.Errorf("route %s", a.Body)
	}
}

// (O06, O07, B17)
func TestATopicCanBeExpanded(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithBrokers("x", "y"), embedded.WithQueues(1))
	b.PublishMany("orders", [][]byte{[]byte("0"), []byte("1")})
	b.ExpandQueues("orders", 3)
	for _, broker := range []string{"x", "y"} {
		c := dialWire(t, b.BrokerAddrOf(broker))
		c.send("orders", 2, "new", "")
		if got := len(b.MessagesIn(embedded.Queue{Topic: "orders", Broker: broker})); got != 1 {
			t.Errorf("%d messages in the old queue of %s, want 1", got, broker)
		}
		if _, next := b.QueueOffsets(embedded.Queue{Topic: "orders", Broker: broker, ID: 2}); next != 1 {
			t.Errorf("the new queue of %s ends at %d, want 1", broker, next)
		}
	}
}

func TestExpiredMessagesAreGoneForBothSides(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t, embedded.WithQueues(1))
	b.PublishMany("orders", slices.Repeat([][]byte{[]byte("m")}, 4))
	q := embedded.Queue{Topic: "orders"}
	if n := b.ExpireMessages(q, 3); n != 3 {
		t.Errorf("%d expired, want 3", n)
	}
	if n := b.ExpireMessages(q, 2); n != 0 {
		t.Errorf("%d expired, want none", n)
	}
	if least, next := b.QueueOffsets(q); least != 3 || next != 4 {
		t.Errorf("offsets %d to %d, want 3 to 4", least, next)
	}
	c.wantPull(21, 3, pullFields("orders", 0, 0, "*", 0))
	if got := b.Pending("orders"); got != 1 {
		t.Errorf("pending %d, want 1", got)
	}
	simple(t, b, "c1", "orders", "workers").want("m")
	if n := b.ExpireMessages(q, 99); n != 1 || len(b.MessagesIn(q)) != 0 || b.Pending("orders") != 0 {
		t.Errorf("%d expired, %v and %d pending are left", n, b.MessagesIn(q), b.Pending("orders"))
	}
}

func TestCommitsAreSeenInOrder(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	q := embedded.Queue{Topic: "orders", ID: 1}
	if _, ok := b.Committed("g", q); ok {
		t.Error("a new group has an offset")
	}
	b.SetCommitted("g", q, 9)
	for _, offset := range []string{"3", "5", "4"} {
		c.want(0, 15, fields{"consumerGroup": "g", "topic": "orders", "queueId": "1", "commitOffset": offset}, nil)
	}
	var got []int64
	for _, commit := range b.Commits() {
		if commit.Group != "g" || commit.Queue != (embedded.Queue{Topic: "orders", Broker: "broker-a", ID: 1}) {
			t.Errorf("commit %+v", commit)
		}
		got = append(got, commit.Offset)
	}
	if fmt.Sprint(got) != "[9 3 5 4]" {
		t.Errorf("commits %v", got)
	}
	if offset, ok := b.Committed("g", q); !ok || offset != 4 {
		t.Errorf("committed %d, %v", offset, ok)
	}
}

func TestPullsAreSeenWithTheirAnswers(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	c.send("orders", 0, "m", "")
	c.call(11, pullFields("orders", 0, 0, "a || b", 0), nil)
	c.call(11, pullFields("orders", 0, 0, "*", 0), nil)
	c.call(11, pullFields("orders", 7, 0, "*", 0), nil)
	c.call(11, pullFields("orders", 0, 99, "*", 0), nil)
	var got []string
	for _, p := range b.Pulls() {
		got = append(got, fmt.Sprintf("%s/%d@%d %q: %d, %d", p.Queue.Topic, p.Queue.ID, p.Offset, p.Expression, p.Code, p.Messages))
	}
	want := []string{"orders/0@0 \"a || b\": 20, 0", "orders/0@0 \"*\": 0, 1", "orders/7@0 \"*\": 29, 0", "orders/0@99 \"*\": 21, 0"}
	if !slices.Equal(got, want) {
		t.Errorf("pulls %q, want %q", got, want)
	}
}

func TestDroppedConnectionsEndLongPolls(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	c.begin(11, pullFields("orders", 0, 0, "*", time.Hour), nil)
	wait(t, b, "the hold", func(s embedded.Snapshot) bool { return s.LongPolls("g") == 1 })
	b.DropConnections()
	wait(t, b, "the end of the hold", func(s embedded.Snapshot) bool { return s.LongPolls("g") == 0 })
	if _, err := c.r.Next(); err == nil {
		t.Error("the connection lives")
	}
	dialWire(t, b.BrokerAddr()).send("orders", 0, "m", "")
}

// A restart loses what heartbeats told, and nothing else.
func TestABrokerRestart(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	beat := []byte(`{"clientID":"c1","producerDataSet":[],"consumerDataSet":[{"groupName":"g","consumeType":"CONSUME_ACTIVELY","subscriptionDataSet":[{"topic":"orders","subString":"*","subVersion":1}]}]}`)
	c.want(0, 34, nil, beat)
	c.send("orders", 0, "m", "")
	b.SetCommitted("g", embedded.Queue{Topic: "orders"}, 1)
	if got := b.Consumers("g"); fmt.Sprint(got) != "[c1]" {
		t.Errorf("consumers %v", got)
	}
	b.RestartBroker("broker-a")
	wait(t, b, "nobody", func(s embedded.Snapshot) bool { return len(s.Consumers("g")) == 0 })
	if offset, ok := b.Committed("g", embedded.Queue{Topic: "orders"}); !ok || offset != 1 {
		t.Errorf("committed %d, %v", offset, ok)
	}
	c = dialWire(t, b.BrokerAddr())
	c.want(24, 11, func() fields { f := pullFields("orders", 0, 0, "*", 0); f["sysFlag"] = "0"; return f }(), nil)
	c.wantPull(0, 1, pullFields("orders", 0, 0, "*", 0), "m")
}

func TestATopicCanBeDeletedAndClosed(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t, embedded.WithAutoCreateTopic(false))
	b.SetPermission("orders", false, true)
	c.send("orders", 0, "m", "")
	c.want(16, 11, pullFields("orders", 0, 0, "*", 0), nil)
	b.DeleteTopic("orders")
	c.want(17, 11, pullFields("orders", 0, 0, "*", 0), nil)
	c.want(17, 10, sendFields("orders", 0, ""), []byte("m"))
	if got := routed(t, b, "orders"); len(got) != 0 {
		t.Errorf("route %v", got)
	}
}

// A retry topic is a topic.
func TestMessagesOfARetryTopic(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	b.CreateTopic("%RETRY%g", 1)
	b.PublishTo(embedded.Queue{Topic: "%RETRY%g"}, []byte("m"), embedded.PublishReconsumed(2), embedded.PublishProperty("RETRY_TOPIC", "orders"))
	ms := c.wantPull(0, 1, pullFields("%RETRY%g", 0, 0, "*", 0), "m")
	if ms[0].ReconsumeTimes != 2 || ms[0].Properties.Get("RETRY_TOPIC") != "orders" {
		t.Errorf("message %+v", ms[0])
	}
}

func TestPublishedMessagesAreWhatTheirOptionsSay(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	q := embedded.Queue{Topic: "orders", ID: 1}
	stored := epoch().Add(-time.Hour)
	b.PublishTo(q, []byte("m"), embedded.PublishID("U1"), embedded.PublishKeys("k1", "k2"), embedded.PublishTag("red"), embedded.PublishProperty("u", "v"),
		embedded.PublishStored(stored), embedded.PublishBorn(stored.Add(-time.Second)), embedded.PublishFlag(7), embedded.PublishSysFlag(8), embedded.PublishMessageGroup("s"))
	m := c.wantPull(0, 1, pullFields("orders", 1, 0, "*", 0), "m")[0]
	if m.UniqueKey() != "U1" || m.Properties.Get("KEYS") != "k1 k2" || m.Tag() != "red" || m.Properties.Get("u") != "v" || m.Properties.Get("__SHARDINGKEY") != "s" {
		t.Errorf("properties %v", m.Properties.Map())
	}
	if !m.Stored.Equal(stored) || !m.Born.Equal(stored.Add(-time.Second)) || m.Flag != 7 || m.SysFlag != 8 {
		t.Errorf("message %+v", m)
	}
}

func TestCompressedMessages(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	body := bytes.Repeat([]byte("hello "), 1000)
	for _, kind := range []embedded.Compression{embedded.Zlib, embedded.LZ4, embedded.Zstd} {
		b.PublishTo(embedded.Queue{Topic: "orders"}, body, embedded.PublishCompressed(kind))
	}
	for _, m := range c.decode(c.want(0, 11, pullFields("orders", 0, 0, "*", 0), nil)) {
		if m.Err != nil || !bytes.Equal(m.Body, body) {
			t.Errorf("%d bytes, %v", len(m.Body), m.Err)
		}
	}
	b.PublishTo(embedded.Queue{Topic: "orders", ID: 1}, body, embedded.PublishBrokenCompression())
	if ms := c.decode(c.want(0, 11, pullFields("orders", 1, 0, "*", 0), nil)); ms[0].Err == nil {
		t.Error("a broken body was decompressed")
	}
}

// A batch that is stored as one message takes an offset for each of them.
func TestABatchStoredAsOneMessage(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	q := embedded.Queue{Topic: "orders"}
	b.PublishTo(q, []byte("before"))
	b.PublishTo(q, nil, embedded.PublishInner([]byte("a"), []byte("b"), []byte("c")))
	b.PublishTo(q, []byte("after"))
	c.wantPull(0, 5, pullFields("orders", 0, 0, "*", 0), "before", "a", "b", "c", "after")
	ms := c.wantPull(0, 5, pullFields("orders", 0, 2, "*", 0), "a", "b", "c", "after") // the client drops what it has
	if ms[1].QueueOffset != 2 || ms[3].QueueOffset != 4 {
		t.Errorf("offsets %d and %d", ms[1].QueueOffset, ms[3].QueueOffset)
	}
	if got := len(b.MessagesIn(q)); got != 3 {
		t.Errorf("%d stored messages, want 3", got)
	}
}

// A preload must not cost a test its time.
func TestPublishManyIsFast(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	const n = 100_000
	body := make([]byte, 1024)
	began := time.Now()
	b.PublishMany("orders", slices.Repeat([][]byte{body}, n), embedded.PublishTag("x"))
	t.Logf("%d messages in %v", n, time.Since(began))
	for id := range 2 {
		if _, next := b.QueueOffsets(embedded.Queue{Topic: "orders", ID: id}); next != n/2 {
			t.Errorf("queue %d ends at %d", id, next)
		}
	}
	ms := c.decode(c.want(0, 11, pullFields("orders", 1, n/2-1, "*", 0), nil))
	if len(ms) != 1 || len(ms[0].Body) != 1024 || ms[0].Tag() != "x" || ms[0].UniqueKey() == "" {
		t.Errorf("the last message is %v", ms)
	}
}

func TestThereIsNoQueueToPublishTo(t *testing.T) {
	t.Parallel()
	b, _ := startRemoting(t)
	for what, f := range map[string]func(){
		"queue 2":       func() { b.PublishTo(embedded.Queue{Topic: "orders", ID: 2}, nil) },
		"\"nothing\"":   func() { b.PublishMany("nothing", nil) },
		"\"elsewhere\"": func() { b.QueueOffsets(embedded.Queue{Topic: "orders", Broker: "elsewhere"}) },
		"no broker":     func() { b.StopBroker("elsewhere") },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, what) {
					t.Errorf("panic %q does not name %s", got, what)
				}
			}()
			f()
		}()
	}
}
