// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package asyncsink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Config says what a [Sink] writes to and how. In is what callers write, Entry
// what goes into requests, Ack what the destination says of an entry.
type Config[In, Entry, Ack any] struct {
	// Convert makes an entry of an element, on the caller's goroutine. It may
	// wait; its context is that of Write. Its error is the element's outcome.
	// Required.
	Convert func(ctx context.Context, in In) (Entry, error)
	// Size is an entry's share of a request, in bytes. Default: 0 for each.
	Size func(Entry) int
	// Lane says with which others an entry may share requests. Default: all are
	// in one lane without order.
	Lane func(Entry) Lane
	// Cut says how many of the entries at the front of a lane make the next
	// batch. What it returns is kept between 1 and the view's length. Default:
	// all of them that are shown.
	Cut func(lane Lane, front View[Entry]) int
	// Submit sends the entries, which are of one lane, and enters a verdict for
	// each; one that it leaves out is [ErrNoVerdict]. It must return soon after
	// its context has ended. Several run at the same time. Required.
	Submit func(ctx context.Context, entries []Entry, verdicts []Verdict[Ack])
	// Classify says what an error in a verdict means, see [Chain]. Default:
	// each is [Retry].
	Classify Classifier

	// MaxBatch and MaxBatchBytes bound a batch. An entry larger than that goes
	// alone. Defaults 64 and 1 MiB.
	MaxBatch, MaxBatchBytes int
	// Linger is how long an entry waits for a batch to fill. Zero or less: not at
	// all.
	Linger time.Duration
	// MaxInFlight bounds the requests, and the workers that carry them. Default 16.
	MaxInFlight int
	// MaxInFlightBytes bounds the entries of all requests together; a request that
	// is larger goes alone. A link must carry so much within RequestTimeout. Default:
	// no limit.
	MaxInFlightBytes int
	// MaxBuffered and MaxBufferedBytes bound what has been written and is not in
	// flight. Write waits while there is that much. Defaults 1000 and 64 MiB.
	MaxBuffered, MaxBufferedBytes int
	// MaxRecord is the largest size of an entry; a larger one fails with
	// [*TooLarge]. Default: no limit.
	MaxRecord int

	// RequestTimeout bounds each call of Submit. Default 30 s.
	RequestTimeout time.Duration
	// FailOnTimeout makes entries fail whose request had no answer in time,
	// instead of repeating them.
	FailOnTimeout bool
	// MaxAttempts is how often an entry is sent, the first time included, before
	// an error that may pass is its outcome. Those that [Wait] or [Congested] sent
	// back do not count. Default 4.
	MaxAttempts int
	// MaxWait is how long an entry may be put off by Wait and Congested,
	// from the first time on. Default 2 min.
	MaxWait time.Duration
	// FirstPause and LastPause are the pauses before an entry is sent again: they
	// double, with 20 % of chance in them. Defaults 100 ms and 2 s.
	FirstPause, LastPause time.Duration
	// StopOnFailure makes a writer stop at its first failure: what it has waiting
	// is not sent any more and fails with [ErrNotSent], what is in flight is not
	// repeated, and Write takes no more. For callers that will do all again.
	StopOnFailure bool

	// Strategy says how many entries may be in flight. It belongs to this sink
	// alone. Default: as many as MaxInFlight requests hold.
	Strategy Strategy
	// Observe is told of each request that has ended, on a worker's goroutine. It
	// must be quick. Default: nobody.
	Observe func(Report)
}

// Lane is what entries have in common that may share requests.
type Lane struct {
	// Key tells lanes apart.
	Key string
	// Ordered keeps the entries of the lane in order.
	Ordered bool
	// MaxBatch bounds the batches of this lane where that is less than
	// Config.MaxBatch; zero leaves it to that.
	MaxBatch int
}

// View shows the front of a lane, as much as may go into the next request.
type View[Entry any] struct {
	len   int
	entry func(int) Entry
	size  func(int) int
}

// Len is how many entries are shown, at least 1.
func (v View[Entry]) Len() int { return v.len }

// Entry is the i-th entry, from 0 on.
func (v View[Entry]) Entry(i int) Entry { return v.entry(i) }

// Size is the i-th entry's size.
func (v View[Entry]) Size(i int) int { return v.size(i) }

// Verdict is what the destination said of one entry: Ack counts if Err is nil.
type Verdict[Ack any] struct {
	Ack Ack
	Err error
}

// complete checks what was given and fills in the rest.
func (c *Config[In, Entry, Ack]) complete() error {
	if c.Convert == nil || c.Submit == nil {
		return errors.New("asyncsink: Convert and Submit are needed")
	}
	if c.Size == nil {
		c.Size = func(Entry) int { return 0 }
	}
	if c.Lane == nil {
		c.Lane = func(Entry) Lane { return Lane{} }
	}
	if c.Cut == nil {
		c.Cut = func(_ Lane, front View[Entry]) int { return front.Len() }
	}
	for _, n := range []struct {
		name  string
		value *int
		def   int
	}{
		{"MaxBatch", &c.MaxBatch, 64}, {"MaxBatchBytes", &c.MaxBatchBytes, 1 << 20}, {"MaxInFlight", &c.MaxInFlight, 16},
		{"MaxBuffered", &c.MaxBuffered, 1000}, {"MaxBufferedBytes", &c.MaxBufferedBytes, 64 << 20},
		{"MaxRecord", &c.MaxRecord, 1<<63 - 1}, {"MaxInFlightBytes", &c.MaxInFlightBytes, 1<<63 - 1}, {"MaxAttempts", &c.MaxAttempts, 4},
	} {
		if *n.value < 0 {
			return fmt.Errorf("asyncsink: %s is %d, want more than 0", n.name, *n.value)
		}
		if *n.value == 0 {
			*n.value = n.def
		}
	}
	for _, d := range []struct {
		value *time.Duration
		def   time.Duration
	}{
		{&c.RequestTimeout, 30 * time.Second}, {&c.MaxWait, 2 * time.Minute},
		{&c.FirstPause, 100 * time.Millisecond}, {&c.LastPause, 2 * time.Second},
	} {
		if *d.value <= 0 {
			*d.value = d.def
		}
	}
	if c.Strategy == nil {
		c.Strategy = NewFixed(c.MaxInFlight * c.MaxBatch)
	}
	return nil
}

// pause is how long to wait before the n-th repetition, from 1 on.
func (c *Config[In, Entry, Ack]) pause(n int) time.Duration {
	pauses := &backoff.ExponentialBackOff{
		InitialInterval: min(c.FirstPause, c.LastPause), RandomizationFactor: 0.2, Multiplier: 2, MaxInterval: c.LastPause,
	}
	pauses.Reset()
	const enough = 64 // doublings; the longest pause is long reached
	for range min(n, enough) - 1 {
		pauses.NextBackOff()
	}
	return pauses.NextBackOff()
}
