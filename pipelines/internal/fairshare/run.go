// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package fairshare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/load"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/report"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/stats"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/follow"
)

// ErrInterrupted is returned by [Run] when its context ended first.
var ErrInterrupted = errors.New("interrupted")

// LostError is returned by [Run] when messages were published and not
// acknowledged in time.
type LostError struct {
	Leg  string
	Lost int
	// IDs are some of them.
	IDs []string
	// After is how long they were waited for.
	After time.Duration
}

// Error names the leg and some messages.
func (e *LostError) Error() string {
	return fmt.Sprintf("leg %s: %d messages were not acknowledged within %v (--drain-timeout) after the load, such as %s",
		e.Leg, e.Lost, e.After, strings.Join(e.IDs, ", "))
}

// Run runs the legs one after another and reports to out: live lines, a table,
// the place of the plot, and one line of JSON. When ctx ends it stops within
// seconds, reports what was reached, and returns [ErrInterrupted].
func Run(ctx context.Context, o Options, out io.Writer) error {
	if err := o.Check(); err != nil {
		return err
	}
	introduce(out, o)
	legs, err := runLegs(ctx, o, out)
	return errors.Join(err, conclude(out, legs, o.Plot, err))
}

// runLegs returns the legs that were begun, also with an error.
func runLegs(ctx context.Context, o Options, out io.Writer) ([]report.Leg, error) {
	if o.Endpoints == "" {
		broker, err := startEmbedded(context.WithoutCancel(ctx), o.Topic, o.Group)
		if err != nil {
			return nil, err
		}
		defer broker.Close()
		o.Endpoints = broker.Endpoints()
	}
	producer, err := o.connect(ctx)
	if err != nil {
		return nil, follow.Interrupted(ctx, ErrInterrupted, err)
	}
	defer leave(ctx, producer)
	server, err := o.Runner.Open(ctx)
	if err != nil {
		return nil, follow.Interrupted(ctx, ErrInterrupted, err)
	}
	defer server.Close()
	r := &runner{options: o, producer: producer, server: server, live: report.NewLive(out)}
	return r.legs(ctx)
}

// conclude reports the legs that were begun, and how they ended.
func conclude(out io.Writer, legs []report.Leg, plot string, why error) error {
	end := endOf(why)
	if len(legs) == 0 {
		return report.JSON(out, legs, end)
	}
	interrupted := end == report.Interrupted
	fmt.Fprintln(out)
	faults := []error{report.Table(out, legs, interrupted)}
	if err := report.Plot(plot, legs); err != nil {
		faults = append(faults, err)
	} else {
		fmt.Fprintf(out, "plot: %s\n", plot)
	}
	return errors.Join(append(faults, report.JSON(out, legs, end))...)
}

// endOf says how a run ended: one that lost messages has come to its end, too.
func endOf(err error) report.End {
	_, lost := errors.AsType[*LostError](err)
	switch {
	case err == nil || lost:
		return report.Complete
	case errors.Is(err, ErrInterrupted):
		return report.Interrupted
	}
	return report.Aborted
}

// runner runs legs against one cluster.
type runner struct {
	options  Options
	producer *litegrpc.Producer
	server   *portable.Server
	live     *report.Live
}

func (r *runner) legs(ctx context.Context) ([]report.Leg, error) {
	plan := load.Plan(r.options.Load)
	var done []report.Leg
	for _, name := range r.options.Legs {
		l, err := r.leg(ctx, name, plan)
		if l != nil {
			done = append(done, *l)
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// leg runs one leg. What it measured comes back also with an error, once the
// load has begun.
func (r *runner) leg(ctx context.Context, name string, plan []load.Event) (*report.Leg, error) {
	job, err := r.startJob(ctx, name)
	if err != nil {
		return nil, err
	}
	defer ackfn.Shutdown()
	defer litegrpcio.Shutdown() // when the job has ended
	defer job.stop()
	// From here on the context ends when the job does, with its error.
	err = r.warmUp(job.ctx, job.books)
	if err != nil {
		return nil, job.verdict(ctx, err)
	}
	err = r.measure(job.ctx, name, plan, job.books)
	err = job.verdict(ctx, err)
	result := &report.Leg{Name: name, Summary: job.books.Summary(), Points: job.books.Points()}
	return result, err
}

// How long the warm-up may take beyond a lease, and when it says that it waits.
// A real broker may deliver to a new consumer after some ten seconds only, and
// lite topics in which an interrupted run held messages stand still until those
// leases end.
const (
	warmUpSlack = 30 * time.Second
	warmUpQuiet = 10 * time.Second
)

// warmUp sends a message through every lite topic and the whole pipeline, and
// waits for them, so that opening sessions and subscriptions is not measured.
func (r *runner) warmUp(ctx context.Context, books *stats.Ledger) error {
	s := &sender{producer: r.producer, books: books, warmUp: true}
	const belowQuota = 0.7 // windows and pace do not keep step
	if err := load.Publish(ctx, load.WarmUp(r.options.Load, belowQuota*r.options.QuotaRate()), publishers, s.send); err != nil {
		return err
	}
	soon, done := context.WithTimeout(ctx, warmUpQuiet)
	err := books.AwaitAcks(soon)
	done()
	if err == nil || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	most := r.options.InvisibleDuration + warmUpSlack
	r.live.Note("waiting, up to %v, for the first messages: lite topics stand still while an earlier run's leases last", most)
	ctx, done = context.WithTimeoutCause(ctx, most, fmt.Errorf(
		"no leg can begin: the first messages were not delivered and acknowledged within %v: do other consumers of group %q receive them?",
		most, r.options.Group))
	defer done()
	return books.AwaitAcks(ctx)
}

// measure publishes the load and waits until all of it is acknowledged.
func (r *runner) measure(ctx context.Context, name string, plan []load.Event, books *stats.Ledger) error {
	books.Start(time.Now())
	r.live.Head()
	showing, stop := context.WithCancel(ctx)
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		r.show(showing, name, books)
	}()
	defer func() {
		stop()
		<-shown
	}()
	s := &sender{producer: r.producer, books: books}
	if err := load.Publish(ctx, plan, publishers, s.send); err != nil {
		return err
	}
	timeout := r.options.DrainTimeout
	ctx, done := context.WithTimeout(ctx, timeout)
	defer done()
	err := books.AwaitAcks(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		const some = 5
		return &LostError{Leg: name, Lost: books.Summary().Lost, IDs: books.Missing(some), After: timeout}
	}
	return err
}

// show prints a line a second, and a last one at the end.
func (r *runner) show(ctx context.Context, name string, books *stats.Ledger) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			r.live.Show(name, books.Tick(now))
		case <-ctx.Done():
			r.live.Show(name, books.Tick(time.Now()))
			r.live.End()
			return
		}
	}
}
