// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package fairshare

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/semaphore"
)

func TestWorkHasTheCapacityOfItsSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slots, messages, took = 4, 40, 25 * time.Millisecond
		s := semaphore.NewWeighted(slots)
		start := time.Now()
		var group sync.WaitGroup
		for range messages {
			group.Go(func() {
				if err := work(t.Context(), s, took); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if got, want := time.Since(start), messages/slots*took; got != want {
			t.Errorf("took %v, want %v", got, want)
		}
	})
}

func TestWorkEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("bundle is over")
		ctx, cancel := context.WithCancelCause(t.Context())
		s := semaphore.NewWeighted(1)
		errs := make(chan error, 2)
		for range 2 { // one works, one waits
			go func() { errs <- work(ctx, s, time.Hour) }()
		}
		synctest.Wait()
		cancel(reason)
		for range 2 {
			if err := <-errs; !errors.Is(err, reason) {
				t.Errorf("got %v, want %v", err, reason)
			}
		}
		if !s.TryAcquire(1) {
			t.Error("the slot was not given back")
		}
	})
}
