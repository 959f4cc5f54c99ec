// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNameServerLists(t *testing.T) {
	for _, row := range []struct {
		name, list string
		want       []string
		fails      string
	}{
		{"addresses and names, each once", "10.0.0.1:9876;ns2.example.com:9876, localhost:1;10.0.0.1:9876", []string{"10.0.0.1:9876", "ns2.example.com:9876", "localhost:1"}, ""},
		{"IPv6", "[::1]:9876", []string{"[::1]:9876"}, ""},
		{"a vendor's endpoint", "http://MQ_INST_123_abc.cn.example.com:80/", []string{"MQ_INST_123_abc.cn.example.com:80"}, ""},
		{"nothing", " ; ", nil, "no name server"},
		{"no port", "localhost", nil, "host:port"},
		{"a port that is none", "localhost:99999", nil, "1 to 65535"},
		{"no host", ":9876", nil, "1 to 65535"},
	} {
		got, err := ParseNameServers(row.list)
		if d := cmp.Diff(row.want, got); d != "" || (err == nil) != (row.fails == "") || err != nil && !strings.Contains(err.Error(), row.fails) {
			t.Errorf("%s: got %q, %v; want %q, error %q", row.name, got, err, row.want, row.fails)
		}
	}
}

func TestNameServersStandInForEachOther(t *testing.T) {
	answer := func(s *session, cmd *Command) {
		s.reply(cmd, routeAnswer(1, map[string]map[int64]string{"b": {0: "b:1"}}))
	}
	unknown := func(s *session, cmd *Command) { s.reply(cmd, Command{Code: CodeTopicNotExist, Remark: "who?"}) }
	silent := func(*session, *Command) {}
	busy := func(s *session, cmd *Command) { s.reply(cmd, Command{Code: CodeSystemBusy}) }
	forbidden := func(s *session, cmd *Command) { s.reply(cmd, Command{Code: CodeNoPermission}) }
	for _, row := range []struct {
		name    string
		servers []func(*session, *Command) // nil is down
		class   Class                      // of the error; -1 for none
		within  time.Duration
	}{
		{"the first is down", []func(*session, *Command){nil, answer}, -1, 0},
		{"the first is silent", []func(*session, *Command){silent, answer}, -1, 3 * time.Second},
		{"the first is busy", []func(*session, *Command){busy, answer}, -1, 0},
		{"the first does not know the topic yet", []func(*session, *Command){unknown, answer}, -1, 0},
		{"all are down", []func(*session, *Command){nil, nil}, Transient, 2 * time.Second},
		{"all are silent", []func(*session, *Command){silent, silent}, Transient, 20 * time.Second},
		{"one is down and the other does not know it", []func(*session, *Command){nil, unknown}, NoRoute, 0},
		{"access is forbidden", []func(*session, *Command){forbidden, answer}, Permanent, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := newInMemory(t)
				var list []string
				for i, handle := range row.servers {
					addr := fmt.Sprintf("ns:%d", i+1)
					list = append(list, addr)
					if handle != nil {
						srv := net.add(addr, handle)
						defer srv.cut()
					}
				}
				c, err := NewClient(Config{NameServers: strings.Join(list, ";"), Dial: net.dial})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				at := time.Now()
				_, err = c.Route(t.Context(), "t")
				if took := time.Since(at); took > row.within {
					t.Errorf("took %v, want at most %v", took, row.within)
				}
				if row.class >= 0 {
					wantClass(t, err, row.class)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				// The one that answered comes first from now on.
				asked := net.dialled("ns:1")
				must[*Route](t)(c.Route(t.Context(), "t"))
				if net.dialled("ns:1") != asked {
					t.Error("the first name server was asked again")
				}
			})
		})
	}
}

func TestRouteIsTriedThreeTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newInMemory(t)
		var asked atomic.Int32
		srv := net.add("ns:1", func(s *session, cmd *Command) {
			if asked.Add(1) == 3 {
				s.reply(cmd, routeAnswer(1, map[string]map[int64]string{"b": {0: "b:1"}}))
			}
		})
		c, err := NewClient(Config{NameServers: "ns:1", Dial: net.dial})
		if err != nil {
			t.Fatal(err)
		}
		defer srv.cut()
		defer c.Close()
		if _, err := c.Route(t.Context(), "t"); err != nil || asked.Load() != 3 {
			t.Errorf("got %v after %d requests, want none after 3 (N02)", err, asked.Load())
		}
		_, err = c.Route(t.Context(), "t")
		if wantClass(t, err, Transient); !errors.Is(err, context.DeadlineExceeded) || asked.Load() != 6 {
			t.Errorf("got %v after %d requests; want the timeout in it", err, asked.Load()-3)
		}
		// A deadline is kept, and shared among those who are asked.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		at := time.Now()
		if _, err := c.Route(ctx, "t"); !errors.Is(err, context.DeadlineExceeded) || time.Since(at) != time.Second {
			t.Errorf("got %v after %v, want the deadline after 1 s", err, time.Since(at))
		}
	})
}

func TestBrokerThatMovesIsFoundAgain(t *testing.T) {
	for _, row := range []struct {
		name string
		gone func(net *inMemory) // what happens to the old broker
	}{
		{"the old address answers no more (X10)", func(net *inMemory) { net.remove("old:1") }},
		{"the old address says that it is not the leader (O28)", func(net *inMemory) {
			net.remove("old:1")
			net.add("old:1", func(s *session, cmd *Command) { s.reply(cmd, Command{Code: CodeNotLeaderForQueue}) })
		}},
		{"the old address does not know the topic", func(net *inMemory) {
			net.remove("old:1")
			net.add("old:1", func(s *session, cmd *Command) { s.reply(cmd, Command{Code: CodeTopicNotExist}) })
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := newInMemory(t)
				var at atomic.Value
				at.Store("old:1")
				ns := net.add("ns:1", func(s *session, cmd *Command) {
					s.reply(cmd, routeAnswer(1, map[string]map[int64]string{"b": {0: at.Load().(string)}}))
				})
				net.add("old:1", func(s *session, cmd *Command) { s.reply(cmd, offsetAnswer(1)) })
				moved := net.add("new:2", func(s *session, cmd *Command) { s.reply(cmd, offsetAnswer(2)) })
				c, err := NewClient(Config{NameServers: "ns:1", Dial: net.dial, RouteAge: time.Hour})
				if err != nil {
					t.Fatal(err)
				}
				if got := must[int64](t)(c.MaxOffset(t.Context(), testQueue)); got != 1 {
					t.Errorf("got %d, want 1", got)
				}
				at.Store("new:2")
				row.gone(net)
				if _, err := c.MaxOffset(t.Context(), testQueue); err == nil {
					t.Error("no error from a broker that has gone")
				}
				if got, err := c.MaxOffset(t.Context(), testQueue); got != 2 || err != nil {
					t.Errorf("got %d, %v; want 2", got, err)
				}
				c.Close()
				ns.cut()
				moved.cut()
				for _, srv := range net.servers {
					srv.cut()
				}
			})
		})
	}
}

func TestBrokerThatIsNewInTheRoute(t *testing.T) {
	var added atomic.Bool
	var srv *server
	srv = serve(t, "", func(s *session, cmd *Command) {
		if cmd.Code != codeRoute {
			s.reply(cmd, offsetAnswer(3))
			return
		}
		// Two others, so that neither stands in for "b".
		brokers := map[string]map[int64]string{"a": {0: "x:1"}, "a2": {0: "x:2"}}
		if added.Load() {
			brokers["b"] = map[int64]string{0: srv.addr}
		}
		s.reply(cmd, routeAnswer(1, brokers))
	})
	c := newClient(t, Config{NameServers: srv.addr, RouteAge: time.Hour})
	_, err := c.MaxOffset(t.Context(), testQueue)
	if wantClass(t, err, NoRoute); !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("%q does not name the broker", err)
	}
	if n := len(srv.requests(codeRoute)); n != 2 {
		t.Errorf("the route was read %d times, want 2: once more for a broker that is missing", n)
	}
	added.Store(true)
	if got := must[int64](t)(c.MaxOffset(t.Context(), testQueue)); got != 3 {
		t.Errorf("got %d, want 3", got)
	}
}

func TestOldRouteServesWhileItIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newInMemory(t)
		block := make(chan struct{})
		var asked atomic.Int32
		ns := net.add("ns:1", func(s *session, cmd *Command) {
			if asked.Add(1) > 1 {
				<-block
			}
			s.reply(cmd, routeAnswer(1, map[string]map[int64]string{"b": {0: "b:1"}}))
		})
		b := net.add("b:1", func(s *session, cmd *Command) { s.reply(cmd, offsetAnswer(1)) })
		c, err := NewClient(Config{NameServers: "ns:1", Dial: net.dial})
		if err != nil {
			t.Fatal(err)
		}
		must[int64](t)(c.MaxOffset(t.Context(), testQueue))
		time.Sleep(31 * time.Second)
		at := time.Now()
		for range 10 {
			must[int64](t)(c.MaxOffset(t.Context(), testQueue))
		}
		synctest.Wait()
		if took := time.Since(at); took != 0 || asked.Load() != 2 {
			t.Errorf("10 calls took %v while %d routes were read; want no time, and 2", took, asked.Load())
		}
		close(block)
		c.Close()
		ns.cut()
		b.cut()
	})
}

func TestVendorRouteThatListsOnlyAProxy(t *testing.T) {
	var srv *server
	srv = serve(t, "", func(s *session, cmd *Command) {
		switch cmd.Code {
		case codeRoute:
			// Queues of broker "b", and an address for "proxy" alone.
			s.reply(cmd, Command{Body: fmt.Appendf(nil, `{"queueDatas":[{"brokerName":"b","readQueueNums":2,"writeQueueNums":2,"perm":6}],
				"brokerDatas":[{"brokerName":"proxy","cluster":"c","brokerAddrs":{"0":%q}}]}`, srv.addr)})
		case codeCluster:
			s.reply(cmd, Command{Code: CodeRequestNotSupported})
		case codeCommit, codeMaxOffset, codeMinOffset, codeSearchOffset, codeQueryCommitted:
			if cmd.Fields["bname"] != "b" {
				t.Errorf("request %d names broker %q, want b", cmd.Code, cmd.Fields["bname"])
			}
			s.reply(cmd, offsetAnswer(int64(cmd.Code)))
		case codeSendV2:
			s.reply(cmd, Command{Fields: map[string]string{"queueId": "0", "queueOffset": "1", "msgId": "7F000001000000010000000000000001"}})
		}
	})
	c := newClient(t, Config{NameServers: srv.addr})
	ctx := t.Context()
	route := must[*Route](t)(c.Route(ctx, "t"))
	if d := cmp.Diff([]Queue{{"t", "b", 0}, {"t", "b", 1}}, route.Readable()); d != "" {
		t.Error(d)
	}
	q := route.Readable()[1]
	for name, f := range map[string]func() (int64, error){
		"min":       func() (int64, error) { return c.MinOffset(ctx, q) },
		"max":       func() (int64, error) { return c.MaxOffset(ctx, q) },
		"timestamp": func() (int64, error) { return c.OffsetByTime(ctx, q, time.Now()) },
		"committed": func() (int64, error) { n, _, err := c.QueryCommitted(ctx, q, "g"); return n, err },
	} {
		if n, err := f(); n == 0 || err != nil {
			t.Errorf("%s: got %d, %v (X06a)", name, n, err)
		}
	}
	if err := c.Commit(ctx, q, "g", 5); err != nil {
		t.Error(err)
	}
	if _, err := c.SendV2(ctx, q, "p", &OutMessage{Body: []byte("x")}); err != nil {
		t.Error(err)
	}
}

func TestMasterAndSlaves(t *testing.T) {
	answer := func(n int64) func(s *session, cmd *Command) {
		return func(s *session, cmd *Command) {
			a := offsetAnswer(n)
			a.Fields["nextBeginOffset"], a.Fields["minOffset"], a.Fields["maxOffset"] = fmt.Sprint(n), "0", fmt.Sprint(n)
			a.Fields["suggestWhichBrokerId"] = "0"
			s.reply(cmd, a)
		}
	}
	master, slave := serve(t, "", answer(10)), serve(t, "", answer(20))
	var alive atomic.Bool
	alive.Store(true)
	ns := serve(t, "", func(s *session, cmd *Command) {
		at := map[int64]string{1: slave.addr}
		if alive.Load() {
			at[0] = master.addr
		}
		s.reply(cmd, routeAnswer(1, map[string]map[int64]string{"b": at}))
	})
	c := newClient(t, Config{NameServers: ns.addr})
	ctx := t.Context()
	pull := func(id int64) int64 {
		r := must[*PullResult](t)(c.Pull(ctx, PullRequest{Queue: testQueue, Group: "g", BrokerID: id}))
		return r.Next
	}
	for id, want := range map[int64]int64{0: 10, 1: 20, 7: 10} {
		if got := pull(id); got != want {
			t.Errorf("broker id %d: %d answered, want %d (O14)", id, got, want)
		}
	}
	alive.Store(false)
	must[*Route](t)(c.Route(ctx, "t"))
	if got := must[int64](t)(c.MaxOffset(ctx, testQueue)); got != 20 || pull(0) != 20 {
		t.Errorf("without a master: got %d, want 20 of the slave", got)
	}
	_, err := c.SendV2(ctx, testQueue, "p", &OutMessage{})
	wantClass(t, err, NoRoute)
	wantClass(t, c.Commit(ctx, testQueue, "g", 1), NoRoute)
	if r := must[*Route](t)(c.Route(ctx, "t")); len(r.Writable()) != 0 || len(r.Readable()) != 1 {
		t.Errorf("without a master: writable %v, readable %v", r.Writable(), r.Readable())
	}
}

func TestRouteBodies(t *testing.T) {
	for _, row := range []struct {
		name, body string
		want       map[int64]string
	}{
		{"numbers as names, as before 4.9.4", `{"brokerDatas":[{"brokerAddrs":{0:"a:1",1:"b:{2,3:4}"},"brokerName":"b"}]}`, map[int64]string{0: "a:1", 1: "b:{2,3:4}"}},
		{"standard JSON", `{"brokerDatas":[{"brokerName":"b","brokerAddrs":{"0":"a:1"}}]}`, map[int64]string{0: "a:1"}},
		{"a text with escapes", `{"x":"\"{1:2","brokerDatas":[{"brokerName":"b","brokerAddrs":{-1:"a:1"}}]}`, map[int64]string{-1: "a:1"}},
	} {
		r, err := decodeRoute("t", []byte(row.body))
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		if d := cmp.Diff(row.want, r.Brokers[0].Addrs); d != "" {
			t.Errorf("%s: %s", row.name, d)
		}
	}
	if r, err := decodeRoute("t", []byte(`{"queueDatas":[{"brokerName":"b","readQueueNums":2000000000,"perm":6}]}`)); err != nil || len(r.Readable()) != maxQueues {
		t.Errorf("two billion queues: got %d, %v", len(r.Readable()), err)
	}
	if _, err := decodeRoute("t", []byte(`[`)); !errors.Is(err, ErrMalformed) {
		t.Errorf("got %v", err)
	}
}

func FuzzRoute(f *testing.F) {
	f.Add([]byte(`{"brokerDatas":[{"brokerAddrs":{0:"a:1"},"brokerName":"b"}],"queueDatas":[{"brokerName":"b","perm":6,"readQueueNums":3}]}`))
	f.Add([]byte(`{{1:,,2:"\`))
	f.Add([]byte(`{"queueDatas":[{"readQueueNums":-1,"perm":-1}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeRoute("t", b)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("%v is not ErrMalformed", err)
			}
			return
		}
		if len(r.Queues) < 100 {
			for _, q := range r.Readable() {
				r.reader(q.Broker, 0)
			}
			r.Writable()
		}
	})
}

func TestNamespaces(t *testing.T) {
	const ns = "MQ_INST_1_x"
	for plain, wrapped := range map[string]string{
		"topic":              ns + "%topic",
		"%RETRY%group":       "%RETRY%" + ns + "%group",
		"%DLQ%group":         "%DLQ%" + ns + "%group",
		"TBW102":             "TBW102",
		"rmq_sys_something":  "rmq_sys_something",
		"CID_RMQ_SYS_TRANS":  "CID_RMQ_SYS_TRANS",
		"with%percent":       ns + "%with%percent",
		"%RETRY%CID_RMQ_SYS": "%RETRY%" + ns + "%CID_RMQ_SYS",
	} {
		if got := WithNamespace(ns, plain); got != wrapped {
			t.Errorf("with namespace: %q becomes %q, want %q (N03)", plain, got, wrapped)
		}
		if got := WithNamespace(ns, wrapped); got != wrapped {
			t.Errorf("twice: %q becomes %q", wrapped, got)
		}
		if got := WithoutNamespace(ns, wrapped); got != plain {
			t.Errorf("without namespace: %q becomes %q, want %q", wrapped, got, plain)
		}
		if WithNamespace("", plain) != plain || WithoutNamespace("", wrapped) != wrapped {
			t.Errorf("no namespace changes %q or %q", plain, wrapped)
		}
	}
	if got := WithoutNamespace("other", ns+"%topic"); got != ns+"%topic" {
		t.Errorf("of another namespace: got %q", got)
	}
	for endpoints, want := range map[string]string{
		"http://MQ_INST_123_abc.cn-x.example.com:80": "MQ_INST_123_abc",
		"a:1;MQ_INST_1_b.example.com:8080":           "MQ_INST_1_b",
		"ns.example.com:9876":                        "",
		"MQ_INST_1:80":                               "",
	} {
		if got := InstanceOf(endpoints); got != want {
			t.Errorf("instance of %q: got %q, want %q", endpoints, got, want)
		}
	}
}

func TestNamespaceOnTheWireAndInHints(t *testing.T) {
	srv := serve(t, "", func(s *session, cmd *Command) { s.reply(cmd, Command{Code: CodeTopicNotExist}) })
	const endpoint = "MQ_INST_1_x.example.com:80"
	for namespace, wantTopic := range map[string]string{"": "t", "MQ_INST_1_x": "MQ_INST_1_x%t"} {
		c := newClient(t, Config{NameServers: endpoint, Namespace: namespace, Dial: redirect(srv.addr)})
		_, err := c.Route(t.Context(), "t")
		e := wantClass(t, err, NoRoute)
		if hinted := strings.Contains(e.Hint, "set the namespace"); hinted != (namespace == "") {
			t.Errorf("namespace %q: hint %q (N03)", namespace, e.Hint)
		}
		all := srv.requests(codeRoute)
		if got := all[len(all)-1].Fields["topic"]; got != wantTopic {
			t.Errorf("namespace %q: asked for topic %q, want %q", namespace, got, wantTopic)
		}
	}
}
