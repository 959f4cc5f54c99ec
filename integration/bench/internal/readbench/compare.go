// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package readbench

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
	// ClientGo runs rocketmq-client-go; nil leaves it out.
	ClientGo *ClientGoProgram
	// Around is called around each leg of the pipeline, for profiles. May be nil.
	Around func(leg func() error) error
	// Log is told of progress.
	Log *slog.Logger
}

// order is the order of a round, counted from 0. The pipeline always runs beside
// the raw loop, before it and after it in turn, and client-go on the raw loop's
// other side.
func (c *Comparison) order(round int) []Side {
	sides := []Side{ClientGo, Raw, Pipeline, Limit}
	if c.ClientGo == nil {
		sides = sides[1:]
	}
	if round%2 == 1 {
		slices.Reverse(sides)
	}
	return sides
}

// Round is one run of each program, one right after the other.
type Round struct {
	Order []Side
	Legs  map[Side]Leg
}

// Compare runs the rounds on one backlog. A raw leg that is not counted comes
// first, for a JVM is slow at first.
func (c *Comparison) Compare(ctx context.Context, b *Backlog) ([]Round, error) {
	if _, err := c.Run(ctx, b, Raw); err != nil {
		return nil, err
	}
	var rounds []Round
	for i := range c.Rounds {
		r := Round{Order: c.order(i), Legs: map[Side]Leg{}}
		for _, side := range r.Order {
			leg, err := c.around(ctx, b, side)
			if err != nil {
				return rounds, err
			}
			c.Log.Info("read", "topic", b.Topic, "round", i+1, "by", side, "per second", int(leg.PerSecond()),
				"CPU seconds per million", comparison.Round(leg.CPUMicros(), 2), "begun after", leg.Start.Round(time.Millisecond))
			r.Legs[side] = leg
		}
		rounds = append(rounds, r)
	}
	return rounds, nil
}

func (c *Comparison) around(ctx context.Context, b *Backlog, side Side) (leg Leg, err error) {
	run := func() error {
		leg, err = c.Run(ctx, b, side)
		return err
	}
	if side != Pipeline || c.Around == nil {
		return leg, run()
	}
	return leg, c.Around(run)
}
