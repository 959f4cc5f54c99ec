// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bufio"
	"fmt"
	"maps"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// Codes of the requests that cases send.
const (
	reqSend        = 10
	reqPull        = 11
	reqQuery       = 12
	reqCommitted   = 14
	reqCommit      = 15
	reqCreateTopic = 17
	reqConfig      = 26
	reqSearch      = 29
	reqMax         = 30
	reqMin         = 31
	reqView        = 33
	reqHeartbeat   = 34
	reqUnregister  = 35
	reqEnd         = 37
	reqConsumers   = 38
	reqCheckClient = 46
	reqRoute       = 105
	reqCreateGroup = 200
	reqSendV2      = 310
	reqSendBatch   = 320
	reqTopicConfig = 351
	reqLitePull    = 361
)

type fields = map[string]string

// remotingClient is a bare connection, for one goroutine.
type remotingClient struct {
	s       *remotingScene
	nc      net.Conn
	r       *remoting.Reader
	opaque  int32
	version int
}

func (s *remotingScene) dialAt(addr string) *remotingClient {
	s.Helper()
	nc, err := (&net.Dialer{}).DialContext(s.ctx, "tcp", addr)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { nc.Close() })
	deadline, _ := s.ctx.Deadline()
	nc.SetDeadline(deadline)
	return &remotingClient{s: s, nc: nc, r: remoting.NewReader(bufio.NewReaderSize(nc, 64<<10), 64<<20), version: 513}
}

// dial connects to the broker.
func (s *remotingScene) dial() *remotingClient { s.Helper(); return s.dialAt(s.broker.BrokerAddr()) }

// begin sends a request.
func (c *remotingClient) begin(code int, f fields, body []byte) {
	c.s.Helper()
	c.opaque++
	b, err := remoting.AppendCommand(nil, &remoting.Command{Code: code, Language: "GO", Version: c.version,
		Opaque: c.opaque, Fields: f, Body: body}, 64<<20)
	if err == nil {
		_, err = c.nc.Write(b)
	}
	if err != nil {
		c.s.Fatalf("request %d: %v", code, err)
	}
}

// end reads the answer to the last request.
func (c *remotingClient) end() *remoting.Command {
	c.s.Helper()
	for {
		a, err := c.r.Next()
		if err != nil {
			c.s.Fatalf("answer to request: %v", err)
		}
		if a.IsAnswer() && a.Opaque == c.opaque {
			return a
		}
	}
}

func (c *remotingClient) call(code int, f fields, body []byte) *remoting.Command {
	c.s.Helper()
	c.begin(code, f, body)
	return c.end()
}

// want calls and fails unless the answer has this code and a remark with part.
func (c *remotingClient) want(code int, part string, request int, f fields, body []byte) *remoting.Command {
	c.s.Helper()
	a := c.call(request, f, body)
	if a.Code != code || !strings.Contains(a.Remark, part) {
		c.s.Fatalf("request %d: got answer %d %q, want %d with %q", request, a.Code, a.Remark, code, part)
	}
	return a
}

// with returns f with changes.
func with(f fields, kv ...string) fields {
	f = maps.Clone(f)
	for i := 0; i < len(kv); i += 2 {
		if kv[i+1] == without {
			delete(f, kv[i])
		} else {
			f[kv[i]] = kv[i+1]
		}
	}
	return f
}

// without as a value takes a field away.
const without = "\x00"

func (s *remotingScene) sendFields(queue int, properties string) fields {
	return fields{"producerGroup": "P-" + s.unique, "topic": s.topic, "defaultTopic": "TBW102", "defaultTopicQueueNums": "4",
		"queueId": strconv.Itoa(queue), "sysFlag": "0", "bornTimestamp": "1700000000123", "flag": "0",
		"properties": properties, "reconsumeTimes": "0", "unitMode": "false", "batch": "false"}
}

// properties writes names and values as they are on the wire.
func properties(kv ...string) string {
	var b strings.Builder
	for i := 0; i < len(kv); i += 2 {
		b.WriteString(kv[i] + "\x01" + kv[i+1] + "\x02")
	}
	return b.String()
}

func tagged(tag string) string { return properties("TAGS", tag) }

// mustSend sends a message with these properties and returns its offset.
func (c *remotingClient) mustSend(queue int, body, props string) int64 {
	c.s.Helper()
	return c.s.number(c.want(0, "", reqSend, c.s.sendFields(queue, props), []byte(body)), "queueOffset")
}

// mustSendMany sends messages "0", "1", … with a tag each.
func (c *remotingClient) mustSendMany(queue, n int, tag func(i int) string) {
	c.s.Helper()
	for i := range n {
		c.mustSend(queue, strconv.Itoa(i), tagged(tag(i)))
	}
}

func (s *remotingScene) pullFields(queue int, offset int64) fields {
	return fields{"consumerGroup": s.group, "topic": s.topic, "queueId": strconv.Itoa(queue), "queueOffset": fmt.Sprint(offset),
		"maxMsgNums": "32", "sysFlag": "4", "commitOffset": "0", "suspendTimeoutMillis": "0", "subscription": "*",
		"subVersion": "0", "expressionType": "TAG"}
}

// holdFields is a pull that waits.
func (s *remotingScene) holdFields(queue int, offset int64, d time.Duration) fields {
	return with(s.pullFields(queue, offset), "sysFlag", "6", "suspendTimeoutMillis", fmt.Sprint(d.Milliseconds()))
}

func (s *remotingScene) number(a *remoting.Command, name string) int64 {
	s.Helper()
	n, err := strconv.ParseInt(a.Fields[name], 10, 64)
	if err != nil {
		s.Fatalf("field %s of %v: %v", name, a.Fields, err)
	}
	return n
}

// pulled is what a pull should give.
type pulled struct {
	code        int
	remark      string
	next        int64
	least, most int64
	bodies      []string
}

func (c *remotingClient) wantPull(what string, f fields, want pulled) []remoting.Message {
	c.s.Helper()
	return c.s.wantPulled(what, c.call(reqPull, f, nil), want)
}

func (s *remotingScene) wantPulled(what string, a *remoting.Command, want pulled) []remoting.Message {
	s.Helper()
	ms := s.decode(a)
	got := pulled{code: a.Code, remark: a.Remark, next: s.number(a, "nextBeginOffset"), least: s.number(a, "minOffset"),
		most: s.number(a, "maxOffset"), bodies: texts(ms)}
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		s.Fatalf("%s: got %s, want %s", what, g, w)
	}
	return ms
}

func (s *remotingScene) decode(a *remoting.Command) []remoting.Message {
	s.Helper()
	var d remoting.Decoder
	ms, err := d.Messages(a.Body)
	if err != nil {
		s.Fatal(err)
	}
	for _, m := range ms {
		if m.Err != nil {
			s.Fatal(m.Err)
		}
	}
	return ms
}

func texts(ms []remoting.Message) []string {
	var out []string
	for _, m := range ms {
		out = append(out, string(m.Body))
	}
	return out
}

// one pulls the message at an offset.
func (c *remotingClient) one(queue int, offset int64) remoting.Message {
	c.s.Helper()
	a := c.want(0, "FOUND", reqPull, with(c.s.pullFields(queue, offset), "maxMsgNums", "1"), nil)
	ms := c.s.decode(a)
	if len(ms) != 1 {
		c.s.Fatalf("got %d messages, want one", len(ms))
	}
	return ms[0]
}

func (s *remotingScene) queueFields(queue int) fields {
	return fields{"topic": s.topic, "queueId": strconv.Itoa(queue)}
}

// wantOffsets checks least and next offset of a queue. A broker answers a send
// before the message is in its queue, so that the next offset may follow later.
func (c *remotingClient) wantOffsets(queue int, least, next int64) {
	c.s.Helper()
	offset := func(code int) int64 {
		return c.s.number(c.want(0, "", code, c.s.queueFields(queue), nil), "offset")
	}
	c.s.eventually(fmt.Sprintf("next offset %d of queue %d", next, queue), func() bool { return offset(reqMax) >= next })
	for code, want := range map[int]int64{reqMin: least, reqMax: next} {
		if got := offset(code); got != want {
			c.s.Errorf("request %d of queue %d: got %d, want %d", code, queue, got, want)
		}
	}
}
