// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// queueRows are accidents of the remoting source.
func queueRows() []Row {
	return []Row{
		{
			Name:       "remoting-killed", // O02, O24, O40, Y16, Y18
			About:      "a worker that reads 10 000 messages in 8 queues is killed by SIGKILL at 50 random moments over the run; all are handed on, and what is committed was handed on before",
			Places:     []Place{OwnProcess, RealMQ},
			PlayQueues: killReaders,
			Check: func(v Verdict) error {
				if err := want(v.Kills == readerKills && v.Duplicates > 0, fmt.Sprintf("%d kills, and messages that were read twice", readerKills)); err != nil {
					return err
				}
				return want(int64(v.Duplicates) <= v.Repeatable, "no more duplicates than were handed on and not committed at the kills")
			},
		},
		{
			Name:       "remoting-queues-added", // O06, O07, B17
			About:      "a topic gets 4 queues more while its messages are read, and 4 more while nobody reads; all 12 are read from their first message on",
			Places:     []Place{InProcess, RealMQ},
			PlayQueues: addQueues,
			Check:      noRestart,
		},
		{
			Name:       "remoting-broker-moved", // O28, X10
			About:      "the broker goes away under load and comes back on another port; the source finds it and goes on where it was",
			Places:     []Place{InProcess, RealMQ},
			Alone:      true,
			PlayQueues: func(ctx context.Context, s *QueueStage) error { return s.under(ctx, s.moveBroker) },
			Check:      noRestart,
		},
		{
			Name:       "remoting-broker-restart", // X21b, Y19
			About:      "the broker restarts under load; each of its queues is read again soon",
			Places:     []Place{InProcess, RealMQ},
			Alone:      true,
			PlayQueues: func(ctx context.Context, s *QueueStage) error { return s.under(ctx, s.restartBroker) },
			Check:      noRestart,
		},
		{
			Name:       "remoting-broker-frozen", // N04
			About:      "the broker stands still for some seconds under load, with its connections open; the source goes on when it does",
			Places:     []Place{RealMQ},
			Alone:      true,
			PlayQueues: func(ctx context.Context, s *QueueStage) error { return s.under(ctx, s.freezeBroker) },
			Check:      noRestart,
		},
	}
}

const (
	readerKills    = 50
	readerMessages = 10_000
	readerQueues   = 8
	// readerRate makes a worker read about 160 messages at once and then as many
	// a second, so that 50 of them have something to do.
	readerRate = 20
)

// killReaders kills a worker when it has got on by a random number of messages,
// and each fifth one at a random moment of its start.
func killReaders(ctx context.Context, s *QueueStage) error {
	if err := s.shape(ctx, readerQueues); err != nil {
		return err
	}
	if err := s.publishAll(ctx, readerMessages, readerQueues); err != nil {
		return err
	}
	for s.kills < readerKills {
		p, err := s.crew.start(s.config(readerRate))
		if err != nil {
			return err
		}
		moment := time.Duration(s.rng.IntN(100)) * time.Millisecond
		if s.kills%5 == 4 {
			moment *= 8
		} else {
			const most = 2 * readerMessages / readerKills * 9 / 10
			until := min(s.handed.distinct()+1+s.rng.IntN(most), readerMessages)
			if err := s.await(ctx, "the moment of a kill", func() bool { return s.handed.distinct() >= until }); err != nil {
				return err
			}
		}
		select {
		case <-time.After(moment): // random, that is the point
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := s.kill(ctx, p); err != nil {
			return fmt.Errorf("after %d kills: %w", s.kills, err)
		}
	}
	s.log("%d messages were handed on, %d of them different, when the last of %d workers was killed", s.handed.count, s.handed.distinct(), s.kills)
	_, err := s.crew.start(s.config(0))
	return err
}

func addQueues(ctx context.Context, s *QueueStage) error {
	if err := s.shape(ctx, 4); err != nil {
		return err
	}
	if err := s.publishAll(ctx, 100, 4); err != nil {
		return err
	}
	p, err := s.crew.start(s.config(0))
	if err != nil {
		return err
	}
	if err := s.awaitAll(ctx); err != nil {
		return err
	}
	if err := s.shape(ctx, 8); err != nil {
		return err
	}
	if err := s.publishAll(ctx, 200, 8); err != nil {
		return err
	}
	if err := s.awaitAll(ctx); err != nil {
		return err
	}
	if err := s.kill(ctx, p); err != nil {
		return err
	}
	if err := s.shape(ctx, 12); err != nil {
		return err
	}
	if err := s.publishAll(ctx, 300, 12); err != nil {
		return err
	}
	_, err = s.crew.start(s.config(0))
	return err
}

// under brings an accident about while messages are published and read. After it
// each queue must get on.
func (s *QueueStage) under(ctx context.Context, accident func(context.Context) error) error {
	if err := s.shape(ctx, readerQueues); err != nil {
		return err
	}
	if _, err := s.crew.start(s.config(0)); err != nil {
		return err
	}
	stop := s.load(ctx, readerQueues)
	some := 100 + s.rng.IntN(200)
	if err := s.await(ctx, "the moment of the accident", func() bool { return s.handed.distinct() >= some }); err != nil {
		return errors.Join(err, stop())
	}
	if err := accident(ctx); err != nil {
		return errors.Join(err, stop())
	}
	began := time.Now()
	before := s.handed.counts()
	err := s.await(ctx, "a message of each queue after the accident", func() bool {
		now := s.handed.counts()
		for id := range readerQueues {
			if now[id] <= before[id] {
				return false
			}
		}
		return true
	})
	const soon = 30 * time.Second
	s.recovery.add(time.Since(began))
	if d := time.Since(began); err == nil && d > soon {
		err = fmt.Errorf("it took %v until all queues got on, want %v at most", d, soon)
	}
	return errors.Join(err, stop())
}

func (s *QueueStage) moveBroker(ctx context.Context) error {
	if s.mq != nil {
		return s.mq.MoveBroker(ctx)
	}
	s.broker.StopBroker("broker-a")
	if err := s.feelIt(ctx); err != nil {
		return err
	}
	s.broker.FailOver("broker-a")
	return nil
}

func (s *QueueStage) restartBroker(ctx context.Context) error {
	if s.mq != nil {
		return s.mq.RestartBroker(ctx)
	}
	s.broker.StopBroker("broker-a")
	if err := s.feelIt(ctx); err != nil {
		return err
	}
	s.broker.ResumeBroker("broker-a")
	return nil
}

// feelIt waits a moment in which pulls fail.
func (s *QueueStage) feelIt(ctx context.Context) error {
	select {
	case <-time.After(time.Second):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// freezeBroker freezes it for longer than a request may take.
func (s *QueueStage) freezeBroker(ctx context.Context) error {
	if err := s.mq.FreezeBroker(); err != nil {
		return err
	}
	select {
	case <-time.After(8 * time.Second):
	case <-ctx.Done():
	}
	return s.mq.ThawBroker()
}
