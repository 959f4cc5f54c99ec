// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"errors"
	"sync"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// sessionLife is how long a proxy keeps a client that sends no heartbeat.
const sessionLife = 2 * time.Minute

// session is what one proxy knows of one client: it comes with the settings on
// the telemetry stream and goes with NotifyClientTermination, a restart, or two
// minutes without a heartbeat. The end of the stream alone does not end it.
type session struct {
	clientID string
	settings *v2.Settings
	stream   *telemetryStream
	expiry   stopper
}

func (s *session) kind() v2.ClientType { return s.settings.GetClientType() }

func (s *session) group() string { return s.settings.GetSubscription().GetGroup().GetName() }

func (p *proxy) session(clientID string) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sessions[clientID]
}

// openSession stores the settings of a client, replacing older ones.
func (p *proxy) openSession(clientID string, settings *v2.Settings, stream *telemetryStream) {
	s := &session{clientID: clientID, settings: proto.Clone(settings).(*v2.Settings), stream: stream}
	p.mu.Lock()
	if old := p.sessions[clientID]; old != nil {
		old.expiry.Stop()
	}
	p.sessions[clientID] = s
	p.armExpiry(s)
	p.mu.Unlock()
	p.b.core.poke()
}

// armExpiry starts the two minutes anew. The proxy's lock is held.
func (p *proxy) armExpiry(s *session) {
	if s.expiry != nil {
		s.expiry.Stop()
	}
	s.expiry = p.b.core.clock.afterFunc(sessionLife, func() { p.dropSession(s) })
}

func (p *proxy) dropSession(s *session) {
	p.mu.Lock()
	if p.sessions[s.clientID] == s {
		delete(p.sessions, s.clientID)
	}
	p.mu.Unlock()
	p.b.core.log.Info("session expired", "client", s.clientID, "proxy", p.index)
	p.b.core.poke()
}

// keepAlive renews a session at a heartbeat.
func (p *proxy) keepAlive(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sessions[s.clientID] == s {
		p.armExpiry(s)
	}
}

// takeSession removes and returns a session.
func (p *proxy) takeSession(clientID string) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.sessions[clientID]
	if s != nil {
		s.expiry.Stop()
		delete(p.sessions, clientID)
	}
	return s
}

func (p *proxy) forgetSessions() int {
	p.mu.Lock()
	n := len(p.sessions)
	for _, s := range p.sessions {
		s.expiry.Stop()
	}
	clear(p.sessions)
	p.mu.Unlock()
	p.b.core.poke()
	return n
}

// streamEnded forgets a stream that no longer exists, not the session.
func (p *proxy) streamEnded(stream *telemetryStream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.sessions {
		if s.stream == stream {
			s.stream = nil
		}
	}
}

// telemetryStream is a stream to a client that several goroutines write to.
type telemetryStream struct {
	mu    sync.Mutex
	ended bool
	s     grpc.BidiStreamingServer[v2.TelemetryCommand, v2.TelemetryCommand]
}

func (t *telemetryStream) send(cmd *v2.TelemetryCommand) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return errStreamEnded
	}
	return t.s.Send(cmd)
}

// end keeps others from writing once the handler has returned.
func (t *telemetryStream) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
}

var errStreamEnded = errors.New("embedded: the telemetry stream has ended")
