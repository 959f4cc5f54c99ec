// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/beamlog"
	"github.com/rocketmq-beam/rocketmq-beam/internal/health"
)

// Client acknowledges and defers messages from a user's own DoFn.
//
// A Client is cheap: it owns no connection. Sessions are shared by the whole
// process, one for each routing triple of the handles (endpoints, namespace,
// consumer group) and configuration; they are opened on first use, held during
// a call only, and closed when nobody has used them for 30 s. So a Client may
// be acquired in Setup, per bundle or even per element, and a bundle that fails
// without FinishBundle leaks nothing.
//
// Its methods may be called from many goroutines. Beam's metrics may not: call
// them with a bundle's context only from the goroutine of that bundle, and with
// another context (context.WithoutCancel does not suffice) from elsewhere.
type Client struct {
	settings settings
	wait     func(context.Context, time.Duration) error // a pause between attempts; tests replace it
	closed   atomic.Bool
	stats    stats
	log      *slog.Logger
	quiet    health.Silence
}

// Acquire makes a client. It opens nothing, so its only errors are those of the
// options, each naming the option and its value.
func Acquire(_ context.Context, opts ...Option) (*Client, error) {
	s, err := resolve(opts)
	if err != nil {
		return nil, fmt.Errorf("ackfn.Acquire: %w", err)
	}
	return newClient(s), nil
}

func newClient(s settings) *Client {
	return &Client{settings: s, wait: sleep, log: beamlog.Logger("rocketmq.ackfn")}
}

// Close ends the use of the client; later calls fail with [ErrClosed], calls
// under way go on. Shared sessions live on for those who use them.
func (c *Client) Close() { c.closed.Store(true) }

// ErrClosed is returned by a client that was closed.
var ErrClosed = errors.New("ackfn: the client is closed")

// Stats is what a client did since it was acquired.
type Stats struct {
	// Requests sent, retries included.
	Requests int64
	// Retried is how many of them repeated a failed one.
	Retried int64
	// Throttled is the time spent waiting because the server asked for it,
	// summed over requests that waited at the same time.
	Throttled time.Duration
}

type stats struct{ requests, retried, throttled atomic.Int64 }

func (s *stats) add(r *retry) {
	s.requests.Add(int64(r.sent))
	s.retried.Add(int64(r.repeated))
	s.throttled.Add(int64(r.throttledTime))
}

// Stats returns what the client did so far.
func (c *Client) Stats() Stats {
	return Stats{Requests: c.stats.requests.Load(), Retried: c.stats.retried.Load(), Throttled: time.Duration(c.stats.throttled.Load())}
}

// Ack acknowledges deliveries and returns one result a handle, in their order.
// It returns when each has its outcome: handles of one topic and group share
// requests, which are sent in parallel and repeated as the options say.
//
// An expired or malformed handle is an outcome, not an error. The error, an
// [*Error], is for handles whose outcome is [Failed]: what was wrong could not
// be retried, or not often enough, or ctx ended. The other results hold even
// then. Acknowledging twice is harmless.
func (c *Client) Ack(ctx context.Context, handles ...coders.ReceiptHandle) ([]Result, error) {
	if c.closed.Load() {
		return nil, ErrClosed
	}
	results := make([]Result, len(handles))
	var failures failure
	batches := c.split(handles, results, &failures)
	c.each(len(batches), func(i int) { c.sendAcks(ctx, batches[i]) })
	for _, b := range batches {
		b.record(ctx)
		for i, at := range b.index {
			results[at] = b.result(i)
			failures.add(b.verdicts[i].err)
		}
	}
	failures.record(ctx)
	return results, failures.err()
}

// split makes batches of the handles, and a failure of each that cannot be sent.
func (c *Client) split(handles []coders.ReceiptHandle, results []Result, failures *failure) []*batch {
	var batches []*batch
	open := make(map[route]*batch, 1)
	for i, h := range handles {
		if err := checkHandle(&h); err != nil {
			results[i] = Result{Handle: h, Detail: err.Error()}
			failures.add(err)
			continue
		}
		r := routeOf(&h)
		b := open[r]
		if b == nil {
			b = &batch{route: r}
			open[r] = b
			batches = append(batches, b)
		}
		b.handles = append(b.handles, h)
		b.index = append(b.index, i)
		if len(b.handles) == c.settings.BatchSize {
			delete(open, r)
		}
	}
	return batches
}

// each runs do for 0 to n-1, as many at a time as may be in flight, and returns
// when all are done.
func (c *Client) each(n int, do func(int)) {
	if n == 1 {
		do(0)
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, c.settings.MaxInFlight) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}
