// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"fmt"
	"sync"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// firstCommits guards the first commits of a session.
//
// A broker makes the table of a group's offsets of a topic at the first commit.
// Two first commits at once may each make one, of which one is lost, though both
// are answered with success (ConsumerOffsetManager.commitOffset of RocketMQ 5.5.0
// looks and puts in two steps). So there is one of this process at a time until one
// has succeeded; and what became of the first of each queue is read back, for other
// processes begin at the same time.
type firstCommits struct {
	mu    sync.Mutex
	turns map[tableKey]chan struct{}
	made  map[tableKey]bool
}

// tableKey is what a broker has a table of offsets for, in one group.
type tableKey struct{ topic, broker string }

func newFirstCommits() *firstCommits {
	return &firstCommits{turns: map[tableKey]chan struct{}{}, made: map[tableKey]bool{}}
}

// enter waits until no other first commit of the queue's table is under way, if
// that matters still. done is called with its outcome.
func (f *firstCommits) enter(ctx context.Context, q Queue) (done func(error), err error) {
	key := tableKey{q.Topic, q.Broker}
	f.mu.Lock()
	made := f.made[key]
	turn, ok := f.turns[key]
	if !ok {
		turn = make(chan struct{}, 1)
		f.turns[key] = turn
	}
	f.mu.Unlock()
	if made {
		return func(error) {}, nil
	}
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return func(err error) {
		if err == nil {
			f.mu.Lock()
			f.made[key] = true
			f.mu.Unlock()
		}
		<-turn
	}, nil
}

// commitFirst commits the first position of a queue and reads it back. That it
// cannot be read says nothing against it.
func (s *session) commitFirst(ctx context.Context, q Queue, to int64) error {
	done, err := s.first.enter(ctx, q)
	if err != nil {
		return err
	}
	err = s.client.Commit(ctx, q.remoting(), s.cfg.Group, to)
	done(err)
	if err != nil {
		return err
	}
	at, found, err := s.client.QueryCommitted(ctx, q.remoting(), s.cfg.Group)
	if err == nil && (!found || at < to) {
		return &remoting.Error{Op: fmt.Sprintf("committing offset %d of %s for group %q", to, q, s.cfg.Group), Class: remoting.Transient,
			Err: fmt.Errorf("the broker answered with success and has %d (found: %v): the first commits of others got in its way", at, found)}
	}
	return nil
}
