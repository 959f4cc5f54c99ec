// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/conformance"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func TestEmbeddedRemoting(t *testing.T) { conformance.RunRemoting(t, inProcessRemoting{}) }

func TestEmbeddedTransactions(t *testing.T) { conformance.RunTransactions(t, inProcessRemoting{}) }

type inProcessRemoting struct{}

func (inProcessRemoting) Parallel() int { return 8 }

func (inProcessRemoting) Open(t *testing.T, s conformance.RemotingSetup) conformance.RemotingBroker {
	t.Helper()
	clock := embedded.NewClock(time.Now())
	opts := []embedded.Option{embedded.WithClock(clock),
		embedded.WithTransactionChecks(conformance.TransactionCheckInterval, conformance.TransactionTimeout, conformance.TransactionCheckMax),
		embedded.WithSQLFilter("TRUE", func(map[string]string) bool { return true })}
	for _, g := range s.Groups {
		opts = append(opts, embedded.WithNormalGroup(g))
	}
	for expr, match := range s.SQL {
		opts = append(opts, embedded.WithSQLFilter(expr, match))
	}
	mq := embedded.Start(t.Context(), opts...)
	t.Cleanup(mq.Close)
	for topic, queues := range s.Topics {
		mq.CreateTopic(topic, queues)
	}
	return &embeddedRemoting{embeddedBroker: embeddedBroker{mq, clock}, topics: s.Topics, marks: map[embedded.Queue]int64{}}
}

// embeddedRemoting counts what Roll found in each queue.
type embeddedRemoting struct {
	embeddedBroker
	topics map[string]int
	marks  map[embedded.Queue]int64
}

func (b *embeddedRemoting) NameServer() string { return b.mq.NameServer() }

func (b *embeddedRemoting) BrokerAddr() string { return b.mq.BrokerAddr() }

func (b *embeddedRemoting) AwaitHold(ctx context.Context, group string, d time.Duration, done <-chan struct{}) {
	b.AwaitPoll(ctx, group, d, done)
}

func (b *embeddedRemoting) Roll(*testing.T) {
	for topic, n := range b.topics {
		for id := range n {
			q := embedded.Queue{Topic: topic, ID: id}
			_, b.marks[q] = b.mq.QueueOffsets(q)
		}
	}
}

func (b *embeddedRemoting) Expire(*testing.T) {
	for q, upTo := range b.marks {
		b.mq.ExpireMessages(q, upTo)
	}
}

func (b *embeddedRemoting) RestartBroker(*testing.T) { b.mq.RestartBroker() }
