// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
)

// Client calls name servers and brokers. Any number of goroutines may use it.
type Client struct {
	cfg     Config
	tls     *tls.Config
	names   *nameServers
	decoder Decoder
	keys    *uniqueKeys
	opaque  atomic.Int32
	bodies  sync.Pool // of *body

	ctx    context.Context // the client's life
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup

	mu     sync.Mutex
	closed bool
	peers  map[string]*peer
	routes map[string]*routeEntry
}

// NewClient checks cfg and returns a client. It connects to nothing yet.
func NewClient(cfg Config) (*Client, error) {
	cfg = cfg.withDefaults()
	addrs, err := ParseNameServers(cfg.NameServers)
	if err != nil {
		return nil, err
	}
	secure, err := cfg.TLS.Config()
	if err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, tls: secure, names: &nameServers{addrs: addrs}, keys: newUniqueKeys(),
		peers: map[string]*peer{}, routes: map[string]*routeEntry{}}
	c.decoder.MaxBody = cfg.MaxBody
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	return c, nil
}

// Close closes all connections and waits until what belonged to them has ended,
// a running [Config.Handler] included. Calls under way return an error that is
// [ErrClosed]. Closing twice is harmless.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	peers := c.peers
	c.peers = nil
	c.mu.Unlock()
	c.cancel(ErrClosed)
	for _, p := range peers {
		p.mu.Lock()
		conn := p.conn
		p.mu.Unlock()
		if conn != nil {
			conn.fail(ErrClosed)
		}
	}
	c.wg.Wait()
	return nil
}

// start runs f in a goroutine that Close waits for, unless the client is
// closed.
func (c *Client) start(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.wg.Go(f)
	return true
}

func (c *Client) peer(addr string) (*peer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	p := c.peers[addr]
	if p == nil {
		p = newPeer(c, addr)
		c.peers[addr] = p
	}
	return p, nil
}

// operation says what a call does, for its errors.
type operation struct {
	verb, topic, group, broker string
	queue                      int // -1 for none
}

func (o operation) String() string {
	var b strings.Builder
	b.WriteString(o.verb)
	if o.topic != "" {
		b.WriteString(" of topic " + o.topic)
	}
	if o.queue >= 0 && o.broker != "" {
		b.WriteString(" queue " + o.broker + "/" + strconv.Itoa(o.queue))
	} else if o.broker != "" {
		b.WriteString(" at broker " + o.broker)
	}
	if o.group != "" {
		b.WriteString(" for group " + o.group)
	}
	return b.String()
}

// request is what a call sends.
type request struct {
	op     operation
	addr   string
	code   int
	fields map[string]string
	body   []byte
	buffer *body // that body is in, nil if in none that is used again
	oneWay bool
	wait   time.Duration // the server may wait this long on purpose
	accept []int         // codes beside success that are no error
}

// do sends a request and returns the answer, nil for one that is one-way. A
// request that could not be handed to a connection, or that the server put
// back unread, is sent once more over a new one.
func (c *Client) do(ctx context.Context, r request) (*Command, error) {
	timeout := c.cfg.Timeout + r.wait
	ctx, cancel := context.WithTimeoutCause(ctx, timeout,
		fmt.Errorf("no answer within %v: %w", timeout, context.DeadlineExceeded))
	defer cancel()
	cmd := &Command{Code: r.code, Language: ownLanguage, Version: ownVersion, Fields: r.fields, Body: r.body}
	if r.oneWay {
		cmd.Flag = flagOneWay
	}
	keys, err := c.credentials(ctx)
	if err != nil {
		return nil, unanswered(r.op.String(), "", err)
	}
	sign(cmd, keys)
	answer, err := c.send(ctx, r.addr, cmd, r.buffer)
	if err != nil {
		return nil, unanswered(r.op.String(), r.addr, err)
	}
	if answer == nil || answer.Code == CodeSuccess {
		return answer, nil
	}
	for _, code := range r.accept {
		if answer.Code == code {
			return answer, nil
		}
	}
	return answer, answered(r.op.String(), r.addr, answer, keys)
}

func (c *Client) credentials(ctx context.Context) (auth.Keys, error) {
	if c.cfg.Credentials == nil {
		return auth.Keys{}, nil
	}
	return c.cfg.Credentials(ctx)
}

// tries is how many connections a request is handed to at most.
const tries = 2

// longBody is from how many bytes on a body is not copied behind its header.
const longBody = 16 << 10

func (c *Client) send(ctx context.Context, addr string, cmd *Command, buffer *body) (*Command, error) {
	p, err := c.peer(addr)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		cmd.Opaque = c.opaque.Add(1)
		x, err := newExchange(cmd, c.cfg.MaxFrame, buffer)
		if err != nil {
			return nil, &Error{Class: Permanent, Err: err}
		}
		conn, err := p.connect(ctx)
		if err != nil {
			return nil, err
		}
		x.buffer.hold()
		begun := time.Now()
		answer, err := conn.exchange(ctx, x)
		switch {
		case err == nil && answer != nil && answer.Code == CodeGoAway:
			conn.retire()
			if try < tries {
				continue
			}
		case errors.Is(err, errUnsent) && ctx.Err() == nil && c.ctx.Err() == nil && try < tries:
			continue
		case isTimeout(ctx, err) && conn.lastRead.Load() < begun.UnixNano() &&
			time.Since(begun) >= c.cfg.Timeout/2:
			// Not a byte came since the request went out: the host may be gone
			// without a word. The next request tries a new connection; what
			// waits on this one goes on waiting.
			conn.retire()
		}
		return answer, err
	}
}

// isTimeout says that err is the end of a deadline, also of a caller's whose cause
// is an error of its own.
func isTimeout(ctx context.Context, err error) bool {
	return errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(ctx.Err(), context.DeadlineExceeded) && errors.Is(err, context.Cause(ctx))
}
