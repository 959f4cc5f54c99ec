// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// ProducerConfig says where a [Producer] sends.
type ProducerConfig struct {
	Config
	// Topic is the main topic.
	Topic string
}

// Producer sends messages to the lite topics below one main topic. Its methods
// may be called from many goroutines.
type Producer struct {
	client *client
	cfg    ProducerConfig
	ids    *messageIDs
	route  atomic.Pointer[route]
}

// NewProducer opens a session. It returns when the first proxy is ready, or
// with an error that says what to check, within the start timeout. A topic
// whose message type is not LITE is refused. ctx bounds the opening only.
func NewProducer(ctx context.Context, cfg ProducerConfig) (*Producer, error) {
	p := &Producer{cfg: cfg, ids: newMessageIDs()}
	var err error
	if p.client, err = newClient(cfg.Config, p); err != nil {
		return nil, err
	}
	if err := p.start(ctx); err != nil {
		closeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbyeTimeout)
		defer cancel()
		p.Close(closeCtx)
		return nil, err
	}
	p.client.every(routeInterval, p.refreshRoute)
	return p, nil
}

func (p *Producer) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.client.cfg.StartTimeout)
	defer cancel()
	r, err := p.client.startRoute(ctx, p.cfg.Topic)
	if err != nil {
		return err
	}
	op := fmt.Sprintf("reading the route of topic %q", p.cfg.Topic)
	if len(r.writable) == 0 {
		return &Error{Op: op, Class: Permanent, Err: errors.New("no broker has a writable queue of it"), Hint: "check the topic's permission"}
	}
	if len(r.accepts) > 0 && !slices.Contains(r.accepts, v2.MessageType_LITE) {
		return &Error{Op: op, Class: Permanent, Err: fmt.Errorf("the topic takes messages of type %v, not LITE", r.accepts),
			Hint: "create the topic with +message.type=LITE"}
	}
	p.route.Store(r)
	return p.client.awaitStart(ctx)
}

func (p *Producer) refreshRoute(ctx context.Context) {
	r, err := p.client.findRoute(ctx, p.cfg.Topic)
	if err == nil {
		err = p.client.connect(r.addresses)
	}
	if err != nil {
		if ctx.Err() == nil {
			p.client.cfg.Logger.Warn("refreshing the route", "topic", p.cfg.Topic, "error", err)
		}
		return
	}
	p.route.Store(r)
}

// Close tells the proxies that the client leaves and ends the session. ctx
// bounds the farewell, which takes a second at most.
func (p *Producer) Close(ctx context.Context) { p.client.close(ctx) }

func (p *Producer) String() string { return fmt.Sprintf("topic %q", p.cfg.Topic) }

func (p *Producer) settings(s *v2.Settings) {
	s.ClientType = v2.ClientType_PRODUCER.Enum()
	s.PubSub = &v2.Settings_Publishing{Publishing: &v2.Publishing{Topics: []*v2.Resource{p.client.resource(p.cfg.Topic)}}}
}

func (p *Producer) fallBack() bool { return false }

func (p *Producer) opened(ctx context.Context, l *link) error { return p.heartbeat(ctx, l) }

func (p *Producer) heartbeat(ctx context.Context, l *link) error {
	return l.sendHeartbeat(ctx, nil, v2.ClientType_PRODUCER)
}

func (p *Producer) resync(context.Context, *link) error { return nil }

func (p *Producer) terminating() *v2.Resource { return nil }
