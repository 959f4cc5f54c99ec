// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/cenkalti/backoff/v5"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

func init() {
	beam.RegisterCoder(reflect.TypeFor[commitPoint](), encodeCommitPoint, decodeCommitPoint)
	beam.RegisterDoFn(&commitFn{})
}

// commitPoint is a position to commit: all before Offset was handed on.
type commitPoint struct {
	Queue
	Offset int64 `json:"offset"`
}

func encodeCommitPoint(p commitPoint) ([]byte, error) { return json.Marshal(p) }

func decodeCommitPoint(data []byte) (commitPoint, error) {
	var p commitPoint
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("rocketmqio: commit point: %w", err)
	}
	return p, nil
}

// committed remembers, for one reader, what was last handed to the commit step.
type committed struct {
	some bool
	at   time.Time
	to   int64
}

// commitPoint emits the position if it is time. The first position of a queue is
// committed even if nothing was read, so that a pipeline that starts anew does
// not take a later "latest" for its beginning.
func (r *reader) commitPoint(reached int64, last bool, emit func(commitPoint)) {
	interval := r.session.cfg.CommitInterval
	if interval == 0 {
		return
	}
	stands := r.session.isCommitted(r.queue, reached)
	r.mu.Lock()
	c, now := &r.commit, time.Now()
	waited := now.Sub(c.at) >= interval
	due := !c.some || reached > c.to && (last || waited) || !stands && waited && now.Sub(c.at) >= recommitAfter
	if due {
		*c = committed{some: true, at: now, to: reached}
	}
	r.mu.Unlock()
	if due {
		emit(commitPoint{Queue: r.queue, Offset: reached})
	}
}

// recommitAfter is how long a position waits for its commit before it is handed
// out again: one that failed, of a queue in which nothing happens, would never be
// made up for.
const recommitAfter = 5 * time.Second

// isCommitted says that this process has committed the position or a later one.
// Where another worker commits, it does not know, and the position is handed out
// again and again: a small request every few seconds.
func (s *session) isCommitted(q Queue, reached int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.committed[q]
	return ok && at >= reached
}

// commitFn commits positions at the broker. It stands behind a Reshuffle, so
// that what it commits has left the bundle which read it. A failure is counted
// and logged and fails nothing: the next position makes up for it. It emits nothing.
type commitFn struct {
	Config readConfig

	latest map[Queue]int64
}

// StartBundle forgets what a failed bundle left behind.
func (fn *commitFn) StartBundle(context.Context, func(bool)) { fn.latest = make(map[Queue]int64) }

// ProcessElement keeps the furthest position of each queue.
func (fn *commitFn) ProcessElement(_ context.Context, p commitPoint, _ func(bool)) error {
	if to, ok := fn.latest[p.Queue]; !ok || p.Offset > to {
		fn.latest[p.Queue] = p.Offset
	}
	return nil
}

// FinishBundle commits them and waits for the broker's word.
func (fn *commitFn) FinishBundle(ctx context.Context, _ func(bool)) error {
	if len(fn.latest) == 0 {
		return nil
	}
	return fn.Config.acquire(ctx, func(s *session) error {
		s.settleDebts(fn.latest)
		var group sync.WaitGroup
		var failed atomic.Int64
		for q, to := range fn.latest {
			s.marks.left(q, to)
			group.Go(func() {
				if err := s.commit(ctx, q, to); err != nil {
					failed.Add(1)
					s.owe(q, to)
					s.log.Warn("committing", "queue", q.String(), "offset", to, "error", err)
				}
			})
		}
		group.Wait()
		// Beam's metrics may be touched by one goroutine of a bundle only.
		commitFailCounter.Inc(ctx, failed.Load())
		committedCounter.Inc(ctx, int64(len(fn.latest))-failed.Load())
		return ctx.Err()
	})
}

// owe notes a position whose commit has failed. Any later bundle commits it: of a
// queue in which nothing more happens there will be no other.
func (s *session) owe(q Queue, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owed == nil {
		s.owed = make(map[Queue]int64)
	}
	s.owed[q] = max(s.owed[q], to)
}

// settleDebts adds what is owed to what is to be committed.
func (s *session) settleDebts(latest map[Queue]int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for q, to := range s.owed {
		latest[q] = max(latest[q], to)
	}
	s.owed = nil
}

// How often and for how long a commit is tried before the next bundle's turn. All
// queues of a bundle wait for the slowest of them, so one try is enough of a broker
// that is silent.
const (
	commitTries    = 5
	commitPatience = 3 * time.Second
)

// commit never lowers what this process has committed before. Commits of a queue
// follow each other, for bundles run beside each other: one that is tried again
// would else arrive behind a later one.
func (s *session) commit(ctx context.Context, q Queue, to int64) error {
	leave, err := s.committing.enter(ctx, q)
	if err != nil {
		return err
	}
	defer leave()
	s.mu.Lock()
	before, ok := s.committed[q]
	s.mu.Unlock()
	if to < 0 || ok && to <= before {
		return nil
	}
	send := func() error { return s.client.Commit(ctx, q.remoting(), s.cfg.Group, to) }
	if !ok {
		send = func() error { return s.commitFirst(ctx, q, to) }
	}
	_, err = backoff.Retry(ctx, func() (struct{}, error) {
		err := send()
		if err == nil {
			return struct{}{}, nil
		}
		switch remoting.ClassOf(err) {
		case remoting.Permanent:
			err = backoff.Permanent(err)
		case remoting.NotFound:
			s.introduce(ctx, q, to)
		}
		return struct{}{}, err
	}, backoff.WithMaxTries(commitTries), backoff.WithMaxElapsedTime(max(commitPatience, s.cfg.RequestTimeout)))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if to > s.committed[q] {
		s.committed[q] = to
	}
	return nil
}

// introduce pulls once, without waiting, so that the broker knows the group: it
// creates one when it is first pulled for, not when it first commits, and a queue
// in which there was nothing to read has not been pulled. If it fails, the commit
// says why.
func (s *session) introduce(ctx context.Context, q Queue, at int64) {
	_, _ = s.client.Pull(ctx, remoting.PullRequest{Queue: q.remoting(), Group: s.cfg.Group, Offset: at, Max: 1, Expression: s.cfg.expression()})
}
