// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"errors"
	"fmt"
	"io"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// Telemetry is the stream on which a client sends its settings and gets those
// that count, and on which the broker sends commands.
//
// When the client breaks the stream (not when it closes it in good order) the
// lite subscription of a push-type lite consumer ends; its session does not.
func (p *proxy) Telemetry(s grpc.BidiStreamingServer[v2.TelemetryCommand, v2.TelemetryCommand]) error {
	stream := &telemetryStream{s: s}
	defer stream.end()
	defer p.streamEnded(stream)
	who, life := callerOf(s.Context()), p.currentLife()
	for {
		cmd, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			p.streamBroken(who.id, life)
			return rpcError(err)
		}
		r := p.newRequest(s.Context(), Telemetry, cmd)
		r.life = life
		if done, err := p.handleCommand(r, who, stream); done || err != nil {
			return err
		}
		p.b.core.poke()
	}
}

// streamBroken ends the lite subscription of a client whose stream broke, unless
// it was the proxy itself that went down.
func (p *proxy) streamBroken(clientID string, life int) {
	if s := p.session(clientID); s != nil && p.alive(life) && p.isLite(s.kind()) {
		p.b.core.goOffline(clientID)
	}
}

// handleCommand runs the controls and then the command. done ends the stream in
// good order.
func (p *proxy) handleCommand(r *Request, who caller, stream *telemetryStream) (done bool, err error) {
	p.b.count(r)
	re, err := p.b.runControls(stream.s.Context(), r)
	if err != nil {
		return true, rpcError(err)
	}
	switch re.kind {
	case reactAnswer:
		for _, a := range re.answers {
			cmd, ok := a.(*v2.TelemetryCommand)
			if !ok {
				return true, status.Errorf(codes.Internal, "embedded: Answer to Telemetry needs TelemetryCommands, not a %T", a)
			}
			if err := stream.send(cmd); err != nil {
				return true, err
			}
		}
		return false, nil
	case reactFail:
		return true, p.fail(r, re.err)
	case reactDrop:
		return false, nil
	}
	if err := p.stillHere(r); err != nil {
		return true, err
	}
	if err := p.b.admit(r); err != nil {
		return true, stream.send(&v2.TelemetryCommand{Status: statusOf(err)})
	}
	cmd, ok := r.Message.(*v2.TelemetryCommand)
	if !ok || cmd.GetSettings() == nil {
		return false, nil // results of commands that this broker does not send
	}
	merged, err := p.register(who, cmd.GetSettings(), stream)
	if err != nil {
		return true, telemetryError(err)
	}
	if re.kind == reactLoseReply {
		return false, nil
	}
	return false, stream.send(&v2.TelemetryCommand{Status: okStatus(), Command: &v2.TelemetryCommand_Settings{Settings: merged}})
}

// register checks settings, opens the session and returns the settings that
// count.
func (p *proxy) register(who caller, s *v2.Settings, stream *telemetryStream) (*v2.Settings, error) {
	switch {
	case s.GetPublishing() != nil:
		for _, t := range s.GetPublishing().GetTopics() {
			if _, err := p.b.checkTopic(t); err != nil {
				return nil, err
			}
			if err := who.checkLanguage(); err != nil {
				return nil, err
			}
		}
	case s.GetSubscription() != nil:
		if err := p.checkConsumer(who, s); err != nil {
			return nil, err
		}
	default:
		return nil, status.Error(codes.InvalidArgument, "there is no publishing or subscription data in settings")
	}
	p.openSession(who.id, s, stream)
	p.b.core.log.Debug("session opened", "client", who.id, "type", s.GetClientType().String(), "proxy", p.index)
	return p.b.merge(s), nil
}

// checkConsumer refuses a consumer that does not fit its group.
func (p *proxy) checkConsumer(who caller, s *v2.Settings) error {
	sub := s.GetSubscription()
	group, err := p.b.checkGroup(sub.GetGroup())
	if err != nil {
		return err
	}
	if err := who.checkLanguage(); err != nil {
		return err
	}
	if !p.isConsumer(s.GetClientType()) {
		return fault(v2.Code_INTERNAL_SERVER_ERROR, "Client type is not consumer, type: %s", s.GetClientType())
	}
	lite := p.isLite(s.GetClientType())
	if err := p.b.core.checkMode(group, lite); err != nil {
		return err
	}
	if entries := sub.GetSubscriptions(); lite && len(entries) > 0 {
		return p.b.core.checkTopicOf(group, p.b.inNamespace(entries[0].GetTopic()))
	}
	return nil
}

func (c *core) checkTopicOf(group, topic string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.checkBinding(group, topic)
}

func (p *proxy) isLite(t v2.ClientType) bool {
	return t == v2.ClientType_LITE_PUSH_CONSUMER || p.b.cfg.liteSimple && t == v2.ClientType_LITE_SIMPLE_CONSUMER
}

func (p *proxy) isConsumer(t v2.ClientType) bool {
	return p.isLite(t) || t == v2.ClientType_PUSH_CONSUMER || t == v2.ClientType_SIMPLE_CONSUMER
}

// telemetryError makes the error that ends the stream: INVALID_ARGUMENT for what
// the client did wrong, INTERNAL for the rest.
func telemetryError(err error) error {
	if _, ok := status.FromError(err); ok {
		return err
	}
	st := statusOf(err)
	code := codes.Internal
	if st.GetCode() >= v2.Code_BAD_REQUEST && st.GetCode() < v2.Code_INTERNAL_ERROR {
		code = codes.InvalidArgument
	}
	return status.Error(code, "process client telemetryCommand failed. "+st.GetMessage())
}

// retryTable is the group's default retry policy.
var retryTable = []time.Duration{
	time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 3 * time.Minute,
	4 * time.Minute, 5 * time.Minute, 6 * time.Minute, 7 * time.Minute, 8 * time.Minute, 9 * time.Minute,
	10 * time.Minute, 20 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
}

// merge returns a client's settings with what the broker decides.
func (b *Broker) merge(in *v2.Settings) *v2.Settings {
	s := proto.Clone(in).(*v2.Settings)
	s.Metric = &v2.Metric{On: false}
	if pub := s.GetPublishing(); pub != nil {
		pub.MaxBodySize, pub.ValidateMessageType = int32(b.cfg.maxBodySize), true
		s.BackoffPolicy = &v2.RetryPolicy{MaxAttempts: 3, Strategy: &v2.RetryPolicy_ExponentialBackoff{ExponentialBackoff: &v2.ExponentialBackoff{
			Initial: durationpb.New(10 * time.Millisecond), Max: durationpb.New(time.Second), Multiplier: 2,
		}}}
		return s
	}
	sub := s.GetSubscription()
	g := b.core.groupView(b.inNamespace(sub.GetGroup()))
	sub.ReceiveBatchSize = proto.Int32(maxBatch)
	sub.LongPollingTimeout = durationpb.New(b.cfg.maxPoll)
	sub.Fifo = proto.Bool(g.ordered)
	sub.LiteSubscriptionQuota = proto.Int32(int32(g.clientQuota))
	sub.MaxLiteTopicSize = proto.Int32(maxLiteTopic)
	next := make([]*durationpb.Duration, len(retryTable))
	for i, d := range retryTable {
		next[i] = durationpb.New(d)
	}
	s.BackoffPolicy = &v2.RetryPolicy{MaxAttempts: int32(g.maxAttempts), Strategy: &v2.RetryPolicy_CustomizedBackoff{
		CustomizedBackoff: &v2.CustomizedBackoff{Next: next},
	}}
	return s
}

// groupView returns a copy of a group's attributes.
func (c *core) groupView(name string) group {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.findGroup(name)
	if g == nil {
		return group{name: name, maxAttempts: c.cfg.maxAttempts, clientQuota: c.cfg.clientQuota}
	}
	return group{name: g.name, bindTopic: g.bindTopic, wildcard: g.wildcard, ordered: g.ordered, maxAttempts: g.maxAttempts, clientQuota: g.clientQuota}
}

// notifyUnsubscribe tells a client, on whichever proxy it has a stream, that it
// no longer has a lite topic.
func (b *Broker) notifyUnsubscribe(clientID, liteTopic string) {
	cmd := &v2.TelemetryCommand{Command: &v2.TelemetryCommand_NotifyUnsubscribeLiteCommand{
		NotifyUnsubscribeLiteCommand: &v2.NotifyUnsubscribeLiteCommand{LiteTopic: liteTopic},
	}}
	for _, p := range b.proxies {
		p.mu.Lock()
		var stream *telemetryStream
		if s := p.sessions[clientID]; s != nil {
			stream = s.stream
		}
		p.mu.Unlock()
		if stream == nil {
			continue
		}
		if err := stream.send(cmd); err != nil {
			b.core.log.Warn("notify of unsubscription lost", "client", clientID, "lite_topic", liteTopic, "error", fmt.Sprint(err))
		}
	}
}
