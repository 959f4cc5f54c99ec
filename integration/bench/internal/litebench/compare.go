// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litebench

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
)

// WarmUp is the name of the leg that is not timed. It needs a main topic and a
// group of its own.
const WarmUp = "warm-up"

// Comparison says how the two sides are compared.
type Comparison struct {
	// Name begins the names of the legs, which then share a topic and what lies in
	// it, each with a group of its own: a broker keeps a file open for each lite
	// topic. Without a name each leg has a topic of its own.
	Name string
	Load Load
	// Endpoints are those of a server where the topics and groups of Legs exist.
	Endpoints string
	Pairs     int
	// Runner runs the pipeline legs; nil for prism in this process.
	Runner Runner
	// Around is called around each timed leg of the pipeline, for profiles. May
	// be nil.
	Around func(leg func() error) error
	// Log is told of progress.
	Log *slog.Logger

	legs   map[comparison.Side]*Leg // of the pair under way
	loaded *Leg                     // the one that loaded what all share
}

// Legs are the names of the legs: each needs its [Topic] and a [Group] of its own
// that is bound to it before it begins.
func (c *Comparison) Legs() []string {
	var names []string
	for i := range c.Pairs {
		for _, side := range comparison.Order(i) {
			names = append(names, c.legName(i, side))
		}
	}
	return names
}

func (c *Comparison) legName(pair int, side comparison.Side) string {
	name := fmt.Sprintf("%d-%v", pair+1, side)
	if c.Name != "" {
		name = c.Name + "-" + name
	}
	return name
}

// WarmUp runs a raw leg that is not timed, for a JVM is slow at first.
func (c *Comparison) WarmUp(ctx context.Context) error {
	l := NewLeg(c.Load, c.Endpoints, WarmUp)
	if err := c.prepare(ctx, l); err != nil {
		return err
	}
	_, err := l.Run(ctx, comparison.Raw)
	return err
}

// Compare runs the pairs of legs.
func (c *Comparison) Compare(ctx context.Context) ([]comparison.Pair, error) {
	return comparison.Alternate(c.Pairs, func(pair int, side comparison.Side) (comparison.Run, error) {
		if side == comparison.Order(pair)[0] { // both are loaded first, so that the runs follow each other closely
			if err := c.preparePair(ctx, pair); err != nil {
				return comparison.Run{}, err
			}
		}
		return c.timed(ctx, c.legs[side], side)
	})
}

func (c *Comparison) preparePair(ctx context.Context, pair int) error {
	c.legs = make(map[comparison.Side]*Leg)
	for _, side := range comparison.Order(pair) {
		c.legs[side] = NewLeg(c.Load, c.Endpoints, c.legName(pair, side))
		c.legs[side].Runner = c.Runner
		if c.Name != "" && c.loaded != nil {
			c.legs[side].ids = c.loaded.ids
			continue
		}
		c.loaded = c.legs[side]
		if err := c.prepare(ctx, c.legs[side]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Comparison) prepare(ctx context.Context, l *Leg) error {
	begin := time.Now()
	if err := l.Preload(ctx); err != nil {
		return err
	}
	c.Log.Info("loaded", "leg", l.Name, "messages", l.Messages, "per second", int(float64(l.Messages)/time.Since(begin).Seconds()))
	return nil
}

func (c *Comparison) timed(ctx context.Context, l *Leg, side comparison.Side) (run comparison.Run, err error) {
	leg := func() error {
		run, err = l.Run(ctx, side)
		return err
	}
	if side == comparison.Pipeline && c.Around != nil {
		err = c.Around(leg)
	} else {
		err = leg()
	}
	if err == nil {
		c.Log.Info("acknowledged", "leg", l.Name, "per second", int(run.PerSecond()))
	}
	return run, err
}
