// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/protobuf/types/known/durationpb"
)

// ConsumerConfig says what a [Consumer] receives.
type ConsumerConfig struct {
	Config
	// Topic is the main topic, Group the consumer group bound to it.
	Topic, Group string
	// AwaitDuration is announced as the long-polling time.
	AwaitDuration time.Duration
	// AssumeWildcard leaves out the check that the group has the attribute
	// lite.sub.wildcard.
	AssumeWildcard bool
	// LookAgain is how often the brokers are made to go through all lite topics
	// for messages that they forgot to offer; 0 means never.
	LookAgain time.Duration
}

// Consumer receives the messages of all lite topics below one main topic. Its
// methods may be called from many goroutines.
type Consumer struct {
	client     *client
	endpoints  string // as handles carry them
	cfg        ConsumerConfig
	lite       liteType
	route      atomic.Pointer[route]
	turn       atomic.Uint64
	subscribed sync.Map // Address → true while the subscription stands there
}

// NewConsumer opens a session: it finds the route, agrees on settings with each
// proxy and makes the wildcard subscription. It returns when the first proxy is
// ready, or with an error that says what to check, within the start timeout.
// ctx bounds the opening only; Close ends the session.
func NewConsumer(ctx context.Context, cfg ConsumerConfig) (*Consumer, error) {
	c := &Consumer{cfg: cfg, endpoints: cfg.Endpoints.String()}
	var err error
	if c.client, err = newClient(cfg.Config, c); err != nil {
		return nil, err
	}
	if err := c.start(ctx); err != nil {
		closeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbyeTimeout)
		defer cancel()
		c.Close(closeCtx)
		return nil, err
	}
	c.client.every(routeInterval, c.refreshRoute)
	if cfg.LookAgain > 0 {
		c.client.every(cfg.LookAgain, c.lookAgain)
	}
	return c, nil
}

func (c *Consumer) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.client.cfg.StartTimeout)
	defer cancel()
	r, err := c.client.startRoute(ctx, c.cfg.Topic)
	if err != nil {
		return err
	}
	if len(r.readable) == 0 {
		return &Error{Op: fmt.Sprintf("reading the route of topic %q", c.cfg.Topic), Class: Permanent,
			Err: errors.New("no broker has a readable queue of it"), Hint: "check the topic's permission"}
	}
	c.route.Store(r)
	return c.client.awaitStart(ctx)
}

// refreshRoute follows brokers and proxies that come and go. A failure leaves
// the route as it is.
func (c *Consumer) refreshRoute(ctx context.Context) {
	r, err := c.client.findRoute(ctx, c.cfg.Topic)
	if err == nil && len(r.readable) == 0 {
		err = errors.New("no readable queue")
	}
	if err == nil {
		err = c.client.connect(r.addresses)
	}
	if err != nil {
		if ctx.Err() == nil {
			c.client.cfg.Logger.Warn("refreshing the route", "topic", c.cfg.Topic, "error", err)
		}
		return
	}
	c.route.Store(r)
}

// Close tells the proxies that the client leaves and ends the session. ctx
// bounds the farewell, which takes a second at most.
func (c *Consumer) Close(ctx context.Context) { c.client.close(ctx) }

// Brokers is the number of brokers that can be received from.
func (c *Consumer) Brokers() int { return len(c.route.Load().readable) }

// Subscriptions is the number of proxies at which the wildcard subscription
// stands now. With none, nothing is delivered.
func (c *Consumer) Subscriptions() int {
	n := 0
	c.subscribed.Range(func(any, any) bool { n++; return true })
	return n
}

func (c *Consumer) String() string {
	return fmt.Sprintf("group %q and topic %q", c.cfg.Group, c.cfg.Topic)
}

func (c *Consumer) settings(s *v2.Settings) {
	s.ClientType = c.lite.current().Enum()
	s.PubSub = &v2.Settings_Subscription{Subscription: &v2.Subscription{
		Group: c.client.resource(c.cfg.Group),
		Subscriptions: []*v2.SubscriptionEntry{{
			Topic:      c.client.resource(c.cfg.Topic),
			Expression: everything(),
		}},
		LongPollingTimeout: durationpb.New(c.cfg.AwaitDuration),
	}}
}

func everything() *v2.FilterExpression {
	return &v2.FilterExpression{Type: v2.FilterType_TAG, Expression: "*"}
}

func (c *Consumer) fallBack() bool { return c.lite.fallBack() }

func (c *Consumer) opened(ctx context.Context, l *link) error {
	c.subscribed.Delete(l.addr)
	if err := c.heartbeat(ctx, l); err != nil {
		return err
	}
	if err := c.resync(ctx, l); err != nil {
		return err
	}
	return c.checkWildcard(ctx, l)
}

func (c *Consumer) heartbeat(ctx context.Context, l *link) error {
	return l.sendHeartbeat(ctx, c.client.resource(c.cfg.Group), c.lite.current())
}

func (c *Consumer) terminating() *v2.Resource { return c.client.resource(c.cfg.Group) }

// liteType is the client type in use: the newer one until a proxy refuses it.
type liteType struct{ older atomic.Bool }

func (t *liteType) current() v2.ClientType {
	if t.older.Load() {
		return v2.ClientType_LITE_PUSH_CONSUMER
	}
	return v2.ClientType_LITE_SIMPLE_CONSUMER
}

func (t *liteType) fallBack() bool { return t.older.CompareAndSwap(false, true) }
