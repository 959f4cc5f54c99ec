// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
)

// Real is a topic and a group on a real RocketMQ.
type Real struct {
	mq       *realmq.Cluster
	names    Names
	producer *litegrpc.Producer
}

// NewReal makes topic and group on a running cluster, which stays the caller's.
func NewReal(ctx context.Context, mq *realmq.Cluster, n Names) (*Real, error) {
	if err := mq.CreateTopic(ctx, n.Topic, realmq.Lite); err != nil {
		return nil, err
	}
	if err := mq.CreateGroup(ctx, n.Group, realmq.LiteBind(n.Topic), realmq.Wildcard()); err != nil {
		return nil, err
	}
	r := &Real{mq: mq, names: n}
	base, err := r.config()
	if err != nil {
		return nil, err
	}
	if r.producer, err = litegrpc.NewProducer(ctx, litegrpc.ProducerConfig{Config: base, Topic: n.Topic}); err != nil {
		return nil, err
	}
	return r, r.awaitGroup(ctx, base)
}

// awaitGroup waits until the proxy knows the group: while its broker is not quite
// back from the row before, it says of each that there is none.
func (r *Real) awaitGroup(ctx context.Context, base litegrpc.Config) error {
	for {
		c, err := litegrpc.NewConsumer(ctx, litegrpc.ConsumerConfig{Config: base, Topic: r.names.Topic, Group: r.names.Group})
		if err == nil {
			c.Close(context.WithoutCancel(ctx))
			return nil
		}
		select {
		case <-time.After(200 * time.Millisecond): // between two tries
		case <-ctx.Done():
			return fmt.Errorf("waiting for the group: %w: %w", context.Cause(ctx), err)
		}
	}
}

func (r *Real) config() (litegrpc.Config, error) {
	endpoints, err := litegrpc.ParseEndpoints(r.mq.Endpoints())
	return litegrpc.Config{Endpoints: endpoints}, err
}

// Cluster is the cluster, for the faults that only it can have.
func (r *Real) Cluster() *realmq.Cluster { return r.mq }

// Endpoints is that of [Bus].
func (r *Real) Endpoints() string { return r.mq.Endpoints() }

// Publish is that of [Bus]. It tries until ctx ends, whatever is wrong, for a
// topic whose broker restarts is one that does not exist, and with one id: a
// message that was stored although its answer was lost then stands there twice,
// as two deliveries of one id.
func (r *Real) Publish(ctx context.Context, liteTopic string, body []byte) (string, error) {
	m := litegrpc.Outgoing{LiteTopic: liteTopic, Body: body, ID: r.producer.NewMessageID()}
	for {
		sent, err := r.producer.Send(ctx, m)
		if err == nil {
			return sent.MessageID, nil
		}
		if ctx.Err() != nil {
			return "", err
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond): // between two tries
		}
	}
}

// RestartProxy is that of [Bus].
func (r *Real) RestartProxy(ctx context.Context) error { return r.mq.RestartProxy(ctx) }

// AwaitAcked is that of [Bus]: the broker cannot be asked.
func (r *Real) AwaitAcked(context.Context) error { return nil }

// Timing of an audit: leases of workers that are gone last as long as the
// shortest lease, and the broker may take some seconds to give out what comes
// back.
const (
	auditLease = litegrpc.MinInvisibleDuration
	slack      = 5 * time.Second
)

// Audit is that of [Bus]. It relies on what RocketMQ does with lite topics: while
// a message is un-acked, nothing behind it is given out, unless in the same
// answer. So a new consumer of the group sends one message more to each lite
// topic and receives. If it gets these and nothing else, everything before them
// was acked. To be on the safe side it then goes on until all leases of others
// must have ended.
func (r *Real) Audit(ctx context.Context, liteTopics []string) (Account, error) {
	base, err := r.config()
	if err != nil {
		return Account{}, err
	}
	c, err := litegrpc.NewConsumer(ctx, litegrpc.ConsumerConfig{Config: base, Topic: r.names.Topic, Group: r.names.Group})
	if err != nil {
		return Account{}, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	probes := make(map[string]bool, len(liteTopics))
	for _, lite := range liteTopics {
		id, err := r.Publish(ctx, lite, []byte("audit"))
		if err != nil {
			return Account{}, fmt.Errorf("audit: %w", err)
		}
		probes[id] = true
	}
	a := Account{Deliveries: -1, StaleAcks: -1}
	until := time.Now().Add(auditLease + slack)
	for len(probes) > 0 || time.Now().Before(until) {
		if err := r.look(ctx, c, probes, &a); err != nil {
			return a, fmt.Errorf("audit, %d of %d probes to come: %w", len(probes), len(liteTopics), err)
		}
	}
	return a, nil
}

// look makes one poll and acknowledges what it brings.
func (r *Real) look(ctx context.Context, c *litegrpc.Consumer, probes map[string]bool, a *Account) error {
	batch, err := c.Receive(ctx, 32, auditLease, litegrpc.MinAwaitDuration)
	if err != nil && (ctx.Err() != nil || litegrpc.ClassOf(err) == litegrpc.Permanent) {
		return err
	}
	if len(batch.Messages) == 0 {
		return nil
	}
	handles := make([]coders.ReceiptHandle, len(batch.Messages))
	for i, m := range batch.Messages {
		handles[i] = m.Handle
		if string(m.Body) == "audit" {
			delete(probes, m.Handle.MessageID)
		} else {
			a.Unacked = append(a.Unacked, m.Handle.MessageID)
		}
	}
	return errors.Join(c.Ack(ctx, r.names.Topic, handles)...)
}

// Close is that of [Bus]. The cluster goes on.
func (r *Real) Close() error {
	r.producer.Close(context.Background())
	return nil
}
