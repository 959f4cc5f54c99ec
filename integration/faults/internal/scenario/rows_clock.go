// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// stillness is how long a worker stands still in the rows that are about that.
const stillness = 30 * time.Second

// clockRows are workers for which time stands still, brokers for which it jumps,
// and pipelines that are slow.
func clockRows() []Row {
	return []Row{
		{
			Name:   "worker-stopped",
			About:  "the only worker stands still (SIGSTOP) for 30 s, three times its leases, under load, and goes on by itself",
			Places: []Place{InProcess, RealMQ},
			Long:   true,
			Play: func(ctx context.Context, s *Stage) error {
				return s.under(ctx, 1, func() error { return standStill(ctx, s.crew.only()) })
			},
			Check: noRestart,
		},
		{
			Name:   "remoting-worker-stopped",
			About:  "the only worker stands still (SIGSTOP) for 30 s under load, and goes on by itself",
			Places: []Place{InProcess, RealMQ},
			Long:   true,
			PlayQueues: func(ctx context.Context, s *QueueStage) error {
				return s.under(ctx, func(ctx context.Context) error { return standStill(ctx, s.crew.only()) })
			},
			Check: noRestart,
		},
		{
			Name:      "clock-jump",
			About:     "the broker's clock is half an hour behind the worker's, jumps ahead by an hour under load, and all leases end",
			Places:    []Place{InProcess},
			Play:      jumpClock,
			SkewClock: true,
			Check:     noRestart,
		},
		{
			Name:       "remoting-clock-jump",
			About:      "the broker's clock is half an hour behind the worker's and jumps ahead by an hour under load",
			Places:     []Place{InProcess},
			PlayQueues: jumpQueueClock,
			SkewClock:  true,
			Check:      noRestart,
		},
		{
			Name:   "full-queue",
			About:  "the work is so slow that what waits in the worker outlives its leases; receiving stops meanwhile, and all is acked in the end",
			Places: []Place{InProcess, RealMQ},
			Long:   true,
			Play: func(ctx context.Context, s *Stage) error {
				cfg := s.config()
				cfg.Work, cfg.Fetch = 60*time.Millisecond, 4
				return s.backlog(ctx, cfg, 200, 50)
			},
			Check: noRestart,
		},
		{
			Name:       "remoting-full-queue",
			About:      "the work is slower than what comes in; pulling stops at a few messages ready, and nothing is lost",
			Places:     []Place{InProcess, RealMQ},
			PlayQueues: fillQueues,
			Check:      noRestart,
		},
	}
}

// only is the one worker that lives.
func (c *crew) only() *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.live {
		return p
	}
	return nil
}

// standStill freezes a worker.
func standStill(ctx context.Context, p *process) error {
	if p == nil {
		return errors.New("there is no worker to freeze")
	}
	if err := p.freeze(); err != nil {
		return err
	}
	return errors.Join(pause(ctx, stillness), p.thaw())
}

// pause lets d pass, where the length of time is what a row is about.
func pause(ctx context.Context, d time.Duration) error {
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting: %w", context.Cause(ctx))
	}
}

// skewed is a broker's clock: half an hour behind, and then half an hour ahead.
type skewed struct {
	clock *embedded.Clock
	jump  chan time.Duration
	over  chan struct{}
	ended chan struct{}
}

// newSkewed makes a clock that runs with the real one.
func newSkewed() *skewed {
	s := &skewed{clock: embedded.NewClock(time.Now().Add(-30 * time.Minute)),
		jump: make(chan time.Duration), over: make(chan struct{}), ended: make(chan struct{})}
	go s.run()
	return s
}

func (s *skewed) run() {
	defer close(s.ended)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-tick.C:
			now := time.Now()
			s.clock.Advance(now.Sub(last))
			last = now
		case d := <-s.jump:
			s.clock.Advance(d)
		case <-s.over:
			return
		}
	}
}

func (s *skewed) close() { close(s.over); <-s.ended }

func jumpClock(ctx context.Context, s *Stage) error {
	return s.under(ctx, 1, func() error { s.skew.jump <- time.Hour; return nil })
}

func jumpQueueClock(ctx context.Context, s *QueueStage) error {
	return s.under(ctx, func(context.Context) error { s.skew.jump <- time.Hour; return nil })
}

func fillQueues(ctx context.Context, s *QueueStage) error {
	if err := s.shape(ctx, readerQueues); err != nil {
		return err
	}
	if err := s.publishAll(ctx, 2000, readerQueues); err != nil {
		return err
	}
	cfg := s.config(0)
	cfg.Queues.Work, cfg.Queues.Ready = 4*time.Millisecond, 8
	_, err := s.crew.start(cfg)
	return err
}
