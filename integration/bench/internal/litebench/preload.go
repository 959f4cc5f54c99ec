// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litebench

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
)

// senders is how many sends are under way at a time.
const senders = 32

// Preload stores the leg's messages.
func (l *Leg) Preload(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, legTimeout)
	defer cancel()
	endpoints, err := litegrpc.ParseEndpoints(l.Endpoints)
	if err != nil {
		return err
	}
	p, err := litegrpc.NewProducer(ctx, litegrpc.ProducerConfig{Config: litegrpc.Config{Endpoints: endpoints, RequestTimeout: 10 * time.Second}, Topic: Topic(l.Name)})
	if err != nil {
		return fmt.Errorf("loading topic %q: %w", Topic(l.Name), err)
	}
	defer p.Close(context.WithoutCancel(ctx))
	body := make([]byte, l.Body)
	group, sending := errgroup.WithContext(ctx)
	group.SetLimit(senders)
	for i := range l.Messages {
		if sending.Err() != nil {
			break
		}
		group.Go(func() error {
			return send(sending, p, litegrpc.Outgoing{ID: l.ids.of(i), LiteTopic: fmt.Sprintf("lite-%d", i%l.LiteTopics), Body: body})
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("loading topic %q: %w", Topic(l.Name), err)
	}
	return ctx.Err()
}

// send sends a message again only if the broker refused it for being busy: any
// other failure may have stored it, and a second copy would spoil the count.
func send(ctx context.Context, p *litegrpc.Producer, m litegrpc.Outgoing) error {
	const pause = 20 * time.Millisecond
	for {
		_, err := p.Send(ctx, m)
		if err == nil || litegrpc.ClassOf(err) != litegrpc.Throttled {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
