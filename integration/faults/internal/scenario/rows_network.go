// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"errors"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/wire"
)

// networkRows are bad networks between worker and proxy.
func networkRows() []Row {
	return []Row{
		{
			Name:   "slow-network",
			About:  "50 ms each way and 64 KiB a second",
			Places: []Place{InProcess},
			Play: func(ctx context.Context, s *Stage) error {
				return s.through(ctx, func(r *wire.Relay) error {
					r.Slow(50*time.Millisecond, 64<<10)
					return s.publishMany(ctx, 400, 40)
				})
			},
			Check: noRestart,
		},
		{
			Name:   "network-stalls",
			About:  "nothing passes for some seconds, less than it takes to give a connection up, and then everything does",
			Places: []Place{InProcess},
			Play: func(ctx context.Context, s *Stage) error {
				return s.through(ctx, func(r *wire.Relay) error { return s.stall(ctx, r, 5*time.Second) })
			},
		},
		{
			Name:   "network-away", // L34
			About:  "nothing passes for longer than it takes to give a connection up, and connecting does not work either",
			Places: []Place{InProcess},
			Long:   true,
			Play: func(ctx context.Context, s *Stage) error {
				return s.through(ctx, func(r *wire.Relay) error { return s.stall(ctx, r, 45*time.Second) })
			},
		},
		{
			Name:   "half-open", // L34
			About:  "the connections of now fall silent for ever without being closed; new ones work, once the keepalive has found out",
			Places: []Place{InProcess},
			Long:   true,
			Play: func(ctx context.Context, s *Stage) error {
				return s.through(ctx, func(r *wire.Relay) error {
					if err := s.publishMany(ctx, 200, 20); err != nil {
						return err
					}
					if err := s.awaitDelivered(ctx, 20); err != nil {
						return err
					}
					r.Strand()
					return nil
				})
			},
		},
	}
}

// through puts a relay between a worker and the broker. It stays until the row
// has ended.
func (s *Stage) through(ctx context.Context, play func(*wire.Relay) error) error {
	r, err := wire.New(s.bus.Endpoints())
	if err != nil {
		return err
	}
	s.atEnd = append(s.atEnd, r.Close)
	cfg := s.config()
	cfg.Endpoints = r.Addr()
	p, err := s.crew.start(cfg)
	if err != nil {
		return err
	}
	if err := s.publish(ctx, "lite-0"); err != nil {
		return err
	}
	if err := s.crew.awaitInWork(ctx, p, 1); err != nil {
		return err
	}
	return play(r)
}

// stall lets nothing pass for d, under load.
func (s *Stage) stall(ctx context.Context, r *wire.Relay, d time.Duration) error {
	stop := s.load(ctx, 20*time.Millisecond, 20)
	if err := s.awaitDelivered(ctx, 50); err != nil {
		return errors.Join(err, stop())
	}
	r.Hold()
	over := time.NewTimer(d) // the length of the stall is what this is about
	defer over.Stop()
	select {
	case <-over.C:
	case <-ctx.Done():
	}
	r.Release()
	return stop()
}
