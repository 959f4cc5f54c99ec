// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"testing"
)

// server is a scripted server: each request goes to its handle function, which
// answers, or does not, or does worse.
type server struct {
	t      testing.TB
	addr   string
	handle func(s *session, cmd *Command)

	mu       sync.Mutex
	rest     func(s *session, cmd *Command) // of oneBroker
	sessions []*session
	seen     []*Command
	wg       sync.WaitGroup
}

// session is one connection to a server.
type session struct {
	srv *server
	nc  net.Conn
	mu  sync.Mutex
}

// serve starts a server on a port of its own, or on addr if that is not empty.
func serve(t testing.TB, addr string, handle func(s *session, cmd *Command)) *server {
	t.Helper()
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	srv := &server{t: t, addr: l.Addr().String(), handle: handle}
	srv.wg.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			srv.run(nc)
		}
	})
	t.Cleanup(func() {
		l.Close()
		srv.cut()
		srv.wg.Wait()
	})
	return srv
}

// run serves one connection.
func (srv *server) run(nc net.Conn) *session {
	s := &session{srv: srv, nc: nc}
	srv.mu.Lock()
	srv.sessions = append(srv.sessions, s)
	srv.mu.Unlock()
	srv.wg.Go(func() {
		defer nc.Close()
		r := NewReader(bufio.NewReader(nc), DefaultMaxFrame)
		for {
			cmd, err := r.Next()
			if err != nil {
				return
			}
			srv.mu.Lock()
			srv.seen = append(srv.seen, cmd)
			srv.mu.Unlock()
			srv.handle(s, cmd)
		}
	})
	return s
}

// cut closes all connections.
func (srv *server) cut() {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	for _, s := range srv.sessions {
		s.nc.Close()
	}
}

func (srv *server) connections() int {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return len(srv.sessions)
}

// requests returns what came with the code; 0 means all.
func (srv *server) requests(code int) (out []*Command) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	for _, cmd := range srv.seen {
		if code == 0 || cmd.Code == code {
			out = append(out, cmd)
		}
	}
	return out
}

// reply answers to with a copy of answer.
func (s *session) reply(to *Command, answer Command) {
	answer.Opaque, answer.Flag = to.Opaque, answer.Flag|flagAnswer
	s.write(&answer)
}

func (s *session) write(cmd *Command) {
	b, err := AppendCommand(nil, cmd, DefaultMaxFrame)
	if err != nil {
		s.srv.t.Error(err)
	}
	s.raw(b)
}

func (s *session) raw(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nc.Write(b) // the client may be gone
}

// frame is the answer to cmd as bytes.
func frame(t testing.TB, to *Command, answer Command) []byte {
	t.Helper()
	answer.Opaque, answer.Flag = to.Opaque, flagAnswer
	b, err := AppendCommand(nil, &answer, DefaultMaxFrame)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func offsetAnswer(n int64) Command {
	return Command{Fields: map[string]string{"offset": fmt.Sprint(n)}}
}

// routeAnswer is a route with n queues at each broker.
func routeAnswer(n int, brokers map[string]map[int64]string) Command {
	type m map[string]any
	var queues, addrs []m
	for name, at := range brokers {
		queues = append(queues, m{"brokerName": name, "readQueueNums": n, "writeQueueNums": n, "perm": 6})
		addrs = append(addrs, m{"brokerName": name, "cluster": "c", "brokerAddrs": at})
	}
	b, _ := json.Marshal(m{"queueDatas": queues, "brokerDatas": addrs})
	return Command{Body: b}
}

// oneBroker is a server that is name server and broker "b" in one. Requests for
// the route are answered, others go to handle.
func oneBroker(t testing.TB, handle func(s *session, cmd *Command)) *server {
	t.Helper()
	var srv *server
	srv = serve(t, "", func(s *session, cmd *Command) {
		if cmd.Code == codeRoute {
			s.reply(cmd, routeAnswer(4, map[string]map[int64]string{"b": {0: srv.addr}}))
			return
		}
		srv.mu.Lock()
		rest := srv.rest
		srv.mu.Unlock()
		rest(s, cmd)
	})
	srv.then(handle)
	return srv
}

// then changes what a server of oneBroker does.
func (srv *server) then(handle func(s *session, cmd *Command)) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	srv.rest = handle
}

var testQueue = Queue{Topic: "t", Broker: "b"}

// inMemory lets clients in a bubble of testing/synctest reach servers by name.
type inMemory struct {
	t testing.TB

	mu      sync.Mutex
	servers map[string]*server
	dials   map[string]int
}

func newInMemory(t testing.TB) *inMemory {
	return &inMemory{t: t, servers: map[string]*server{}, dials: map[string]int{}}
}

func (m *inMemory) add(addr string, handle func(s *session, cmd *Command)) *server {
	srv := &server{t: m.t, addr: addr, handle: handle}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.servers[addr] = srv
	return srv
}

func (m *inMemory) remove(addr string) {
	m.mu.Lock()
	srv := m.servers[addr]
	delete(m.servers, addr)
	m.mu.Unlock()
	srv.cut()
}

func (m *inMemory) dialled(addr string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dials[addr]
}

func (m *inMemory) dial(_ context.Context, addr string) (net.Conn, error) {
	m.mu.Lock()
	srv := m.servers[addr]
	m.dials[addr]++
	m.mu.Unlock()
	if srv == nil {
		return nil, fmt.Errorf("no server at %s", addr)
	}
	a, b := net.Pipe()
	srv.run(b)
	return a, nil
}

// redirect dials addr, whatever is asked for.
func redirect(addr string) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	}
}
