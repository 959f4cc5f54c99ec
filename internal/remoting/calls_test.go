// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
)

// Only code 22 means that a group has no committed offset.
func TestCommittedOffsetOrError(t *testing.T) {
	answers := map[string]Command{
		"timeout":         {Code: -1},
		"topic not exist": {Code: CodeTopicNotExist},
		"busy":            {Code: CodeSystemBusy},
		"no permission":   {Code: CodeNoPermission},
		"system error":    {Code: CodeSystemError, Remark: "NullPointerException"},
		"no offset field": {},
		"not found":       {Code: CodeQueryNotFound, Remark: "Not found, do not set to zero, maybe this group boot first"},
		"-1":              offsetAnswer(-1),
		"0":               offsetAnswer(0),
		"42":              offsetAnswer(42),
	}
	for _, row := range []struct {
		name, answer string
		class        Class // -1 for no error
		found        bool
		offset       int64
	}{
		{"a timeout is no answer (O15)", "timeout", Transient, false, 0},
		{"a topic that the broker does not know yet (X14a)", "topic not exist", NoRoute, false, 0},
		{"a busy broker", "busy", Throttled, false, 0},
		{"no permission", "no permission", Permanent, false, 0},
		{"an error of the broker (O31)", "system error", Transient, false, 0},
		{"an answer without the offset", "no offset field", Transient, false, 0},
		{"never committed", "not found", -1, false, 0},
		{"-1 of another's broker (X11a)", "-1", -1, false, 0},
		{"committed at the beginning", "0", -1, true, 0},
		{"committed", "42", -1, true, 42},
	} {
		t.Run(row.name, func(t *testing.T) {
			var asked atomic.Int32
			srv := oneBroker(t, func(s *session, cmd *Command) {
				if cmd.Fields["setZeroIfNotFound"] != "false" || cmd.Fields["consumerGroup"] != "g" {
					t.Errorf("asked with %v", cmd.Fields)
				}
				if asked.Add(1) > 2 {
					s.reply(cmd, offsetAnswer(42))
				} else if a := answers[row.answer]; a.Code >= 0 {
					s.reply(cmd, a)
				}
			})
			c := newClient(t, Config{NameServers: srv.addr, Timeout: 200 * time.Millisecond})
			must[*Route](t)(c.Route(t.Context(), "t"))
			for range 2 {
				offset, found, err := c.QueryCommitted(t.Context(), testQueue, "g")
				if row.class >= 0 {
					wantClass(t, err, row.class)
				} else if err != nil {
					t.Error(err)
				}
				if offset != row.offset || found != row.found {
					t.Errorf("got %d, %v; want %d, %v", offset, found, row.offset, row.found)
				}
			}
			if offset, found, err := c.QueryCommitted(t.Context(), testQueue, "g"); offset != 42 || !found || err != nil {
				t.Errorf("afterwards: got %d, %v, %v; want 42", offset, found, err)
			}
		})
	}
}

func TestSendStatuses(t *testing.T) {
	for code, want := range map[int]SendStatus{0: SendOK, CodeFlushDiskTimeout: FlushDiskTimeout,
		CodeFlushSlaveTimeout: FlushSlaveTimeout, CodeSlaveNotAvailable: SlaveNotAvailable} {
		srv := oneBroker(t, func(s *session, cmd *Command) {
			s.reply(cmd, Command{Code: code, Fields: map[string]string{"msgId": "a,b", "queueId": "3", "queueOffset": "5", "transactionId": "x"}})
		})
		c := newClient(t, Config{NameServers: srv.addr})
		got, err := c.SendBatch(t.Context(), testQueue, "p", []*OutMessage{{Body: []byte("1")}, {Body: []byte("2")}})
		if err != nil || got.Status != want || got.Offset != 5 || got.Queue.ID != 3 || !cmp.Equal(got.OffsetIDs, []string{"a", "b"}) || len(got.UniqueKeys) != 2 {
			t.Errorf("code %d: got %+v, %v; want status %v (W09)", code, got, err, want)
		}
	}
	srv := oneBroker(t, func(s *session, cmd *Command) { s.reply(cmd, Command{}) })
	c := newClient(t, Config{NameServers: srv.addr})
	if r, err := c.Send(t.Context(), testQueue, "p", &OutMessage{}); r != nil || err == nil {
		t.Errorf("a success that says nothing: got %+v, %v (W06)", r, err)
	}
}

func TestMessagesThatCannotBeSent(t *testing.T) {
	srv := oneBroker(t, func(s *session, cmd *Command) { t.Errorf("request %d was sent", cmd.Code) })
	c := newClient(t, Config{NameServers: srv.addr, MaxFrame: 10_000})
	must[*Route](t)(c.Route(t.Context(), "t"))
	for name, m := range map[string]*OutMessage{
		"a key with a separator": {UniqueKey: "\x02"},
		"a key that is no UTF-8": {UniqueKey: "\xff"},
		"a body over the limit":  {Body: make([]byte, 20_000)},
		"an unknown compression": {Compression: 9},
	} {
		_, err := c.Send(t.Context(), testQueue, "p", m)
		if e := wantClass(t, err, Permanent); !strings.Contains(e.Op, "topic t") {
			t.Errorf("%s: %v does not name the topic", name, err)
		}
	}
	for name, batch := range map[string][]*OutMessage{
		"nothing": {}, "a half message": {{}, {Half: true}}, "a compressed message": {{Compression: LZ4}},
	} {
		if _, err := c.SendBatch(t.Context(), testQueue, "p", batch); ClassOf(err) != Permanent {
			t.Errorf("a batch of %s: got %v", name, err)
		}
	}
}

func TestPullAnswers(t *testing.T) {
	m := sample()
	m.QueueOffset = 10
	n := m
	n.QueueOffset, n.Body = 11, []byte("second")
	fields := func(next string) map[string]string {
		return map[string]string{"nextBeginOffset": next, "minOffset": "4", "maxOffset": "20", "suggestWhichBrokerId": "1"}
	}
	shifted := fields("112")
	shifted["offsetDelta"] = "100"
	for _, row := range []struct {
		name   string
		req    PullRequest
		answer Command
		class  Class // -1 for no error
		want   PullResult
		bodies string
	}{
		{"messages", PullRequest{Offset: 10}, Command{Fields: fields("12"), Body: stored(m, n)}, -1, PullResult{Status: Found, Next: 12}, "10=body 11=second"},
		{"nothing new", PullRequest{Offset: 20}, Command{Code: CodePullNotFound, Fields: fields("20")}, -1, PullResult{Status: NoNew, Next: 20}, ""},
		{"no match", PullRequest{Offset: 10}, Command{Code: CodePullRetryImmediately, Fields: fields("18")}, -1, PullResult{Status: NoMatch, Next: 18}, ""},
		{"an offset below the beginning", PullRequest{Offset: 1}, Command{Code: CodePullOffsetMoved, Fields: fields("4")}, OffsetMoved, PullResult{Status: Moved, Next: 4}, ""},
		{"an answer that sends back to the same offset (O13)", PullRequest{Offset: 1}, Command{Code: CodePullOffsetMoved, Fields: fields("1")}, OffsetMoved, PullResult{Status: Moved, Next: 1}, ""},
		{"an offset within a batch", PullRequest{Offset: 11}, Command{Fields: fields("12"), Body: stored(m, n)}, -1, PullResult{Status: Found, Next: 12}, "11=second"},
		{"a queue that has moved", PullRequest{Offset: 110}, Command{Fields: shifted, Body: stored(m, n)}, -1, PullResult{Status: Found, Next: 112}, "110=body 111=second"},
		{"damage in the middle", PullRequest{Offset: 10}, Command{Fields: fields("12"), Body: append(stored(m), 0, 0, 1, 0)}, Transient, PullResult{Status: Found, Next: 11}, "10=body"},
		{"damage at the beginning", PullRequest{Offset: 10}, Command{Fields: fields("12"), Body: []byte{1}}, Transient, PullResult{Status: Found, Next: 10}, ""},
		{"tags that only hash alike", PullRequest{Offset: 10, Expression: TagFilter("b")}, Command{Fields: fields("12"), Body: stored(m, n)}, -1, PullResult{Status: Found, Next: 12}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := oneBroker(t, func(s *session, cmd *Command) { s.reply(cmd, row.answer) })
			c := newClient(t, Config{NameServers: srv.addr})
			row.req.Queue, row.req.Group = testQueue, "g"
			got, err := c.Pull(t.Context(), row.req)
			if row.class >= 0 {
				wantClass(t, err, row.class)
			} else if err != nil {
				t.Fatal(err)
			}
			var bodies []string
			for _, m := range got.Messages {
				bodies = append(bodies, fmt.Sprintf("%d=%s", m.QueueOffset, m.Body))
			}
			if d := cmp.Diff(row.bodies, strings.Join(bodies, " ")); d != "" {
				t.Error(d)
			}
			if got.Status != row.want.Status || got.Next != row.want.Next || got.Min != 4 || got.Max != 20 || got.SuggestBroker != 1 {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
		})
	}
	for _, missing := range []string{"nextBeginOffset", "minOffset", "maxOffset"} {
		f := fields("1")
		delete(f, missing)
		srv := oneBroker(t, func(s *session, cmd *Command) { s.reply(cmd, Command{Fields: f}) })
		c := newClient(t, Config{NameServers: srv.addr})
		if r, err := c.Pull(t.Context(), PullRequest{Queue: testQueue, Group: "g"}); r != nil || err == nil {
			t.Errorf("an answer without %s: got %+v, %v", missing, r, err)
		}
	}
}

func TestTimesAreMillisecondsAndRoundedUp(t *testing.T) {
	srv := oneBroker(t, func(s *session, cmd *Command) {
		s.reply(cmd, Command{Fields: map[string]string{"offset": cmd.Fields["timestamp"]}})
	})
	c := newClient(t, Config{NameServers: srv.addr})
	for text, want := range map[string]int64{
		"2024-01-01T00:00:00Z":              1704067200000, // (O17)
		"2024-01-01T08:00:00+08:00":         1704067200000, // (O18)
		"2024-01-01T00:00:00.001Z":          1704067200001,
		"2024-01-01T00:00:00.001000001Z":    1704067200002,
		"1960-01-01T00:00:00Z":              0,
		"2024-01-01T00:00:00.999999999Z":    1704067201000,
		"2024-01-01T07:59:59.9999999+08:00": 1704067200000,
	} {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := must[int64](t)(c.OffsetByTime(t.Context(), testQueue, at)); got != want {
			t.Errorf("%s: asked for %d, want %d", text, got, want)
		}
	}
}

// What an error says when a server quotes the keys back.
func TestKeysAreNotInErrors(t *testing.T) {
	k := auth.Keys{AccessKey: "AKTESTKEY", SecretKey: "SKTESTSECRET", SecurityToken: "STTESTTOKEN"}
	srv := oneBroker(t, func(s *session, cmd *Command) {
		if cmd.Fields["AccessKey"] != k.AccessKey || cmd.Fields["SecurityToken"] != k.SecurityToken || cmd.Fields["Signature"] == "" {
			t.Errorf("signed with %v", cmd.Fields)
		}
		s.reply(cmd, Command{Code: CodeNoPermission, Remark: "user AKTESTKEY/SKTESTSECRET/STTESTTOKEN may not"})
	})
	c := newClient(t, Config{NameServers: srv.addr, Credentials: func(context.Context) (auth.Keys, error) { return k, nil }})
	_, err := c.MaxOffset(t.Context(), testQueue)
	wantClass(t, err, Permanent)
	for _, secret := range []string{k.AccessKey, k.SecretKey, k.SecurityToken} {
		if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, errors.Unwrap(err)), secret) {
			t.Errorf("%s is in %v (X04a)", secret, err)
		}
	}
	failing := errors.New("the vault is closed")
	c = newClient(t, Config{NameServers: srv.addr, Credentials: func(context.Context) (auth.Keys, error) { return auth.Keys{}, failing }})
	if _, err := c.MaxOffset(t.Context(), testQueue); !errors.Is(err, failing) {
		t.Errorf("got %v, want the resolver's error", err)
	}
}

// The signature covers values in the order of their names, and the body. The
// expected value was computed apart, with openssl.
func TestSignature(t *testing.T) {
	cmd := &Command{Fields: map[string]string{"b": "2", "a": "1", "Signature": "old"}, Body: []byte("body")}
	sign(cmd, auth.Keys{AccessKey: "user", SecretKey: "secret"})
	// printf 'user12body' | openssl dgst -sha1 -hmac secret -binary | base64
	if got, want := cmd.Fields["Signature"], "4oDhQOx89bp8l5DFSd7nwmE18Qs="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	plain := &Command{}
	if sign(plain, auth.Keys{}); plain.Fields != nil {
		t.Errorf("without keys: got %v", plain.Fields)
	}
}

func TestEndTransactionWords(t *testing.T) {
	srv := oneBroker(t, func(s *session, cmd *Command) {
		if cmd.IsOneWay() != (cmd.Fields["commitOrRollback"] == "0") {
			t.Errorf("one-way is %v for %v", cmd.IsOneWay(), cmd.Fields)
		}
		if !cmd.IsOneWay() {
			s.reply(cmd, Command{Code: CodeIllegalOperation})
		}
	})
	c := newClient(t, Config{NameServers: srv.addr})
	h := Half{Topic: "t", Group: "g", Broker: "b", UniqueKey: "k", QueueOffset: 3, PhysicalOffset: 4}
	if err := c.EndTransaction(t.Context(), h, Unknown); err != nil {
		t.Error(err)
	}
	for _, o := range []Outcome{Commit, Rollback} {
		err := c.EndTransaction(t.Context(), h, o)
		if e := wantClass(t, err, Permanent); e.Code != CodeIllegalOperation { // (X22a)
			t.Errorf("%v: got %v, want code 604", o, err)
		}
	}
	var back Half
	b, err := json.Marshal(h)
	if err == nil {
		err = json.Unmarshal(b, &back)
	}
	if back != h || err != nil {
		t.Errorf("the handle reads back as %+v, %v", back, err)
	}
}

func TestChecksThatAreNone(t *testing.T) {
	c := newClient(t, Config{NameServers: "ns:1", Namespace: "INST"})
	m := sample()
	m.Topic, m.Properties = "INST%t", "PGROUP\x01INST%g\x02UNIQ_KEY\x01k\x02"
	good := map[string]string{"tranStateTableOffset": "1", "commitLogOffset": "2", "bname": "b"}
	for name, row := range map[string]struct {
		cmd     Command
		ok, err bool
	}{
		"a check":               {Command{Code: codeCheckTransaction, Fields: good, Body: stored(m)}, true, false},
		"another request":       {Command{Code: 40}, false, false},
		"an answer":             {Command{Code: codeCheckTransaction, Flag: flagAnswer}, false, false},
		"a check of nothing":    {Command{Code: codeCheckTransaction, Fields: good}, true, true},
		"a check of two":        {Command{Code: codeCheckTransaction, Fields: good, Body: stored(m, m)}, true, true},
		"a damaged check":       {Command{Code: codeCheckTransaction, Fields: good, Body: []byte("x")}, true, true},
		"a check without place": {Command{Code: codeCheckTransaction, Body: stored(m)}, true, true},
	} {
		check, ok, err := c.ParseCheck("b:1", &row.cmd)
		if ok != row.ok || (err != nil) != row.err {
			t.Errorf("%s: got %v, %v", name, ok, err)
		}
		want := Half{Topic: "t", Group: "g", Broker: "b", UniqueKey: "k", QueueOffset: 1, PhysicalOffset: 2}
		if name == "a check" && (check.Half != want || check.Message.Topic != "t") {
			t.Errorf("got %+v, want %+v", check.Half, want)
		}
	}
}

func TestConfigurationsThatCannotWork(t *testing.T) {
	for name, cfg := range map[string]Config{
		"no name server":  {},
		"TLS half set up": {NameServers: "ns:1", TLS: auth.TLS{CAFile: "x"}},
		"no such CA file": {NameServers: "ns:1", TLS: auth.TLS{Enabled: true, CAFile: "/no/such/file"}},
	} {
		if c, err := NewClient(cfg); err == nil {
			c.Close()
			t.Errorf("%s: no error", name)
		}
	}
}
