// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// conn is one connection to one server. Its reader, its writer and what runs
// the handler end with it.
type conn struct {
	peer   *peer
	nc     net.Conn
	out    chan *exchange
	asked  chan *Command // requests of the server
	ctx    context.Context
	cancel context.CancelFunc

	lastRead atomic.Int64 // unix nanoseconds

	mu      sync.Mutex
	pending map[int32]*exchange
	err     error // why it is over; ctx is done
	used    time.Time
	retired bool // serves no new request, and ends when the last one does
}

// exchange is one request on its way and, unless one-way, its answer.
type exchange struct {
	opaque int32
	frame  []byte        // without a long body
	body   []byte        // a long one
	buffer *body         // that the body is in, if it is used again
	answer chan *Command // holds one; nil if none is wanted
	state  atomic.Int32
}

// newExchange makes the frame of cmd.
func newExchange(cmd *Command, limit int, buffer *body) (*exchange, error) {
	x := &exchange{opaque: cmd.Opaque}
	part := len(cmd.Body)
	if part >= longBody {
		part, x.body, x.buffer = 0, cmd.Body, buffer
	}
	var err error
	if x.frame, err = appendCommand(nil, cmd, limit, part); err != nil {
		return nil, err
	}
	if !cmd.IsOneWay() {
		x.answer = make(chan *Command, 1)
	}
	return x, nil
}

// writeTo writes the frame, at once and uncopied if the body is long.
func (x *exchange) writeTo(w *bufio.Writer, p *paced) error {
	if x.body == nil {
		_, err := w.Write(x.frame)
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return p.writeParts(x.frame, x.body)
}

// What has become of an exchange's frame. Only one of the last two follows the
// first: what was abandoned is not written, what was written may be executed.
const (
	queued int32 = iota
	written
	abandoned
)

// Why connections end.
var (
	errIdle    = errors.New("the connection was idle")
	errRetired = errors.New("the connection was retired")
)

func newConn(p *peer, nc net.Conn) *conn {
	c := &conn{peer: p, nc: nc, out: make(chan *exchange, 16), pending: map[int32]*exchange{}, used: time.Now()}
	c.ctx, c.cancel = context.WithCancel(p.client.ctx)
	c.lastRead.Store(time.Now().UnixNano())
	c.asked = make(chan *Command, maxHandled)
	for _, run := range []func(){c.read, c.write, c.serve} {
		p.client.wg.Go(run)
	}
	return c
}

// fail ends the connection, for the reason of the first call.
func (c *conn) fail(err error) {
	c.mu.Lock()
	c.failLocked(err)
	c.mu.Unlock()
}

func (c *conn) failLocked(err error) {
	if c.err != nil {
		return
	}
	c.err = err
	c.cancel()
	c.nc.Close()
	c.peer.drop(c)
}

// retire lets the connection serve what is under way and nothing else.
func (c *conn) retire() {
	c.peer.drop(c)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retired = true
	if len(c.pending) == 0 {
		c.failLocked(errRetired)
	}
}

// begin takes the exchange into the table. It is refused by a connection that
// is over.
func (c *conn) begin(x *exchange) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	if c.retired {
		return errRetired
	}
	c.used = time.Now()
	if x.answer != nil {
		c.pending[x.opaque] = x
	}
	return nil
}

// end takes the exchange out of the table, whether or not it was answered.
func (c *conn) end(x *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = time.Now()
	delete(c.pending, x.opaque)
	if c.retired && len(c.pending) == 0 {
		c.failLocked(errRetired)
	}
}

// errUnsent is in the chain of errors of requests that were never written, so
// that they can be sent elsewhere without harm.
var errUnsent = errors.New("the request was not sent")

// exchange sends x and waits for the answer, the context or the connection's
// end, whichever comes first.
func (c *conn) exchange(ctx context.Context, x *exchange) (*Command, error) {
	if err := c.begin(x); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnsent, err)
	}
	defer c.end(x)
	var err error
	select {
	case c.out <- x:
		if x.answer == nil {
			return nil, nil
		}
		select {
		case cmd := <-x.answer:
			return cmd, nil
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-c.ctx.Done():
			err = c.reason()
		}
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-c.ctx.Done():
		err = c.reason()
	}
	if x.state.CompareAndSwap(queued, abandoned) {
		return nil, fmt.Errorf("%w: %w", errUnsent, err)
	}
	select {
	case cmd := <-x.answer: // it came just before the end
		return cmd, nil
	default:
		return nil, err
	}
}

// reason is why the connection is over.
func (c *conn) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil { // the client's context ended first
		return ErrClosed
	}
	return c.err
}

// write sends what is queued, as much at a time as there is.
func (c *conn) write() {
	p := &paced{nc: c.nc}
	w := bufio.NewWriterSize(p, 64<<10)
	for {
		select {
		case <-c.ctx.Done():
			c.fail(ErrClosed)
			return
		case x := <-c.out:
			for x != nil {
				if x.state.CompareAndSwap(queued, written) {
					if err := x.writeTo(w, p); err != nil {
						c.fail(err)
						return
					}
				}
				x.buffer.release()
				select {
				case x = <-c.out:
				default:
					x = nil
				}
			}
			if err := w.Flush(); err != nil {
				c.fail(err)
				return
			}
		}
	}
}

// read hands on what the server sends.
func (c *conn) read() {
	p := &paced{nc: c.nc}
	br := bufio.NewReaderSize(p, 64<<10)
	r := NewReader(br, c.peer.client.cfg.MaxFrame)
	for {
		if err := c.await(br, p); err != nil {
			c.fail(err)
			return
		}
		p.patience = frameTimeout
		cmd, err := r.Next()
		if err != nil {
			c.fail(err)
			return
		}
		c.lastRead.Store(time.Now().UnixNano())
		c.dispatch(cmd)
	}
}

// await waits for the first byte of a frame, or until the connection has been
// idle for too long.
func (c *conn) await(br *bufio.Reader, p *paced) error {
	for br.Buffered() == 0 {
		wait, over := c.idle()
		if over {
			return errIdle
		}
		p.patience = wait
		if _, err := br.Peek(1); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
	return nil
}

// idle says how long until the connection counts as idle, or that it does. In
// the latter case it takes no more requests.
func (c *conn) idle() (wait time.Duration, over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	limit := c.peer.client.cfg.IdleAfter
	if len(c.pending) > 0 {
		return limit, false
	}
	if wait = limit - time.Since(c.used); wait > 0 {
		return wait, false
	}
	c.failLocked(errIdle)
	return 0, true
}

// dispatch gives an answer to whoever waits for it, if anyone still does, and a
// request to the handler.
func (c *conn) dispatch(cmd *Command) {
	if !cmd.IsAnswer() {
		select {
		case c.asked <- cmd:
		default: // the server asks again
		}
		return
	}
	c.mu.Lock()
	x := c.pending[cmd.Opaque]
	delete(c.pending, cmd.Opaque)
	c.mu.Unlock()
	if x != nil {
		x.answer <- cmd
	}
}

// serve runs the handler.
func (c *conn) serve() {
	for {
		select {
		case <-c.ctx.Done():
			return
		case cmd := <-c.asked:
			var answer *Command
			if h := c.peer.client.cfg.Handler; h != nil {
				answer = h(c.ctx, c.peer.addr, cmd)
			}
			if !cmd.IsOneWay() {
				c.reply(cmd, answer)
			}
		}
	}
}

// reply answers a request of the server.
func (c *conn) reply(to, answer *Command) {
	if answer == nil {
		answer = &Command{Code: CodeRequestNotSupported, Remark: fmt.Sprintf("request %d is not supported", to.Code)}
	}
	answer.Opaque, answer.Flag = to.Opaque, answer.Flag|flagAnswer
	answer.Language, answer.Version = ownLanguage, ownVersion
	frame, err := AppendCommand(nil, answer, c.peer.client.cfg.MaxFrame)
	if err != nil {
		return
	}
	select {
	case c.out <- &exchange{frame: frame}:
	case <-c.ctx.Done():
	}
}
