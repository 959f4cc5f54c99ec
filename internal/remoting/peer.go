// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// peer is one server: the connection to it, if there is one, and when it may
// next be dialled.
type peer struct {
	client *Client
	addr   string

	mu      sync.Mutex
	conn    *conn
	attempt *attempt
	pauses  *backoff.ExponentialBackOff
	notTill time.Time
	failed  error // why the last attempt failed; nil after one that did not
}

// attempt is a connection in the making. All who want it wait for the same.
type attempt struct {
	done chan struct{}
	conn *conn
	err  error
}

func newPeer(c *Client, addr string) *peer {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = firstPause, lastPause
	return &peer{client: c, addr: addr, pauses: pauses}
}

// connect returns the connection, making it if need be. A server that could
// not be reached is not dialled again before a pause is over, which grows from
// 50 ms to 2 s; the caller waits through it as far as its context allows.
func (p *peer) connect(ctx context.Context) (*conn, error) {
	p.mu.Lock()
	if p.conn != nil {
		defer p.mu.Unlock()
		return p.conn, nil
	}
	a, failed := p.attempt, p.failed
	if a == nil {
		a = &attempt{done: make(chan struct{})}
		if !p.client.start(func() { p.dial(a) }) {
			p.mu.Unlock()
			return nil, ErrClosed
		}
		p.attempt = a
	}
	p.mu.Unlock()
	select {
	case <-a.done:
		return a.conn, a.err
	case <-ctx.Done():
		if failed != nil {
			return nil, fmt.Errorf("%w, while waiting to connect again after: %w", context.Cause(ctx), failed)
		}
		return nil, context.Cause(ctx)
	}
}

// down says that the last attempt to reach the server failed.
func (p *peer) down() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conn == nil && p.failed != nil
}

// dial waits out the pause and makes the connection. It belongs to the client,
// not to the caller who wanted it first.
func (p *peer) dial(a *attempt) {
	defer close(a.done)
	p.mu.Lock()
	wait := time.Until(p.notTill)
	p.mu.Unlock()
	if wait > 0 {
		pause(p.client.ctx, wait)
	}
	ctx, cancel := context.WithTimeout(p.client.ctx, p.client.cfg.Timeout)
	defer cancel()
	nc, err := p.open(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.attempt, p.failed = nil, err
	switch {
	case p.client.ctx.Err() != nil:
		if err == nil {
			nc.Close()
		}
		a.err = ErrClosed
	case err != nil:
		p.notTill = time.Now().Add(p.pauses.NextBackOff())
		a.err = err
	default:
		p.pauses.Reset()
		p.notTill = time.Time{}
		a.conn = newConn(p, nc)
		p.conn = a.conn
	}
}

func (p *peer) open(ctx context.Context) (net.Conn, error) {
	nc, err := p.client.cfg.Dial(ctx, p.addr)
	if err != nil || p.client.tls == nil {
		return nc, err
	}
	cfg := p.client.tls
	if cfg.ServerName == "" {
		cfg = cfg.Clone()
		cfg.ServerName, _, _ = net.SplitHostPort(p.addr)
	}
	secured := tls.Client(nc, cfg)
	if err := secured.HandshakeContext(ctx); err != nil {
		nc.Close()
		return nil, err
	}
	return secured, nil
}

// drop forgets a connection that is over.
func (p *peer) drop(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == c {
		p.conn = nil
	}
}

// pause waits for d and says whether it was not cut short.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
