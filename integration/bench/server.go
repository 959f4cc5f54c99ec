// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"strconv"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/litebench"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
)

// server is a RocketMQ on which the topics and groups that a command needs
// exist.
type server struct {
	address string // of its proxy, or of its name server for normal topics
	close   func() error
}

// target is a kind of server.
type target struct {
	name string
	// lite starts one with the main topics and the groups of these legs.
	lite func(ctx context.Context, legs []string) (*server, error)
	// normal starts one with normal topics of so many queues.
	normal func(ctx context.Context, queues int, topics []string) (*server, error)
}

// The names of the targets.
const (
	targetReal     = "real"
	targetEmbedded = "embedded"
	targetBoth     = "both"
)

// targets are those that there are, in the order in which they are measured. The
// errors of real ones are *realmq.Missing where there can be none.
func targets() []target {
	return []target{{targetReal, startReal, startNormalReal}, {targetEmbedded, startEmbedded, startNormalEmbedded}}
}

// mostLiteTopics is how many lite topics the legs of a command may have together.
// The default of brokers, 20000, is too few.
const mostLiteTopics = 1_000_000

func startReal(ctx context.Context, legs []string) (*server, error) {
	mq, err := realmq.Start(ctx, realmq.BrokerProperty("mappedFileSizeCommitLog", "1073741824"),
		realmq.BrokerProperty("cleanFileForciblyEnable", "false"), // see startNormalReal
		realmq.BrokerProperty("maxLmqConsumeQueueNum", strconv.Itoa(mostLiteTopics)))
	if err != nil {
		return nil, err
	}
	created := make(map[string]bool)
	for _, leg := range legs {
		topic := litebench.Topic(leg)
		var err error
		if !created[topic] {
			err = mq.CreateTopic(ctx, topic, realmq.Lite, realmq.Queues(1))
			created[topic] = true
		}
		if err == nil {
			err = mq.CreateGroup(ctx, litebench.Group(leg), realmq.LiteBind(topic), realmq.Wildcard(), realmq.ReadyLiteTopics(mostLiteTopics))
		}
		if err != nil {
			return nil, errors.Join(err, mq.Close())
		}
	}
	return &server{mq.Endpoints(), mq.Close}, nil
}
