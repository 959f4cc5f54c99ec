// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package fairshare

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"
)

// work waits for a slot and holds it for a while.
func work(ctx context.Context, slots *semaphore.Weighted, took time.Duration) error {
	if err := slots.Acquire(ctx, 1); err != nil {
		return context.Cause(ctx)
	}
	defer slots.Release(1)
	timer := time.NewTimer(took)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
