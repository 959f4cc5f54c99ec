// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// endpoint is a port of the remoting side: that of the name server, of a broker,
// or of a broker's slave.
type endpoint struct {
	b      *Broker
	name   string // for controls and errors
	broker int    // -1 for the name server
	slave  int64  // broker id; 0 for a master and the name server

	changing sync.Mutex // held through a start or stop

	mu      sync.Mutex
	addr    string
	lis     net.Listener // nil while stopped
	conns   map[*remotingConn]struct{}
	suggest int64 // the broker id that pulls are told to go on with
	hidden  bool  // not in routes

	running sync.WaitGroup // all goroutines of this endpoint
}

func newEndpoint(b *Broker, name string, broker int, slave int64) *endpoint {
	return &endpoint{b: b, name: name, broker: broker, slave: slave, conns: map[*remotingConn]struct{}{}}
}

// address is where the endpoint listens, or listened last.
func (e *endpoint) address() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.addr
}

// host is the address as messages carry it.
func (e *endpoint) host() netip.AddrPort {
	ap, _ := netip.ParseAddrPort(e.address()) // listeners have nothing else
	return ap
}

// start listens on addr. Another process may have been given a port for a
// moment, so a busy one is tried for a few seconds.
func (e *endpoint) start(addr string) error {
	e.changing.Lock()
	defer e.changing.Unlock()
	if e.listening() {
		return nil
	}
	deadline := time.Now().Add(5 * time.Second)
	for {
		lis, err := net.Listen("tcp", addr)
		if err == nil {
			e.serve(lis)
			return nil
		}
		if time.Now().After(deadline) || !strings.Contains(err.Error(), "address already in use") {
			return fmt.Errorf("%s cannot listen on %s: %w", e.name, addr, err)
		}
		select {
		case <-e.b.core.closed:
			return errClosed
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (e *endpoint) listening() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lis != nil
}

func (e *endpoint) serve(lis net.Listener) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.b.core.isClosed() {
		_ = lis.Close() // nobody is to come any more
		return
	}
	e.addr = lis.Addr().String()
	if e.b.cfg.tls != nil {
		lis = tls.NewListener(lis, e.b.cfg.tls)
	}
	e.lis = lis
	e.running.Go(func() { e.accept(lis) })
}

func (e *endpoint) accept(lis net.Listener) {
	for {
		nc, err := lis.Accept()
		if err != nil {
			return // closed: nothing else ends a loopback listener
		}
		c := newRemotingConn(e, nc)
		e.mu.Lock()
		if e.lis != lis {
			e.mu.Unlock()
			_ = nc.Close() // came while we stopped
			continue
		}
		e.conns[c] = struct{}{}
		e.running.Go(c.read)
		e.mu.Unlock()
		e.b.core.poke()
	}
}

// move makes the endpoint go on at another address. It listens there before it
// gives the old port up, so the two differ.
func (e *endpoint) move(addr string) error {
	lis, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("%s cannot listen on %s: %w", e.name, addr, err)
	}
	e.stop()
	e.changing.Lock()
	defer e.changing.Unlock()
	if e.listening() { // somebody resumed it meanwhile
		return lis.Close()
	}
	e.serve(lis)
	return nil
}

// stop closes the port and cuts all connections. It does not wait for requests:
// one of them may be in a control function that called us. drain does.
func (e *endpoint) stop() {
	e.changing.Lock()
	defer e.changing.Unlock()
	e.mu.Lock()
	lis := e.lis
	e.lis = nil
	e.mu.Unlock()
	if lis != nil {
		_ = lis.Close() // it cannot fail in a way that leaves it open
	}
	e.cut()
}

// cut breaks all connections.
func (e *endpoint) cut() {
	e.mu.Lock()
	conns := e.conns
	e.conns = map[*remotingConn]struct{}{}
	e.mu.Unlock()
	for c := range conns {
		c.close()
	}
	e.b.core.poke()
}

func (e *endpoint) drain() { e.running.Wait() }

func (e *endpoint) forget(c *remotingConn) {
	e.mu.Lock()
	delete(e.conns, c)
	e.mu.Unlock()
	e.b.core.poke()
}

func (e *endpoint) connections() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.conns)
}
