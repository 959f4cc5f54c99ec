// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package writebench

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
)

// Comparison says how the programs are compared.
type Comparison struct {
	// Rounds is how often each of them runs.
	Rounds int
	Settings
	// Around is called around each leg of the pipeline, for profiles. May be nil.
	Around func(leg func() error) error
	// Log is told of progress.
	Log *slog.Logger
}

// Round is one run of each program, one right after the other.
type Round struct {
	Order []Side
	Legs  map[Side]Leg
}

// order is the order of a round, counted from 0. The pipeline always runs beside
// the batches, after them and before them in turn.
func (c *Comparison) order(round int) []Side {
	sides := []Side{ClientGo, Async, Batch, Pipeline}
	if c.ClientGo == nil {
		sides = sides[1:]
	}
	if round%2 == 1 {
		slices.Reverse(sides)
	}
	return sides
}

// Compare finds out how many requests in flight suit the raw programs best, and
// runs the rounds.
func (c *Comparison) Compare(ctx context.Context, t *Target) ([]Round, error) {
	if err := c.sweep(ctx, t); err != nil {
		return nil, err
	}
	var rounds []Round
	for i := range c.Rounds {
		r := Round{Order: c.order(i), Legs: map[Side]Leg{}}
		for _, side := range r.Order {
			leg, err := c.around(ctx, t, side)
			if err != nil {
				return rounds, err
			}
			c.Log.Info("written", "round", i+1, "by", side, "per second", int(leg.PerSecond()), "CPU seconds per million", comparison.Round(leg.CPUMicros(), 2),
				"failed", leg.Failed, "stored again", leg.Again, "took", leg.Elapsed.Round(time.Millisecond))
			r.Legs[side] = leg
		}
		rounds = append(rounds, r)
	}
	return rounds, nil
}

func (c *Comparison) around(ctx context.Context, t *Target, side Side) (leg Leg, err error) {
	run := func() error {
		leg, err = t.Run(ctx, side, &c.Settings)
		return err
	}
	if side != Pipeline || c.Around == nil {
		return leg, run()
	}
	return leg, c.Around(run)
}

// The numbers of requests in flight that are tried.
var (
	asyncSteps = []int{16, 64, 256, 1000}
	batchSteps = []int{1, 2, 4, 8, 16}
)

// sweepPart is which part of the load each step writes.
const sweepPart = 4

// sweep tries numbers of requests in flight, unless they were given, and keeps
// those with which most messages a second are stored. What it writes first warms
// up the broker and does not count.
func (c *Comparison) sweep(ctx context.Context, t *Target) error {
	s := c.Settings
	s.Load.Messages = max(s.Load.Messages/sweepPart, 1)
	s.AsyncInFlight, s.BatchInFlight = 64, 4
	for _, side := range []Side{Batch, Async, Pipeline} {
		if _, err := t.Run(ctx, side, &s); err != nil {
			return err
		}
	}
	for _, of := range []struct {
		side       Side
		steps      []int
		set, taken *int
	}{{Async, asyncSteps, &s.AsyncInFlight, &c.AsyncInFlight}, {Batch, batchSteps, &s.BatchInFlight, &c.BatchInFlight}} {
		if *of.taken > 0 {
			continue
		}
		best := -1.0
		for _, *of.set = range of.steps {
			leg, err := t.Run(ctx, of.side, &s)
			if err != nil {
				return err
			}
			c.Log.Info("tried", "by", of.side, "in flight", *of.set, "per second", int(leg.PerSecond()), "failed", leg.Failed)
			if leg.PerSecond() > best {
				best, *of.taken = leg.PerSecond(), *of.set
			}
		}
	}
	return nil
}
