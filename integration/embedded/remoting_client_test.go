// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// wireClient is a bare connection of the remoting protocol.
type wireClient struct {
	t      *testing.T
	nc     net.Conn
	r      *remoting.Reader
	opaque int32
	flag   int32
}

func dialWire(t *testing.T, addr string) *wireClient {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	return newWire(t, nc)
}

func newWire(t *testing.T, nc net.Conn) *wireClient {
	return &wireClient{t: t, nc: nc, r: remoting.NewReader(bufio.NewReader(nc), remoting.DefaultMaxFrame)}
}

type fields = map[string]string

// begin sends a request without waiting for its answer.
func (c *wireClient) begin(code int, f fields, body []byte) {
	c.t.Helper()
	c.opaque++
	b, err := remoting.AppendCommand(nil, &remoting.Command{Code: code, Language: "GO", Version: 513, Opaque: c.opaque, Flag: c.flag, Fields: f, Body: body}, 1<<30)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.nc.Write(b); err != nil {
		c.t.Fatal(err)
	}
}

// end reads one answer.
func (c *wireClient) end() *remoting.Command {
	c.t.Helper()
	_ = c.nc.SetReadDeadline(time.Now().Add(patience)) // fails only on a closed connection
	a, err := c.r.Next()
	if err != nil {
		c.t.Fatal(err)
	}
	return a
}

func (c *wireClient) call(code int, f fields, body []byte) *remoting.Command {
	c.t.Helper()
	c.begin(code, f, body)
	a := c.end()
	if a.Opaque != c.opaque || !a.IsAnswer() {
		c.t.Fatalf("answer %+v to request %d", a, c.opaque)
	}
	return a
}

// want calls and fails unless the answer has this code.
func (c *wireClient) want(want, code int, f fields, body []byte) *remoting.Command {
	c.t.Helper()
	a := c.call(code, f, body)
	if a.Code != want {
		c.t.Fatalf("request %d %v: answer %d %q, want %d", code, f, a.Code, a.Remark, want)
	}
	return a
}

func number(t *testing.T, a *remoting.Command, name string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(a.Fields[name], 10, 64)
	if err != nil {
		t.Fatalf("field %s in %v: %v", name, a.Fields, err)
	}
	return n
}

func sendFields(topic string, queue int, properties string) fields {
	return fields{"producerGroup": "p", "topic": topic, "defaultTopic": "TBW102", "defaultTopicQueueNums": "4",
		"queueId": fmt.Sprint(queue), "sysFlag": "0", "bornTimestamp": fmt.Sprint(epoch().UnixMilli()), "flag": "0", "properties": properties}
}

func (c *wireClient) send(topic string, queue int, body, properties string) *remoting.Command {
	c.t.Helper()
	return c.want(0, 10, sendFields(topic, queue, properties), []byte(body))
}

func pullFields(topic string, queue int, offset int64, expr string, suspend time.Duration) fields {
	flag := 4
	if suspend > 0 {
		flag |= 2
	}
	return fields{"consumerGroup": "g", "topic": topic, "queueId": fmt.Sprint(queue), "queueOffset": fmt.Sprint(offset),
		"maxMsgNums": "32", "sysFlag": fmt.Sprint(flag), "commitOffset": "0", "suspendTimeoutMillis": fmt.Sprint(suspend.Milliseconds()),
		"subscription": expr, "subVersion": "0", "expressionType": "TAG"}
}

func (c *wireClient) decode(a *remoting.Command) []remoting.Message {
	c.t.Helper()
	var d remoting.Decoder
	ms, err := d.Messages(a.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return ms
}

// wantPull pulls, and fails unless the answer has the code and the bodies.
func (c *wireClient) wantPull(code int, next int64, f fields, bodies ...string) []remoting.Message {
	c.t.Helper()
	a := c.want(code, 11, f, nil)
	return c.wantPulled(a, next, bodies...)
}

func (c *wireClient) wantPulled(a *remoting.Command, next int64, bodies ...string) []remoting.Message {
	c.t.Helper()
	ms := c.decode(a)
	var got []string
	for _, m := range ms {
		got = append(got, string(m.Body))
	}
	if strings.Join(got, ",") != strings.Join(bodies, ",") || number(c.t, a, "nextBeginOffset") != next {
		c.t.Fatalf("pulled %q and next offset %s (%s), want %q and %d", got, a.Fields["nextBeginOffset"], a.Remark, bodies, next)
	}
	return ms
}

func startRemoting(t *testing.T, opts ...embedded.Option) (*embedded.Broker, *wireClient) {
	t.Helper()
	b := start(t, append([]embedded.Option{embedded.WithQueues(2)}, opts...)...)
	return b, dialWire(t, b.BrokerAddr())
}
