// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package bus

import (
	"context"
	"fmt"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// Embedded is a broker in this process, whose controls and verbs rows use.
type Embedded struct {
	*embedded.Broker
	names Names
}

// NewEmbedded starts one.
func NewEmbedded(ctx context.Context, n Names, opts ...embedded.Option) *Embedded {
	return &Embedded{embedded.Start(ctx, n.options(opts)...), n}
}

// Publish is that of [Bus].
func (b *Embedded) Publish(_ context.Context, liteTopic string, body []byte) (string, error) {
	return b.Broker.Publish(b.names.Topic, liteTopic, body), nil
}

// RestartProxy is that of [Bus], for all proxies.
func (b *Embedded) RestartProxy(context.Context) error {
	b.Restart()
	return nil
}

// AwaitAcked is that of [Bus].
func (b *Embedded) AwaitAcked(ctx context.Context) error {
	err := b.Wait(ctx, func(s embedded.Snapshot) bool { return s.PendingIn(b.names.Topic, b.names.Group) == 0 })
	if err != nil {
		return fmt.Errorf("waiting for acks, %d messages pending: %w", b.PendingIn(b.names.Topic, b.names.Group), err)
	}
	return nil
}

// Audit is that of [Bus]. The broker knows of each message whether it was
// acked.
func (b *Embedded) Audit(context.Context, []string) (Account, error) {
	var a Account
	for _, m := range b.Messages(b.names.Topic) {
		a.Deliveries += len(m.Deliveries)
		a.StaleAcks += m.StaleAcks
		switch _, acked := m.AckedBy[b.names.Group]; {
		case m.DeadLettered():
			a.DeadLettered = append(a.DeadLettered, m.ID)
		case !acked:
			a.Unacked = append(a.Unacked, m.ID)
		}
	}
	return a, nil
}

// Close is that of [Bus].
func (b *Embedded) Close() error {
	b.Broker.Close()
	return nil
}
