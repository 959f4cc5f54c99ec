// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/worker"
)

// Table returns all rows.
func Table() []Row {
	return slices.Concat(workerRows(), brokerRows(), answerRows(), networkRows(), queueRows(),
		clockRows(), securityRows(), queueNetworkRows(), sinkRows(), liteSinkRows())
}

// workerRows are accidents of workers.
func workerRows() []Row {
	return []Row{
		{
			Name:   "worker-killed",
			About:  "a worker is killed by SIGKILL with messages in work, three times, while the load goes on; each message is acked in the end",
			Places: []Place{OwnProcess, RealMQ},
			Play:   killThrice,
			Check: func(v Verdict) error {
				return want(v.Kills == 3 && v.Duplicates > 0, "three kills with messages in work, and such that were un-acked")
			},
		},
		{
			Name:   "worker-frozen",
			About:  "a worker stands still for longer than its leases and then goes on, while another one has taken over; acks that come too late do no harm",
			Places: []Place{InProcess},
			Play:   freeze,
			Check: func(v Verdict) error {
				return want(v.Duplicates > 0 && v.Expired > 0, "messages worked on twice, and handles that were over")
			},
		},
		{
			Name:   "two-workers", // X17
			About:  "two workers share a group; each message is worked on once, and both get some",
			Places: []Place{InProcess, RealMQ},
			Play:   two,
			Check:  func(v Verdict) error { return want(v.Duplicates == 0 && v.Expired == 0, "no duplicates") },
		},
	}
}

// want is an error unless ok.
func want(ok bool, what string) error {
	if ok {
		return nil
	}
	return errors.New("want " + what)
}

// throttled puts a quota between reading and work, low enough to defer what has
// piled up.
func throttled(c worker.Config) worker.Config {
	c.Throttle = &worker.Throttle{PerWindow: 8, Every: 500 * time.Millisecond, Defer: time.Second}
	return c
}

// killThrice kills a worker each time it has told of a random number of
// messages, and only while it has some in work: received, not acknowledged.
func killThrice(ctx context.Context, s *Stage) error {
	stop := s.load(ctx, 10*time.Millisecond, 30)
	cfg := throttled(s.config())
	cfg.Work = 5 * time.Millisecond
	for s.kills < 3 {
		p, err := s.crew.start(cfg)
		if err != nil {
			return err
		}
		after := 5 + s.rng.IntN(150)
		err = s.ledger.await(ctx, fmt.Sprintf("the moment to kill %s", p.name), func() bool {
			t := s.ledger.workers[p.name]
			return t != nil && t.delivered >= after && s.ledger.inWork(p.name) > 0
		})
		if err != nil {
			return err
		}
		// Its last words are read by now. It may have acked what it had in the
		// meantime; then this was no kill in the middle of work, and does not
		// count.
		if n := s.crew.kill(p); n > 0 {
			s.kills++
			s.inWork += n
			s.log("%s killed after %d messages or more, with %d in work", p.name, after, n)
		}
	}
	p, err := s.crew.start(cfg)
	if err != nil {
		return err
	}
	if err := s.crew.awaitInWork(ctx, p, 1); err != nil {
		return err
	}
	return stop()
}

// freeze freezes a worker with messages in work until the broker has given them
// to another one.
func freeze(ctx context.Context, s *Stage) error {
	cfg := s.config()
	cfg.Work = 20 * time.Millisecond
	first, err := s.crew.start(cfg)
	if err != nil {
		return err
	}
	if err := s.publishMany(ctx, 200, 20); err != nil {
		return err
	}
	if err := s.crew.awaitInWork(ctx, first, 3); err != nil {
		return err
	}
	if err := first.freeze(); err != nil {
		return err
	}
	if _, err := s.crew.start(s.config()); err != nil {
		return errors.Join(err, first.thaw())
	}
	// The broker's clock is the real one here: this takes as long as the leases.
	err = s.bus.AwaitAcked(ctx)
	return errors.Join(err, first.thaw())
}

// two lets two workers share the load.
func two(ctx context.Context, s *Stage) error {
	cfg := s.config()
	cfg.Lease = time.Minute // acked in time also on a busy machine
	cfg.Batch = 4
	for range 2 {
		if _, err := s.crew.start(cfg); err != nil {
			return err
		}
	}
	stop := s.load(ctx, 4*time.Millisecond, 40)
	err := s.ledger.await(ctx, "both workers to have worked on 200 messages", func() bool {
		if len(s.ledger.workers) < 2 {
			return false
		}
		for _, t := range s.ledger.workers {
			if t.delivered < 200 {
				return false
			}
		}
		return true
	})
	return errors.Join(err, stop())
}

// Find returns the rows whose names contain one of the given parts, or all.
func Find(parts ...string) []Row {
	var out []Row
	for _, row := range Table() {
		if len(parts) == 0 || slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(row.Name, p) }) {
			out = append(out, row)
		}
	}
	return out
}
