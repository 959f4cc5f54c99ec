// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"errors"
	"fmt"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// AckerConfig says whose messages an [Acker] acknowledges.
type AckerConfig struct {
	Config
	// Group is the consumer group that received the messages; Topic is its main
	// topic.
	Group, Topic string
}

// Acker acknowledges and defers messages that any client of the same group
// received. It receives nothing and has no subscription of its own. Its methods
// may be called from many goroutines.
type Acker struct {
	client *client
	cfg    AckerConfig
	lite   liteType
}

// NewAcker opens a session. It returns when the first proxy is ready, or with
// an error that says what to check, within the start timeout. ctx bounds the
// opening only; Close ends the session.
func NewAcker(ctx context.Context, cfg AckerConfig) (*Acker, error) {
	a := &Acker{cfg: cfg}
	var err error
	if a.client, err = newClient(cfg.Config, a); err != nil {
		return nil, err
	}
	err = a.client.connect(a.client.cfg.Endpoints)
	if err == nil {
		err = a.client.awaitStart(ctx)
	}
	if err != nil {
		closeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbyeTimeout)
		defer cancel()
		a.Close(closeCtx)
		return nil, err
	}
	return a, nil
}

// Close tells the proxies that the client leaves and ends the session. ctx
// bounds the farewell, which takes a second at most.
func (a *Acker) Close(ctx context.Context) { a.client.close(ctx) }

func (a *Acker) String() string {
	return fmt.Sprintf("group %q and topic %q", a.cfg.Group, a.cfg.Topic)
}

// settings names the topic too: a proxy keeps one table of subscriptions a
// group, and a member without the topic would take it out of there.
func (a *Acker) settings(s *v2.Settings) {
	s.ClientType = a.lite.current().Enum()
	s.PubSub = &v2.Settings_Subscription{Subscription: &v2.Subscription{
		Group: a.client.resource(a.cfg.Group),
		Subscriptions: []*v2.SubscriptionEntry{{
			Topic:      a.client.resource(a.cfg.Topic),
			Expression: everything(),
		}},
	}}
}

func (a *Acker) fallBack() bool { return a.lite.fallBack() }

func (a *Acker) opened(ctx context.Context, l *link) error { return a.heartbeat(ctx, l) }

func (a *Acker) heartbeat(ctx context.Context, l *link) error {
	return l.sendHeartbeat(ctx, a.client.resource(a.cfg.Group), a.lite.current())
}

func (a *Acker) resync(context.Context, *link) error { return nil }

func (a *Acker) terminating() *v2.Resource { return a.client.resource(a.cfg.Group) }

// errNoLiteTopic: the broker answers an internal error to such a request.
var errNoLiteTopic = errors.New("the handle has no lite topic: was it dropped on the way?")
