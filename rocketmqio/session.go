// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/beamlog"
	"github.com/rocketmq-beam/rocketmq-beam/internal/pool"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// sessions are the sessions of this process, by source. One that no bundle
// asked for during its idle time is closed, for no runner calls Teardown.
var sessions = pool.New[string](
	func(s *session) time.Duration { return s.cfg.IdleClose },
	func(s *session) { s.close() },
)

// Shutdown ends what the sources and sinks of this process keep in the
// background, without waiting for their idle time. For a program that runs a
// pipeline in its own process and is about to end; what still runs is not touched.
func Shutdown() {
	sessions.CloseIdle()
	writeSessions.CloseIdle()
	txnSessions.CloseIdle()
}

// session is what all queues of one source share in one process: a client, the
// readers that pull in the background, and the watermark.
type session struct {
	cfg    readConfig
	log    *slog.Logger
	client *remoting.Client
	stats  *stats
	marks  *watermarks
	budget *budget
	first  firstCommits
	life   context.Context
	end    context.CancelFunc
	pulls  sync.WaitGroup

	committing turns[Queue]

	mu        sync.Mutex
	readers   map[Queue]*reader
	committed map[Queue]int64
	owed      map[Queue]int64 // positions whose commits have failed
	arrived   chan struct{}   // closed and replaced when any reader has got something
}

func openSession(ctx context.Context, cfg readConfig) (*session, error) {
	client, err := remoting.NewClient(remoting.Config{
		NameServers: cfg.NameServers, Namespace: cfg.Namespace, Credentials: cfg.Credentials.Provider(cfg.NameServers),
		TLS: cfg.TLS, Timeout: cfg.RequestTimeout,
	})
	if err != nil {
		return nil, fmt.Errorf("rocketmqio.Read: %w", err)
	}
	s := &session{
		cfg: cfg, log: beamlog.Logger("rocketmq source").With("group", cfg.Group), client: client, stats: &stats{},
		marks: newWatermarks(), budget: newBudget(cfg.TotalThreshold, mostBytes),
		readers: make(map[Queue]*reader), committed: make(map[Queue]int64), arrived: make(chan struct{}),
	}
	s.life, s.end = context.WithCancel(context.WithoutCancel(ctx))
	return s, nil
}

func (s *session) close() {
	s.end()
	s.pulls.Wait()
	if err := s.client.Close(); err != nil {
		s.log.Info("closing", "error", err)
	}
}

// acquire runs do with the session of this source. Sources are told apart by
// the id they got when the pipeline was built, so that two pipelines with the
// same settings have a watermark each.
func (c *readConfig) acquire(ctx context.Context, do func(*session) error) error {
	key, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("rocketmqio: configuration: %w", err)
	}
	s, hold, err := sessions.Acquire(ctx, string(key), func(ctx context.Context) (*session, error) { return openSession(ctx, *c) })
	if err != nil {
		return err
	}
	defer hold.Release()
	return do(s)
}

// peek runs do with the session of this source, if there is one.
func (c *readConfig) peek(do func(*session)) {
	if key, err := json.Marshal(c); err == nil {
		sessions.Peek(string(key), do)
	}
}

// readerAt returns the reader of a queue, positioned at offset. A reader that
// stands elsewhere, as after a restart from a checkpoint in the same process,
// is replaced.
func (s *session) readerAt(q Queue, offset, end int64) *reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.endStaleReaders(now)
	if r, ok := s.readers[q]; ok {
		if r.position() == offset {
			r.touch(now)
			return r
		}
		r.giveUp()
	}
	r := newReader(s, q, offset, end)
	s.readers[q] = r
	s.pulls.Go(r.run)
	return r
}

// endStaleReaders ends the readers of queues that no bundle has asked for in a
// while: another worker has them, and what they keep would starve the others of
// their budget. The caller holds the lock.
func (s *session) endStaleReaders(now time.Time) {
	for q, r := range s.readers {
		if r.untouchedFor(now) > max(s.cfg.IdleClose, forgottenAfter) {
			r.giveUp()
			delete(s.readers, q)
		}
	}
}

// drop ends the reader of a queue that has been read to its end, or whose rest
// the runner has taken back.
func (s *session) drop(q Queue, r *reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.giveUp()
	if s.readers[q] == r {
		delete(s.readers, q)
	}
}

// announce wakes bundles that wait for any queue.
func (s *session) announce() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.arrived)
	s.arrived = make(chan struct{})
}

// awaitArrival waits until r has something, or any other queue has: a bundle
// that waits for one queue holds up all the others. It waits for this queue's
// share of d at most, so that all of them have their turn within d.
func (s *session) awaitArrival(ctx context.Context, r *reader, d time.Duration) {
	s.mu.Lock()
	arrived := s.arrived
	ready := false
	for _, other := range s.readers {
		ready = ready || other.ready()
	}
	d /= time.Duration(max(len(s.readers), 1))
	s.mu.Unlock()
	if ready || r.ready() {
		return
	}
	pause(ctx, arrived, r.patience(d))
}

// awaitQueue waits until r has something, for d at most. It is for a bundle that
// stays with one queue to the end: what others have is no reason to look again.
func (s *session) awaitQueue(ctx context.Context, r *reader, d time.Duration) {
	for until := time.Now().Add(d); !r.ready() && time.Now().Before(until) && ctx.Err() == nil; {
		s.mu.Lock()
		arrived := s.arrived
		s.mu.Unlock()
		if r.ready() {
			return
		}
		pause(ctx, arrived, r.patience(time.Until(until)))
	}
}

// pause waits for c, for d at most.
func pause(ctx context.Context, c <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c:
	case <-timer.C:
	case <-ctx.Done():
	}
}
