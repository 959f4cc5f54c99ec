// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/bus"
)

// brokerRows are accidents of proxies and brokers.
func brokerRows() []Row {
	return []Row{
		{
			Name:   "proxy-restart", // L31, L32
			About:  "the proxy restarts under load and forgets its clients; the source comes back by itself",
			Places: []Place{InProcess, RealMQ},
			Alone:  true,
			Play:   restartProxy,
			Check:  noRestart,
		},
		{
			Name:   "proxy-restart-in-flight", // L08
			About:  "the proxy is away for as long as the leases of 32 messages that are about to be acked; all come again, and the acks of the first time do not count",
			Places: []Place{InProcess},
			Play:   restartInFlight,
			Check: func(v Verdict) error {
				return want(v.Duplicates >= inFlight && v.Expired >= inFlight, fmt.Sprintf("%d messages twice and as many handles that were over", inFlight))
			},
		},
		{
			Name:    "proxy-lost", // L05
			About:   "one of two proxies goes for good, between receiving and acking; the other one takes over",
			Places:  []Place{InProcess},
			Options: []embedded.Option{embedded.WithProxies(2)},
			Play:    loseProxy,
		},
		{
			Name:   "broker-restart",
			About:  "the broker behind the proxy restarts under load",
			Places: []Place{InProcess, RealMQ},
			Alone:  true,
			Play:   restartBroker,
			Check:  noRestart,
		},
		{
			Name:   "broker-moved",
			About:  "the broker behind the proxy goes away under load and comes back on another port",
			Places: []Place{InProcess, RealMQ},
			Long:   true,
			Alone:  true,
			Play:   moveBroker,
			Check:  noRestart,
		},
		{
			Name:   "sessions-forgotten", // L31
			About:  "the proxy forgets its clients, while connections and streams stay",
			Places: []Place{InProcess},
			Play:   forgetSessions,
			Check:  noRestart,
		},
		{
			Name:   "leases-expired",
			About:  "all leases end in the middle of the work, five times; the messages come again",
			Places: []Place{InProcess},
			Play:   expireLeases,
			Check:  func(v Verdict) error { return want(v.Duplicates > 0, "messages worked on twice") },
		},
		{
			Name:   "broker-repeats", // X21, L24
			About:  "the broker gives out 100 acked messages once more; each is counted once as distinct",
			Places: []Place{InProcess},
			Play:   repeat,
			Check: func(v Verdict) error {
				return want(v.Duplicates > 0 && v.Duplicates <= 100, "up to 100 messages worked on twice")
			},
		},
	}
}

// noRestart wants the source to have come through by itself.
func noRestart(v Verdict) error { return want(v.Restarts == 0, "no failed bundle") }

// rounds is how often a row does its worst: the real servers take seconds to
// start.
func (s *Stage) rounds() int {
	if _, real := s.bus.(*bus.Real); real {
		return 1
	}
	return 3
}

func restartProxy(ctx context.Context, s *Stage) error {
	return s.under(ctx, s.rounds(), func() error { return s.bus.RestartProxy(ctx) })
}

func restartBroker(ctx context.Context, s *Stage) error {
	return s.under(ctx, s.rounds(), func() error {
		if r, real := s.bus.(*bus.Real); real {
			return r.Cluster().RestartBroker(ctx)
		}
		s.embedded().RestartBroker()
		return nil
	})
}

func moveBroker(ctx context.Context, s *Stage) error {
	return s.under(ctx, 1, func() error {
		if r, real := s.bus.(*bus.Real); real {
			return r.Cluster().MoveBroker(ctx)
		}
		s.embedded().RestartBroker()
		s.embedded().FailOver("")
		return nil
	})
}

func forgetSessions(ctx context.Context, s *Stage) error {
	return s.under(ctx, 3, func() error { s.embedded().ForgetSessions(); return nil })
}

func expireLeases(ctx context.Context, s *Stage) error {
	return s.under(ctx, 5, func() error { s.embedded().ExpireLeases(); return nil })
}

// under brings an accident about, so many times, at random moments at which a
// worker under load has messages in work. After each it waits until messages
// come through again.
func (s *Stage) under(ctx context.Context, times int, accident func() error) error {
	p, err := s.crew.start(s.config())
	if err != nil {
		return err
	}
	stop := s.load(ctx, 10*time.Millisecond, 20)
	for range times {
		soon := 20 + s.rng.IntN(60)
		var before int
		s.ledger.see(func() { before = len(s.ledger.delivered) })
		if err := s.awaitDelivered(ctx, before+soon); err != nil {
			return errors.Join(err, stop())
		}
		if err := s.crew.awaitInWork(ctx, p, 1); err != nil {
			return errors.Join(err, stop())
		}
		if err := accident(); err != nil {
			return errors.Join(err, stop())
		}
		s.ledger.see(func() { before = len(s.ledger.delivered) })
		begin := time.Now()
		if err := s.awaitDelivered(ctx, before+20); err != nil {
			return errors.Join(err, stop())
		}
		s.recovery.add(time.Since(begin))
	}
	return stop()
}

const inFlight = 32

// restartInFlight holds the proxy back when the first ack comes.
func restartInFlight(ctx context.Context, s *Stage) error {
	b := s.embedded()
	if err := s.publishMany(ctx, inFlight, inFlight); err != nil {
		return err
	}
	gone := make(chan struct{})
	b.Control(embedded.AckMessage, func(context.Context, *embedded.Request) embedded.Reaction {
		b.Stop()
		close(gone)
		return embedded.Fail(embedded.ErrConnectionCut)
	})
	cfg := s.config()
	cfg.Fetch = 1
	if _, err := s.crew.start(cfg); err != nil {
		return err
	}
	if err := s.awaitDelivered(ctx, inFlight); err != nil {
		return err
	}
	select {
	case <-gone:
	case <-ctx.Done():
		return fmt.Errorf("waiting for the first ack: %w", ctx.Err())
	}
	b.ExpireLeases()
	b.Resume()
	return nil
}

func loseProxy(ctx context.Context, s *Stage) error {
	b := s.embedded()
	gone := make(chan struct{})
	b.Control(embedded.AckMessage, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		b.StopProxy(r.Proxy)
		close(gone)
		return embedded.Fail(embedded.ErrConnectionCut)
	})
	if err := s.publishMany(ctx, 100, 20); err != nil {
		return err
	}
	if _, err := s.crew.start(s.config()); err != nil {
		return err
	}
	select {
	case <-gone:
	case <-ctx.Done():
		return fmt.Errorf("waiting for the first ack: %w", ctx.Err())
	}
	return s.publishMany(ctx, 100, 25)
}

func repeat(ctx context.Context, s *Stage) error {
	if _, err := s.crew.start(s.config()); err != nil {
		return err
	}
	if err := s.publishMany(ctx, 100, 10); err != nil {
		return err
	}
	b := s.embedded()
	if err := b.AwaitAcked(ctx); err != nil {
		return err
	}
	again := b.Messages(s.names.Topic)
	for _, m := range again {
		b.DeliverTwice(m.ID)
	}
	return s.ledger.await(ctx, "the repetitions", func() bool {
		for _, m := range again {
			if s.ledger.delivered[m.ID] < 2 {
				return false
			}
		}
		return true
	})
}
