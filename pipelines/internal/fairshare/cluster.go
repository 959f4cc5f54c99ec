// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package fairshare

import (
	"context"
	"fmt"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
)

// startEmbedded starts a broker in this process.
func startEmbedded(ctx context.Context, topic, group string) (b *embedded.Broker, err error) {
	defer func() {
		if r := recover(); r != nil {
			b, err = nil, fmt.Errorf("starting the broker inside the program: %v", r)
		}
	}()
	return embedded.Start(ctx, embedded.WithLiteTopic(topic), embedded.WithWildcardGroup(group, topic)), nil
}

// leaveTimeout bounds a session's farewell.
const leaveTimeout = time.Second

// connect opens the session that publishes the load, and looks, before any
// pipeline is built, whether the group can be read from: what is wrong with the
// cluster then has an error of its own instead of one from within a runner.
func (o *Options) connect(ctx context.Context) (*litegrpc.Producer, error) {
	cfg, err := o.Connection.Config(o.Endpoints, o.Namespace, nil, nil)
	if err != nil {
		return nil, err
	}
	producer, err := litegrpc.NewProducer(ctx, litegrpc.ProducerConfig{Config: cfg, Topic: o.Topic})
	if err != nil {
		return nil, err
	}
	consumer, err := litegrpc.NewConsumer(ctx, litegrpc.ConsumerConfig{
		Config: cfg, Topic: o.Topic, Group: o.Group, AwaitDuration: litegrpc.MinAwaitDuration,
	})
	if err != nil {
		leave(ctx, producer)
		return nil, err
	}
	leave(ctx, consumer)
	return producer, nil
}

func leave(ctx context.Context, session interface{ Close(context.Context) }) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer done()
	session.Close(ctx)
}
