// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
)

// receive is one worker: it polls whenever the queue has room, until ctx ends.
func (f *fetcher) receive(ctx context.Context) {
	pause := &backoff.ExponentialBackOff{
		InitialInterval: 100 * time.Millisecond, Multiplier: 2, RandomizationFactor: 0.2, MaxInterval: 30 * time.Second,
	}
	pause.Reset()
	for f.queue.awaitRoom(ctx) {
		batch, err := f.consumer.Receive(ctx, f.cfg.MaxMessageNum, f.cfg.InvisibleDuration, f.await())
		f.take(batch, err)
		if err == nil {
			pause.Reset()
			continue
		}
		if ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause.NextBackOff()):
		}
	}
}

// await is how long one poll waits. With more brokers than workers it is the
// shorter, so that a message at the broker polled last need not wait for the
// long polls at all the others.
func (f *fetcher) await() time.Duration {
	brokers, workers := f.consumer.Brokers(), f.cfg.FetchConcurrency
	if brokers <= workers {
		return f.cfg.AwaitDuration
	}
	return max(f.cfg.AwaitDuration*time.Duration(workers)/time.Duration(brokers), litegrpc.MinAwaitDuration)
}

// take queues what a poll brought, also together with an error: it is leased to
// us.
func (f *fetcher) take(batch litegrpc.Batch, err error) {
	now := time.Now()
	f.queue.push(now, batch.Messages...)
	f.stats.received.Add(int64(len(batch.Messages)))
	f.stats.corrupt.Add(int64(len(batch.Corrupt)))
	for _, c := range batch.Corrupt {
		f.log.Error("a message arrived damaged; it comes back, and ends in the dead-letter queue if it stays so",
			"message", c.Handle.String(), "error", c.Err)
	}
	if err != nil {
		f.stats.receiveFailed.Add(1)
		f.health.Failed(now, err, litegrpc.ClassOf(err) == litegrpc.Permanent)
		return
	}
	f.health.Answered(now)
	attempts := make([]int32, len(batch.Messages))
	for i, m := range batch.Messages {
		attempts[i] = m.Handle.DeliveryAttempt
	}
	f.again.count(attempts)
}
