// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/litebench"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
)

// server is a RocketMQ on which the topics and groups of the legs exist.
type server interface {
	Endpoints() string
	Close() error
}

// startReal starts a real RocketMQ. The error is a *realmq.Missing where there
// can be none.
func startReal(ctx context.Context, legs []string) (server, error) {
	mq, err := realmq.Start(ctx)
	if err != nil {
		return nil, err
	}
	for _, leg := range legs {
		err := mq.CreateTopic(ctx, litebench.Topic(leg), realmq.Lite)
		if err == nil {
			err = mq.CreateGroup(ctx, litebench.Group(leg), realmq.LiteBind(litebench.Topic(leg)), realmq.Wildcard())
		}
		if err != nil {
			mq.Close()
			return nil, err
		}
	}
	return mq, nil
}
