// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bus gives the rows a broker with one main topic and one wildcard
// group: embedded in this process, embedded in a process of its own, or a real
// RocketMQ.
package bus

import (
	"context"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// Bus is a broker with one main topic and one group.
type Bus interface {
	// Endpoints is where the proxies listen.
	Endpoints() string
	// Publish stores a message and returns its id.
	Publish(ctx context.Context, liteTopic string, body []byte) (string, error)
	// RestartProxy ends the proxy and starts it again on its port. Sessions are
	// lost, messages are not.
	RestartProxy(ctx context.Context) error
	// AwaitAcked returns when, in the broker's own view, nothing is left for the
	// group; at once where the broker cannot be asked.
	AwaitAcked(ctx context.Context) error
	// Audit says what became of the messages in the given lite topics. Nobody
	// else of the group may be receiving.
	Audit(ctx context.Context, liteTopics []string) (Account, error)
	// Close ends what New… started.
	Close() error
}

// Account is the broker's own view of what was published.
type Account struct {
	// Unacked are messages that the group did not acknowledge.
	Unacked []string
	// DeadLettered are messages that the broker gave up.
	DeadLettered []string
	// Deliveries is how often messages were handed out, StaleAcks how many
	// acknowledgements came too late to count; -1 where the broker cannot be
	// asked.
	Deliveries, StaleAcks int
}

// Names of topic and group.
type Names struct {
	Topic string `json:"topic"`
	Group string `json:"group"`
}

func (n Names) options(more []embedded.Option) []embedded.Option {
	return append([]embedded.Option{embedded.WithLiteTopic(n.Topic), embedded.WithWildcardGroup(n.Group, n.Topic)}, more...)
}
