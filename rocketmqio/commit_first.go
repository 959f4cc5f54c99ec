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
// processes begin at the same time. One that fails speaks for all that wait: each of
// hundreds of queues would else find out by itself that the broker is silent.
type firstCommits struct {
	turns turns[tableKey]

	mu     sync.Mutex
	made   map[tableKey]bool
	failed map[tableKey]failures
}

// failures are those of a table: how many, and why the last.
type failures struct {
	count int
	last  error
}

// tableKey is what a broker has a table of offsets for, in one group.
type tableKey struct{ topic, broker string }

// alone runs commit while no other first commit of the queue's table is under way,
// if that matters still.
func (f *firstCommits) alone(ctx context.Context, q Queue, commit func() error) error {
	key := tableKey{q.Topic, q.Broker}
	made, before := f.state(key)
	if made {
		return commit()
	}
	leave, err := f.turns.enter(ctx, key)
	if err != nil {
		return err
	}
	defer leave()
	made, since := f.state(key)
	if !made && since.count > before.count {
		return since.last
	}
	err = commit()
	f.note(key, err)
	return err
}

func (f *firstCommits) state(key tableKey) (made bool, failed failures) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.made[key], f.failed[key]
}

func (f *firstCommits) note(key tableKey, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.made == nil {
		f.made, f.failed = make(map[tableKey]bool), make(map[tableKey]failures)
	}
	if err != nil {
		f.failed[key] = failures{f.failed[key].count + 1, err}
		return
	}
	f.made[key] = true
	delete(f.failed, key)
}

// commitFirst commits the first position of a queue and reads it back. That it
// cannot be read says nothing against it.
func (s *session) commitFirst(ctx context.Context, q Queue, to int64) error {
	err := s.first.alone(ctx, q, func() error { return s.client.Commit(ctx, q.remoting(), s.cfg.Group, to) })
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
