// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the protocol's signature
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

func reactWith(re embedded.Reaction) embedded.ControlFunc {
	return func(context.Context, *embedded.Request) embedded.Reaction { return re }
}

func TestAControlSeesARemotingRequest(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	seen := make(chan embedded.Request, 1)
	b.Control(embedded.RemotingPull, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		seen <- *r
		return embedded.Pass()
	})
	c.want(19, 11, pullFields("orders", 0, 0, "*", 0), nil)
	r := <-seen
	if r.Code != 11 || r.Topic() != "orders" || r.Group() != "g" || r.Fields["queueOffset"] != "0" || r.Server != "broker-a" || r.Broker != 0 || r.OneWay {
		t.Errorf("request %+v", r)
	}
	if r.Connection != c.nc.LocalAddr().String() {
		t.Errorf("connection %s, want %s", r.Connection, c.nc.LocalAddr())
	}
	b.Control(embedded.RemotingSend, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		if r.Topic() != "orders" || string(r.Body) != "m" {
			t.Errorf("request %+v", r)
		}
		r.Body = []byte("changed")
		r.Fields["queueId"] = "1"
		return embedded.Pass()
	})
	c.send("orders", 0, "m", "")
	c.wantPull(0, 1, pullFields("orders", 1, 0, "*", 0), "changed")
	b.Control(embedded.RemotingRoute, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		return embedded.AnswerRemoting(17, "gone for now", nil, []byte(r.Server))
	})
	ns := dialWire(t, b.NameServer())
	if a := ns.want(17, 105, fields{"topic": "orders"}, nil); a.Remark != "gone for now" || string(a.Body) != "name server" {
		t.Errorf("answer %+v", a)
	}
	ns.want(0, 105, fields{"topic": "orders"}, nil)
}

func TestReactionsToRemotingRequests(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b, c := startRemoting(t, embedded.WithClock(clock))
	b.Control(embedded.RemotingCommit, reactWith(embedded.Fail(errors.New("no disk"))))
	commit := fields{"consumerGroup": "workers", "topic": "orders", "queueId": "0", "commitOffset": "7"}
	if a := c.want(1, 15, commit, nil); a.Remark != "no disk" {
		t.Errorf("answer %q", a.Remark)
	}

	b.Control(embedded.RemotingCommit, reactWith(embedded.Drop()))
	c.begin(15, commit, nil)
	c.want(0, 30, fields{"topic": "orders", "queueId": "0"}, nil) // the answer to the former never comes
	if _, ok := b.Committed("workers", embedded.Queue{Topic: "orders"}); ok {
		t.Error("a dropped commit was carried out")
	}

	b.Control(embedded.RemotingCommit, reactWith(embedded.LoseReply()))
	c.begin(15, commit, nil)
	wait(t, b, "the commit", func(s embedded.Snapshot) bool {
		_, ok := s.Committed("workers", embedded.Queue{Topic: "orders"})
		return ok
	})
	c.want(0, 30, fields{"topic": "orders", "queueId": "0"}, nil)

	asked := make(chan struct{})
	b.Control(embedded.RemotingSend, func(context.Context, *embedded.Request) embedded.Reaction {
		defer close(asked)
		return embedded.Delay(time.Hour)
	})
	c.begin(10, sendFields("orders", 0, ""), []byte("late"))
	late := c.opaque
	<-asked
	c.send("orders", 1, "at once", "")
	// The timer is set a moment after the control returned: move until it fires.
	for len(b.Messages("orders")) < 2 {
		clock.Advance(time.Hour)
		runtime.Gosched()
	}
	if a := c.end(); a.Opaque != late || a.Code != 0 {
		t.Errorf("answer %+v", a)
	}

	b.Control(embedded.RemotingMaxOffset, reactWith(embedded.Fail(embedded.ErrConnectionCut)))
	c.begin(30, fields{"topic": "orders", "queueId": "0"}, nil)
	if _, err := c.r.Next(); err == nil {
		t.Error("the connection lives")
	}

	c = dialWire(t, b.BrokerAddr())
	b.Control(embedded.RemotingMaxOffset, reactWith(embedded.Answer()))
	c.want(1, 30, fields{"topic": "orders", "queueId": "0"}, nil)
}

// A long poll whose answer is lost takes nothing with it: the client asks again.
func TestALostLongPoll(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	b.Control(embedded.RemotingPull, reactWith(embedded.LoseReply()))
	c.begin(11, pullFields("orders", 0, 0, "*", time.Minute), nil)
	wait(t, b, "the hold", func(s embedded.Snapshot) bool { return s.LongPolls("g") == 1 })
	c.send("orders", 0, "m", "")
	wait(t, b, "its end", func(s embedded.Snapshot) bool { return len(s.Pulls()) == 1 })
	c.wantPull(0, 1, pullFields("orders", 0, 0, "*", 0), "m")
}

// (W01, W05)
func TestABusyBroker(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	b.Busy(embedded.RemotingSend, 2)
	for range 2 {
		if a := c.want(2, 10, sendFields("orders", 0, ""), []byte("m")); !strings.Contains(a.Remark, "[TIMEOUT_CLEAN_QUEUE]broker busy") {
			t.Errorf("remark %q", a.Remark)
		}
	}
	c.send("orders", 0, "m", "")
	if got := b.Requests(embedded.RemotingSend); got != 3 {
		t.Errorf("%d requests, want 3", got)
	}
}

func TestOneWayRequestsAreNotAnswered(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	c.flag = 2
	c.begin(10, sendFields("orders", 0, ""), []byte("m"))
	c.begin(987, nil, nil)
	c.flag = 0
	a := c.call(30, fields{"topic": "orders", "queueId": "0"}, nil)
	if a.Fields["offset"] != "1" || len(b.Messages("orders")) != 1 {
		t.Errorf("answer %+v", a)
	}
}

// Requests of one connection that nothing holds up are carried out in order.
func TestPipelinedSendsStayInOrder(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	const n = 500
	for i := range n {
		c.begin(10, sendFields("orders", 0, ""), fmt.Append(nil, i))
	}
	for i := range n {
		if a := c.end(); number(t, a, "queueOffset") != int64(i) {
			t.Fatalf("answer %d has offset %s", i, a.Fields["queueOffset"])
		}
	}
	for i, m := range b.MessagesIn(embedded.Queue{Topic: "orders"}) {
		if string(m.Body) != fmt.Sprint(i) {
			t.Fatalf("message %d is %q", i, m.Body)
		}
	}
}

func TestHalfMessagesAreSeenByInspection(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	a := c.want(0, 10, sendFields("orders", 0, "TRAN_MSG\x01true\x02PGROUP\x01p\x02UNIQ_KEY\x01u\x02"), []byte("half"))
	if got := b.Halves("p"); len(got) != 1 || got[0].ID != "u" || len(b.Halves("q")) != 0 || len(b.Messages("orders")) != 0 {
		t.Errorf("got halves %+v", got)
	}
	b.CheckTransactions() // nobody is there to be asked
	if got := b.Checks(); len(got) != 1 || got[0].Asked || got[0].UniqueKey != "u" || got[0].Offset != 1 {
		t.Errorf("got checks %+v", got)
	}
	_, at, err := remoting.ParseOffsetID(a.Fields["msgId"])
	if err != nil {
		t.Fatal(err)
	}
	c.want(0, 37, fields{"producerGroup": "p", "tranStateTableOffset": "0", "commitLogOffset": fmt.Sprint(at), "commitOrRollback": "8"}, nil)
	ends := b.Ends()
	if len(ends) != 1 || !ends[0].Commit || ends[0].UniqueKey != "u" || len(b.Messages("orders")) != 1 {
		t.Errorf("got ends %+v and messages %+v", ends, b.Messages("orders"))
	}
	c.want(1, 37, fields{"producerGroup": "p"}, nil)
}

// (C09)
func TestUnsignedRemotingRequestsAreRefused(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithCredentials("AK", "SK"))
	sign := func(f fields, user, secret string, body []byte) fields {
		f = maps.Clone(f)
		f["AccessKey"] = user
		mac := hmac.New(sha1.New, []byte(secret))
		for _, k := range slices.Sorted(maps.Keys(f)) {
			mac.Write([]byte(f[k]))
		}
		mac.Write(body)
		f["Signature"] = base64.StdEncoding.EncodeToString(mac.Sum(nil))
		return f
	}
	for _, server := range []string{b.NameServer(), b.BrokerAddr()} {
		c := dialWire(t, server)
		for _, code := range []int{10, 11, 12, 14, 15, 29, 30, 31, 34, 105} {
			c.want(16, code, fields{"topic": "orders"}, nil)
		}
	}
	c := dialWire(t, b.BrokerAddr())
	f, body := sendFields("orders", 0, ""), []byte("m")
	c.want(0, 10, sign(f, "AK", "SK", body), body)
	for _, bad := range []fields{sign(f, "AK", "other", body), sign(f, "other", "SK", body), sign(f, "AK", "SK", []byte("n"))} {
		c.want(16, 10, bad, body)
	}
	if got := len(b.Messages("orders")); got != 1 {
		t.Errorf("%d messages, want 1", got)
	}
}

// (N08)
func TestRemotingOverTLS(t *testing.T) {
	t.Parallel()
	cert, pool := selfSigned(t)
	b := start(t, embedded.WithTLS(&tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}))
	nc, err := tls.Dial("tcp", b.BrokerAddr(), &tls.Config{RootCAs: pool, ServerName: "localhost", MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	newWire(t, nc).send("orders", 0, "m", "")
	plain := dialWire(t, b.BrokerAddr())
	plain.begin(10, sendFields("orders", 0, ""), []byte("m"))
	if a, err := plain.r.Next(); err == nil {
		t.Errorf("plain text was answered by a TLS port: %+v", a)
	}
}

func TestBytesThatAreNoRequestEndTheConnection(t *testing.T) {
	t.Parallel()
	b, _ := startRemoting(t)
	for what, bytes := range map[string][]byte{
		"HTTP":              []byte("GET / HTTP/1.1\r\n\r\n"),
		"a length too long": binary.BigEndian.AppendUint32(nil, 1<<30),
		"a negative length": binary.BigEndian.AppendUint32(nil, 1<<32-1),
		"a header too long": {0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 0},
		"no JSON":           {0, 0, 0, 5, 0, 0, 0, 1, 'x'},
	} {
		c := dialWire(t, b.BrokerAddr())
		if _, err := c.nc.Write(bytes); err != nil {
			t.Fatal(err)
		}
		_ = c.nc.SetReadDeadline(time.Now().Add(patience))
		if _, err := c.nc.Read(make([]byte, 1)); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want the end", what, err)
		}
	}
	dialWire(t, b.BrokerAddr()).send("orders", 0, "m", "")
}

// Holds, delays, control functions and silent connections end with the broker.
func TestCloseEndsTheRemotingSide(t *testing.T) {
	t.Parallel()
	b := embedded.Start(context.Background(), embedded.WithNormalTopic("orders"), embedded.WithBrokers("x", "y"), embedded.WithSlaves(1))
	var begun atomic.Int32
	b.ControlAlways(embedded.RemotingMinOffset, func(ctx context.Context, _ *embedded.Request) embedded.Reaction {
		begun.Add(1)
		<-ctx.Done()
		return embedded.Pass()
	})
	b.ControlAlways(embedded.RemotingMaxOffset, reactWith(embedded.Delay(time.Hour)))
	var conns []net.Conn
	for _, broker := range []string{"x", "y"} {
		c := dialWire(t, b.BrokerAddrOf(broker))
		c.begin(11, pullFields("orders", 0, 0, "*", time.Hour), nil)
		c.begin(31, fields{"topic": "orders", "queueId": "0"}, nil)
		c.begin(30, fields{"topic": "orders", "queueId": "0"}, nil)
		c.send("orders", 0, "later", "DELAY\x0118\x02")
		conns = append(conns, c.nc, dialWire(t, b.BrokerAddrOf(broker)).nc)
	}
	wait(t, b, "all of it", func(s embedded.Snapshot) bool {
		return s.LongPolls("g") == 2 && begun.Load() == 2 && s.Connections() == 4
	})
	b.Close()
	b.Close()
	for _, nc := range conns {
		_ = nc.SetReadDeadline(time.Now().Add(patience))
		if _, err := nc.Read(make([]byte, 1)); err == nil {
			t.Error("a connection lives")
		}
	}
	// After the end nothing starts again.
	b.ResumeBroker("x")
	b.ResumeNameServer()
	wantRefused(t, b.NameServer())
}

// Verbs called from a control function must not wait for the request that they
// are called in.
func TestAControlMayStopTheBrokerThatItRunsIn(t *testing.T) {
	t.Parallel()
	b, c := startRemoting(t)
	b.Control(embedded.RemotingSend, func(context.Context, *embedded.Request) embedded.Reaction {
		b.RestartBroker()
		return embedded.LoseReply()
	})
	c.begin(10, sendFields("orders", 0, ""), []byte("m"))
	if a, err := c.r.Next(); err == nil {
		t.Errorf("answer %+v", a)
	}
	dialWire(t, b.BrokerAddr()).send("orders", 0, "n", "")
	if got := len(b.Messages("orders")); got != 1 {
		t.Errorf("%d messages, want only what came after the restart", got)
	}
}
