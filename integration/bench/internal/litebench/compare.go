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

const warmUp = "warm-up"

func legName(pair int, side comparison.Side) string { return fmt.Sprintf("%d-%v", pair+1, side) }

// LegNames are the names of the legs of a comparison: each needs a main topic
// and a group of its own before it begins.
func LegNames(pairs int) []string {
	names := []string{warmUp}
	for i := range pairs {
		for _, side := range comparison.Order(i) {
			names = append(names, legName(i, side))
		}
	}
	return names
}

// Around is called around each timed leg of the pipeline, for profiles.
type Around func(leg func() error) error

// Compare runs pairs of legs on a server where the topics and groups of
// [LegNames] exist. A raw leg that is not timed comes first, for a JVM is slow
// at first.
func Compare(ctx context.Context, log *slog.Logger, load Load, endpoints string, pairs int, around Around) ([]comparison.Pair, error) {
	warm := NewLeg(load, endpoints, warmUp)
	if err := prepare(ctx, log, warm); err != nil {
		return nil, err
	}
	if _, err := warm.Run(ctx, comparison.Raw); err != nil {
		return nil, err
	}
	legs := map[comparison.Side]*Leg{}
	return comparison.Alternate(pairs, func(pair int, side comparison.Side) (comparison.Run, error) {
		if side == comparison.Order(pair)[0] { // both are loaded first, so that the runs follow each other closely
			for _, s := range comparison.Order(pair) {
				legs[s] = NewLeg(load, endpoints, legName(pair, s))
				if err := prepare(ctx, log, legs[s]); err != nil {
					return comparison.Run{}, err
				}
			}
		}
		return timed(ctx, log, legs[side], side, around)
	})
}

func prepare(ctx context.Context, log *slog.Logger, l *Leg) error {
	begin := time.Now()
	if err := l.Preload(ctx); err != nil {
		return err
	}
	log.Info("loaded", "leg", l.Name, "messages", l.Messages, "per second", int(float64(l.Messages)/time.Since(begin).Seconds()))
	return nil
}

func timed(ctx context.Context, log *slog.Logger, l *Leg, side comparison.Side, around Around) (run comparison.Run, err error) {
	leg := func() error {
		run, err = l.Run(ctx, side)
		return err
	}
	if side == comparison.Pipeline && around != nil {
		err = around(leg)
	} else {
		err = leg()
	}
	if err == nil {
		log.Info("acknowledged", "leg", l.Name, "per second", int(run.PerSecond()))
	}
	return run, err
}
