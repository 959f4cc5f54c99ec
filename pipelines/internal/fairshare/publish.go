// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package fairshare

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/load"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/stats"
)

const (
	// publishers is how many messages are sent at the same time.
	publishers = 16
	// sendTries is how often one is sent before the leg gives up.
	sendTries = 8
)

// body is what every message carries.
var body = bytes.Repeat([]byte("fairshare message body. "), 11)[:256]

// sender publishes messages of one leg and enters them in its books.
type sender struct {
	producer *litegrpc.Producer
	books    *stats.Ledger
	warmUp   bool
}

func (s *sender) send(ctx context.Context, e load.Event) error {
	m := litegrpc.Outgoing{LiteTopic: e.LiteTopic, Body: body, ID: s.producer.NewMessageID()}
	s.books.Publish(m.ID, s.class(e), time.Now())
	// The id stays the same over the tries: a message that was stored although
	// its answer was lost is then delivered twice and counted once.
	_, err := backoff.Retry(ctx, func() (litegrpc.Sent, error) {
		sent, err := s.producer.Send(ctx, m)
		if err != nil && litegrpc.ClassOf(err) == litegrpc.Permanent {
			err = backoff.Permanent(err)
		}
		return sent, err
	}, backoff.WithBackOff(backoff.NewExponentialBackOff()), backoff.WithMaxTries(sendTries))
	if err != nil {
		return fmt.Errorf("publishing: %w", err)
	}
	return nil
}

func (s *sender) class(e load.Event) stats.Class {
	switch {
	case s.warmUp:
		return stats.WarmUp
	case e.Noisy:
		return stats.Noisy
	}
	return stats.Calm
}
