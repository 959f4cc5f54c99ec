// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"sync"
	"time"
)

// Publish calls send for each event when it is due, from up to parallel
// goroutines, and returns when all calls have returned. An event that is late,
// because all goroutines are busy, is sent at once, not left out. It ends early,
// with the first error, when send fails, and with the cause of ctx when that
// ends.
func Publish(ctx context.Context, events []Event, parallel int, send func(context.Context, Event) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	due := make(chan Event)
	var senders sync.WaitGroup
	for range parallel {
		senders.Go(func() {
			for e := range due {
				if ctx.Err() != nil {
					continue // let the pace go on to see it
				}
				if err := send(ctx, e); err != nil {
					stop(err)
				}
			}
		})
	}
	pace(ctx, events, due)
	close(due)
	senders.Wait()
	return context.Cause(ctx)
}

// pace hands out each event when it is due.
func pace(ctx context.Context, events []Event, due chan<- Event) {
	start := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for _, e := range events {
		timer.Reset(e.At - time.Since(start))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		select {
		case due <- e:
		case <-ctx.Done():
			return
		}
	}
}
