// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"context"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
)

func init() { register.Function1x1(RenewWhileQueued) }

// mostQueued bounds how long [RenewWhileQueued] keeps a message: a process that
// cannot emit for so long had better let others have it.
const mostQueued = 30 * time.Minute

// RenewWhileQueued is a policy for [ReadRenewal]: it renews by the invisible
// duration, until a message has waited for 30 minutes.
func RenewWhileQueued(q Queued) time.Duration {
	if time.Since(q.Since) >= mostQueued {
		return 0
	}
	return q.InvisibleDuration
}

func renewalPolicy(fn *beam.EncodedFunc) func(Queued) time.Duration {
	return func(q Queued) time.Duration { return fn.Fn.Call([]any{q})[0].(time.Duration) }
}

// keepLeases renews what waits in the queue shortly before its lease ends,
// until ctx ends. A message that is being renewed does not leave the queue, so
// that the handle which travels is the one that counts.
func (f *fetcher) keepLeases(ctx context.Context) {
	for {
		due, next := f.queue.borrow(time.Now().Add(f.cfg.RenewalAhead))
		f.renewAll(ctx, due)
		wake := f.cfg.InvisibleDuration - f.cfg.RenewalAhead // nothing that arrives from now on is due sooner
		if !next.IsZero() {
			wake = min(wake, time.Until(next)-f.cfg.RenewalAhead)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(wake, f.cfg.RenewalAhead/10)):
		}
	}
}

func (f *fetcher) renewAll(ctx context.Context, due []waiting) {
	const atOnce = 16
	slots := make(chan struct{}, atOnce)
	var group sync.WaitGroup
	for _, w := range due {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			f.renewOne(ctx, w)
		})
	}
	group.Wait()
}

// renewOne asks the policy, then the broker. If either says no, the message
// keeps its handle and what is left of its lease.
func (f *fetcher) renewOne(ctx context.Context, w waiting) {
	d := f.askPolicy(w)
	if d <= 0 {
		f.queue.giveBack(w.Handle.MessageID, w.Handle, w.Handle, false)
		return
	}
	h, err := f.consumer.ChangeInvisible(ctx, w.Handle, litegrpc.Deferral{For: min(d, litegrpc.MaxInvisibleDuration)})
	f.queue.giveBack(w.Handle.MessageID, w.Handle, h, err == nil)
	if err != nil {
		f.stats.renewFailed.Add(1)
		f.log.Info("renewing a queued message", "error", err)
		return
	}
	f.stats.renewed.Add(1)
}

// askPolicy asks the user's policy. One that panics lets the lease end: it must
// not take the worker with it.
func (f *fetcher) askPolicy(w waiting) (d time.Duration) {
	defer func() {
		if r := recover(); r != nil {
			f.log.Error("the renewal policy panics", "cause", r, "message", w.Handle.String())
			d = 0
		}
	}()
	return f.renew(Queued{Message: w.AckableMessage, Since: w.since, Renewed: w.renewed, InvisibleDuration: f.cfg.InvisibleDuration})
}
