// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// maxInbound is the largest request that a proxy reads.
const maxInbound = 130 << 20

// proxy is one front end: a port, its connections and its sessions.
type proxy struct {
	v2.UnimplementedMessagingServiceServer
	b     *Broker
	index int
	addr  string

	mu       sync.Mutex
	lis      net.Listener
	srv      *grpc.Server
	served   chan struct{} // closed when srv.Serve has returned
	conns    map[string]net.Conn
	sessions map[string]*session
	stopping bool // connections are being cut by us, not by their clients
	keepPort bool // a stop leaves the port open, for the next server takes it over
}

func newProxy(b *Broker, index int) *proxy {
	return &proxy{b: b, index: index, conns: map[string]net.Conn{}, sessions: map[string]*session{}}
}

func (p *proxy) listen(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("proxy %d cannot listen on %s: %w", p.index, addr, err)
	}
	p.lis, p.addr = l, l.Addr().String()
	return nil
}

// serve starts a fresh server on the listener.
func (p *proxy) serve() {
	opts := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(maxInbound),
		grpc.UnaryInterceptor(p.interceptUnary),
		grpc.WaitForHandlers(true),
	}
	if p.b.cfg.tls != nil {
		opts = append(opts, grpc.Creds(credentials.NewTLS(p.b.cfg.tls)))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopping = false
	p.srv = grpc.NewServer(opts...)
	p.served = make(chan struct{})
	v2.RegisterMessagingServiceServer(p.srv, p)
	srv, lis, served := p.srv, &trackedListener{Listener: p.lis, p: p}, p.served
	go func() {
		defer close(served)
		_ = srv.Serve(lis) // returns when stopped; nothing to do about its error
	}()
}

// restart replaces the server. The port stays ours all the time: were it closed,
// another process might be given it before we listen again.
func (p *proxy) restart() {
	p.end(true)
	if tcp, ok := p.lis.(*net.TCPListener); ok {
		_ = tcp.SetDeadline(time.Time{}) // fails only if closed, then Serve says so
	}
	p.serve()
}

// stop closes the port and all connections and waits for everything to end.
func (p *proxy) stop() { p.end(false) }

func (p *proxy) end(keepPort bool) {
	p.mu.Lock()
	srv, served, lis := p.srv, p.served, p.lis
	p.stopping, p.keepPort = true, keepPort
	p.srv = nil
	p.mu.Unlock()
	if srv == nil {
		if lis != nil {
			_ = lis.Close() // never served
		}
		return
	}
	srv.Stop()
	<-served
	p.forgetSessions()
}

// resume listens on the old address again. Another process may have been given
// the port for a moment, so a busy port is tried for a few seconds.
func (p *proxy) resume() error {
	deadline := time.Now().Add(5 * time.Second)
	for {
		err := p.listen(p.addr)
		if err == nil {
			p.serve()
			return nil
		}
		if time.Now().After(deadline) || !strings.Contains(err.Error(), "address already in use") {
			return err
		}
		select {
		case <-p.b.core.closed:
			return errClosed
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (p *proxy) running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.srv != nil
}

// connection returns the connection of a peer, to be cut.
func (p *proxy) connection(peerAddr string) net.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conns[peerAddr]
}

func (p *proxy) cutConnections() {
	p.mu.Lock()
	conns := make([]net.Conn, 0, len(p.conns))
	for _, c := range p.conns {
		conns = append(conns, c)
	}
	p.mu.Unlock()
	for _, c := range conns {
		_ = c.Close() // cutting it is the point
	}
}

// trackedListener keeps the connections that it accepts findable.
type trackedListener struct {
	net.Listener
	p *proxy
}

func (l *trackedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	t := &trackedConn{Conn: conn, p: l.p, key: conn.RemoteAddr().String()}
	l.p.mu.Lock()
	l.p.conns[t.key] = t
	l.p.mu.Unlock()
	l.p.b.core.poke()
	return t, nil
}

// Close ends Accept. When the port is to be kept it does so by a deadline.
func (l *trackedListener) Close() error {
	l.p.mu.Lock()
	keep := l.p.keepPort
	l.p.mu.Unlock()
	if tcp, ok := l.Listener.(*net.TCPListener); ok && keep {
		return tcp.SetDeadline(time.Unix(1, 0))
	}
	return l.Listener.Close()
}

type trackedConn struct {
	net.Conn
	p   *proxy
	key string
}

func (c *trackedConn) Close() error {
	c.p.mu.Lock()
	if c.p.conns[c.key] == net.Conn(c) {
		delete(c.p.conns, c.key)
	}
	c.p.mu.Unlock()
	c.p.b.core.poke()
	return c.Conn.Close()
}
