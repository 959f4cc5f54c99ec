// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"bufio"
	"context"
	"net"
	"sync"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// remotingConn is a client's connection. Its reader carries requests out one
// after the other; what has to wait (a long poll, a control function) goes on in
// a goroutine of its own.
type remotingConn struct {
	at     *endpoint
	nc     net.Conn
	remote string

	ctx    context.Context // ends with the connection
	cancel context.CancelFunc

	write sync.Mutex
	buf   []byte // of write
}

func newRemotingConn(e *endpoint, nc net.Conn) *remotingConn {
	c := &remotingConn{at: e, nc: nc, remote: nc.RemoteAddr().String()}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

func (c *remotingConn) close() {
	c.cancel()
	_ = c.nc.Close() // closing is all that is wanted
}

func (c *remotingConn) gone() bool { return c.ctx.Err() != nil }

func (c *remotingConn) read() {
	defer c.at.forget(c)
	defer c.at.b.core.leaveConn(c)
	defer c.close()
	r := remoting.NewReader(bufio.NewReaderSize(c.nc, 64<<10), remoting.DefaultMaxFrame)
	for {
		cmd, err := r.Next()
		if err != nil {
			return // the client has gone, or speaks something else: RocketMQ hangs up too
		}
		if cmd.IsAnswer() {
			continue // to a request of ours; there are none yet
		}
		c.dispatch(cmd)
	}
}

// dispatch carries a request out, here if nothing can make it wait.
func (c *remotingConn) dispatch(cmd *remoting.Command) {
	call := c.newCall(cmd)
	call.at.b.count(call.req)
	if !call.at.b.controls.any(call.req.Method) {
		call.carryOut()
		return
	}
	c.spawn(call.control)
}

// spawn runs f in a goroutine that the endpoint waits for when it is drained.
func (c *remotingConn) spawn(f func()) { c.at.running.Go(f) }

// send writes a command. An error ends the connection, and its reader with it.
func (c *remotingConn) send(cmd *remoting.Command) {
	c.write.Lock()
	defer c.write.Unlock()
	if c.gone() {
		return
	}
	var err error
	if c.buf, err = remoting.AppendCommand(c.buf[:0], cmd, 1<<30); err == nil {
		_, err = c.nc.Write(c.buf)
	}
	if cap(c.buf) > 1<<20 {
		c.buf = nil // one long answer is no reason to keep its memory
	}
	if err != nil {
		c.close()
	}
}
