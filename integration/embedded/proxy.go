// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
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

	changing sync.Mutex // held through a start, stop or restart

	mu       sync.Mutex
	gone     *sync.Cond // on mu: the last connection was closed
	port     net.Listener
	srv      *grpc.Server     // nil while stopped
	lis      *trackedListener // the one that srv accepts from
	conns    map[string]net.Conn
	sessions map[string]*session
	retired  bool // the broker is closed: no server is to start again
	life     int  // counts servers: what an old one was asked, the next one does not do

	ending sync.WaitGroup // servers that are being stopped
}

func newProxy(b *Broker, index int) *proxy {
	p := &proxy{b: b, index: index, conns: map[string]net.Conn{}, sessions: map[string]*session{}}
	p.gone = sync.NewCond(&p.mu)
	return p
}

func (p *proxy) listen(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("proxy %d cannot listen on %s: %w", p.index, addr, err)
	}
	p.port, p.addr = l, l.Addr().String()
	return nil
}

// serve starts a fresh server on the port.
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
	if p.retired {
		_ = p.port.Close() // may be closed already
		return
	}
	p.life++
	p.srv = grpc.NewServer(opts...)
	p.lis = &trackedListener{Listener: p.port, p: p}
	v2.RegisterMessagingServiceServer(p.srv, p)
	srv, lis := p.srv, p.lis
	p.ending.Add(1)
	go func() {
		defer p.ending.Done()
		_ = srv.Serve(lis) // returns when stopped; nothing to do about its error
	}()
}

// restart replaces the server. The port stays ours all the time: were it closed,
// another process might be given it before we listen again.
func (p *proxy) restart() {
	p.changing.Lock()
	defer p.changing.Unlock()
	if !p.running() {
		return
	}
	p.end(true)
	if tcp, ok := p.port.(*net.TCPListener); ok {
		_ = tcp.SetDeadline(time.Time{}) // fails only if closed, then Serve says so
	}
	p.serve()
}

// retire is stop for good.
func (p *proxy) retire() {
	p.mu.Lock()
	p.retired = true
	p.mu.Unlock()
	p.stop()
}

// stop closes the port and all connections and forgets the sessions.
func (p *proxy) stop() {
	p.changing.Lock()
	defer p.changing.Unlock()
	p.end(false)
}

// end returns when nothing is accepted any more and no connection is left. It
// does not wait for requests: one of them may be in a control function that
// called us. drain does.
func (p *proxy) end(keepPort bool) {
	p.mu.Lock()
	srv, lis := p.srv, p.lis
	p.srv = nil
	p.mu.Unlock()
	if srv == nil {
		if p.port != nil && !keepPort {
			_ = p.port.Close() // never served, or closed before
		}
		return
	}
	lis.keepPort = keepPort
	_ = lis.Close() // wakes Accept, which is what it is for
	p.ending.Add(1)
	go func() {
		defer p.ending.Done()
		srv.Stop()
	}()
	lis.accepting.Lock()   // Accept has returned and will not block again
	lis.accepting.Unlock() //nolint:staticcheck // waiting for it was the point
	// A connection in mid-handshake would hold Stop up for two minutes.
	p.cutConnections()
	p.mu.Lock()
	for len(p.conns) > 0 {
		p.gone.Wait()
	}
	p.mu.Unlock()
	p.forgetSessions()
}

// drain waits for the servers that were stopped, and with them their requests.
func (p *proxy) drain() { p.ending.Wait() }

func (p *proxy) currentLife() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.life
}

// alive reports whether the server that a request came to is still the one.
func (p *proxy) alive(life int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.srv != nil && p.life == life
}

// resume listens on the old address again. Another process may have been given
// the port for a moment, so a busy port is tried for a few seconds.
func (p *proxy) resume() error {
	p.changing.Lock()
	defer p.changing.Unlock()
	if p.running() || p.b.core.isClosed() {
		return nil
	}
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

// trackedListener keeps the connections that it accepts findable, and can be
// closed without closing the port.
type trackedListener struct {
	net.Listener
	p         *proxy
	accepting sync.Mutex // held while Accept waits
	closed    atomic.Bool
	keepPort  bool // set before Close
}

func (l *trackedListener) Accept() (net.Conn, error) {
	l.accepting.Lock()
	defer l.accepting.Unlock()
	if l.closed.Load() {
		return nil, net.ErrClosed
	}
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
	if l.closed.Swap(true) {
		return nil
	}
	if tcp, ok := l.Listener.(*net.TCPListener); ok && l.keepPort {
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
		c.p.gone.Broadcast()
	}
	c.p.mu.Unlock()
	c.p.b.core.poke()
	return c.Conn.Close()
}
