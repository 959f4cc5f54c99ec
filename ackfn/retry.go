// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
)

// retry holds what one request may still spend. Errors that may pass and flow
// control have budgets of their own: a server that is busy for a while must not
// use up the attempts that are meant for one that is broken.
type retry struct {
	attemptsLeft int
	throttleLeft time.Duration

	transient, throttled *backoff.ExponentialBackOff
	wait                 func(context.Context, time.Duration) error

	sent          int           // requests sent
	repeated      int           // of these, after a failure
	throttledTime time.Duration // spent waiting because of flow control
}

func (c *Client) newRetry() *retry {
	return &retry{
		attemptsLeft: c.settings.MaxAttempts, throttleLeft: c.settings.FlowControl, wait: c.wait,
		transient: pauses(100*time.Millisecond, 5*time.Second),
		throttled: pauses(50*time.Millisecond, 2*time.Second),
	}
}

func pauses(first, last time.Duration) *backoff.ExponentialBackOff {
	b := &backoff.ExponentialBackOff{InitialInterval: first, RandomizationFactor: 0.2, Multiplier: 2, MaxInterval: last}
	b.Reset()
	return b
}

// again waits before the next attempt and says whether there may be one. class
// is that of the last failure.
func (r *retry) again(ctx context.Context, class litegrpc.Class) bool {
	if class == litegrpc.Throttled {
		pause := min(r.throttled.NextBackOff(), r.throttleLeft)
		if pause <= 0 {
			return false
		}
		r.throttleLeft -= pause
		r.throttledTime += pause
		if r.wait(ctx, pause) != nil {
			return false
		}
	} else {
		r.attemptsLeft--
		if r.attemptsLeft <= 0 || r.wait(ctx, r.transient.NextBackOff()) != nil {
			return false
		}
	}
	r.repeated++
	return true
}

// sleep waits for d and returns early, with its error, when ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
