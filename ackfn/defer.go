// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"context"
	"fmt"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
)

// Deferral asks for a later delivery of one message.
type Deferral struct {
	// Handle is the latest handle of the message.
	Handle coders.ReceiptHandle
	// For is how long the message stays invisible, from now; more than zero, at
	// most 12 hours.
	For time.Duration
	// Suspend asks the broker not to count the next delivery as an attempt.
	// Brokers before 5.5 ignore it. RocketMQ 5.5 suspends the whole lite topic:
	// all messages of it that were delivered together get the new end of lease,
	// also those that are being worked on. So ask for it only if the lease
	// becomes longer by it, or none of the others is in work.
	Suspend bool
}

// MaxDeferral is the longest lease that a broker grants: 12 hours.
const MaxDeferral = litegrpc.MaxInvisibleDuration

// ChangeInvisibleDuration is [Client.Defer] for one message, with suspend left
// off.
func (c *Client) ChangeInvisibleDuration(ctx context.Context, h coders.ReceiptHandle, d time.Duration) (Result, error) {
	results, err := c.Defer(ctx, Deferral{Handle: h, For: d})
	if len(results) == 0 {
		return Result{Handle: h}, err
	}
	return results[0], err
}

// Defer makes messages visible again only after a while and returns one result
// each, in their order. The handle of a result with outcome [Deferred] is a new
// one, and the one to use from then on. Each deferral is a request of its own;
// they are sent in parallel, as many at a time as [MaxInFlight] allows.
//
// Outcomes and the error are as with [Client.Ack]; after a failure, the result
// holds the old handle. A retry is made with the same handle and the same
// duration, so that a request whose answer was lost may count from a little
// later.
func (c *Client) Defer(ctx context.Context, deferrals ...Deferral) ([]Result, error) {
	if c.closed.Load() {
		return nil, ErrClosed
	}
	results := make([]Result, len(deferrals))
	verdicts := make([]verdict, len(deferrals))
	took := make([]time.Duration, len(deferrals))
	before := c.Stats()
	c.each(len(deferrals), func(i int) {
		begin := time.Now()
		results[i], verdicts[i] = c.deferOne(ctx, &deferrals[i])
		took[i] = time.Since(begin)
	})
	var failures failure
	for i := range results {
		failures.add(verdicts[i].err)
	}
	recordDeferrals(ctx, results, took, c.Stats().minus(before))
	failures.record(ctx)
	return results, failures.err()
}

func (c *Client) deferOne(ctx context.Context, d *Deferral) (Result, verdict) {
	r := c.newRetry()
	defer c.stats.add(r)
	h, v := d.Handle, verdict{class: litegrpc.Permanent}
	if v.err = checkHandle(&d.Handle); v.err != nil {
		return Result{Handle: h, Detail: v.err.Error()}, v
	}
	if d.For <= 0 || d.For > MaxDeferral {
		v.err = &Error{Handle: h, Permanent: true, Err: fmt.Errorf("deferral by %v is out of range: want more than 0, at most %v", d.For, MaxDeferral)}
		return Result{Handle: h, Detail: v.err.Error()}, v
	}
	for {
		var err error
		began := time.Now()
		h, err = c.deferOnce(ctx, d)
		r.sent++
		c.hear(began, routeOf(&d.Handle), err)
		v = judge(err, Deferred)
		if !v.retriable() || !r.again(ctx, v.class) {
			break
		}
	}
	res := Result{Handle: h, Outcome: v.outcome}
	if v.outcome == Failed {
		v.err = giveUp(ctx, &d.Handle, &v, r.sent, v.err)
	}
	if v.err != nil {
		res.Detail = v.err.Error()
	}
	return res, v
}

func (c *Client) deferOnce(ctx context.Context, d *Deferral) (coders.ReceiptHandle, error) {
	session, release, err := c.settings.session(ctx, routeOf(&d.Handle))
	if err != nil {
		return d.Handle, err
	}
	defer release()
	return session.ChangeInvisible(ctx, d.Handle, litegrpc.Deferral{For: d.For, Suspend: d.Suspend})
}

// minus is what was done since an earlier look.
func (s Stats) minus(o Stats) Stats {
	return Stats{Requests: s.Requests - o.Requests, Retried: s.Retried - o.Retried, Throttled: s.Throttled - o.Throttled}
}
