// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// remotingCall is a request on its way.
type remotingCall struct {
	at   *endpoint
	conn *remotingConn
	cmd  *remoting.Command
	req  *Request
	mute bool // nobody is to hear of it
}

func (c *remotingConn) newCall(cmd *remoting.Command) *remotingCall {
	return &remotingCall{at: c.at, conn: c, cmd: cmd, req: &Request{
		Method: methodOf(c.at, cmd.Code), Code: cmd.Code, Fields: cmd.Fields, Body: cmd.Body,
		Server: c.at.name, Broker: c.at.broker, Slave: c.at.slave, Connection: c.remote, OneWay: cmd.IsOneWay(),
	}}
}

// control asks the control functions and does what they say.
func (c *remotingCall) control() {
	re, err := c.at.b.runControls(c.conn.ctx, c.req)
	if err != nil || c.conn.gone() {
		return // nobody is there any more
	}
	switch re.kind {
	case reactAnswer:
		c.reply(c.controlled(re))
	case reactFail:
		if errors.Is(re.err, ErrConnectionCut) {
			c.conn.close()
			return
		}
		c.reply(c.refuse(remoting.CodeSystemError, "%v", re.err))
	case reactDrop:
	case reactLoseReply:
		c.mute = true
		c.carryOut()
	default:
		c.carryOut()
	}
}

// controlled is the answer that a control function gave.
func (c *remotingCall) controlled(re Reaction) *remoting.Command {
	if re.command == nil {
		return c.refuse(remoting.CodeSystemError, "embedded: Answer is for gRPC requests, %s needs AnswerRemoting", c.req.Method)
	}
	a := *re.command
	return &a
}

// carryOut answers the request, now or, if its handler has to wait, later.
func (c *remotingCall) carryOut() {
	c.cmd.Fields, c.cmd.Body = c.req.Fields, c.req.Body // a control may have changed them
	if a := c.answer(); a != nil {
		c.reply(a)
	}
}

// answer is nil if the handler will reply by itself.
func (c *remotingCall) answer() *remoting.Command {
	b := c.at.b
	if b.faults.takeBusy(c.req.Method) {
		b.core.log.Info("busy", "method", string(c.req.Method), "client", c.req.Connection)
		return c.refuse(remoting.CodeSystemBusy, "[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 208ms, size of queue: 8")
	}
	if err := b.checkRemotingSignature(c.cmd); err != nil {
		return c.refuse(remoting.CodeNoPermission, "%v", err)
	}
	h, ok := handlersOf(c.at)[c.cmd.Code]
	if !ok {
		return c.refuse(remoting.CodeRequestNotSupported, " request type %d not supported", c.cmd.Code)
	}
	return h.run(c)
}

// reply sends the answer, unless none is wanted.
func (c *remotingCall) reply(a *remoting.Command) {
	if c.cmd.IsOneWay() || c.mute {
		return
	}
	a.Opaque, a.Flag = c.cmd.Opaque, 1
	a.Language, a.Version = "JAVA", serverVersion
	c.conn.send(a)
	c.at.b.core.poke()
}

// flagOneWay marks a request that wants no answer.
const flagOneWay = 2

// serverVersion is the ordinal of 5.5.0.
const serverVersion = 513

func (c *remotingCall) ok(fields map[string]string) *remoting.Command {
	return &remoting.Command{Fields: fields}
}

func (c *remotingCall) refuse(code int, format string, args ...any) *remoting.Command {
	return &remoting.Command{Code: code, Remark: fmt.Sprintf(format, args...)}
}

func (c *remotingCall) text(name string) string { return c.cmd.Fields[name] }

// number reads a field. Without it, or if it is no number, it is def.
func (c *remotingCall) number(name string, def int64) int64 {
	n, err := strconv.ParseInt(c.cmd.Fields[name], 10, 64)
	if err != nil {
		return def
	}
	return n
}

func (c *remotingCall) flag(name string, def bool) bool {
	v, err := strconv.ParseBool(c.cmd.Fields[name])
	if err != nil {
		return def
	}
	return v
}

// missing refuses a request without a field that RocketMQ insists on.
func (c *remotingCall) missing(names ...string) *remoting.Command {
	for _, n := range names {
		if _, ok := c.cmd.Fields[n]; !ok {
			return c.refuse(remoting.CodeSystemError, "RemotingCommandException, the custom field <%s> is null", n)
		}
	}
	return nil
}
