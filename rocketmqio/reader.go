// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/time/rate"

	"github.com/rocketmq-beam/rocketmq-beam/internal/health"
	"github.com/rocketmq-beam/rocketmq-beam/internal/idle"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// reader pulls one queue in the background and keeps what came until a bundle
// takes it.
type reader struct {
	session *session
	queue   Queue
	end     int64
	limiter *rate.Limiter // nil: no limit
	health  *health.Health
	ctx     context.Context
	cancel  context.CancelFunc
	idle    idle.Pause

	mu       sync.Mutex
	taken    int64     // the first offset that no bundle has taken
	pulled   int64     // the first offset that has not been pulled
	max      int64     // the queue's end, as last heard
	caughtUp bool      // the last pull was answered and the queue's end is seen
	ended    bool      // nothing more is kept
	touched  time.Time // when a bundle last asked for the queue
	waiting  waiting
	since    time.Time     // when waiting began to: the first of them came, or some were taken
	fault    error         // ends the reading
	room     chan struct{} // closed and replaced when something was taken
	came     chan struct{} // closed and replaced when a pull was answered
	commit   committed
}

func newReader(s *session, q Queue, offset, end int64) *reader {
	r := &reader{session: s, queue: q, end: end, taken: offset, pulled: offset, max: offset,
		room: make(chan struct{}), came: make(chan struct{})}
	r.health = health.New(s.cfg.StallTimeout, s.log.With("queue", q.String()), time.Now())
	if s.cfg.RateLimit > 0 {
		r.limiter = rate.NewLimiter(rate.Limit(s.cfg.RateLimit), max(int(s.cfg.RateLimit), 1))
	}
	r.touched = time.Now()
	r.ctx, r.cancel = context.WithCancel(s.life)
	return r
}

// position is the first offset that no bundle has taken.
func (r *reader) position() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken
}

// ready says that a bundle would find something to do: not what a rate limit
// still holds back.
func (r *reader) ready() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting.count > 0 && r.heldBack() > 0 {
		return r.fault != nil
	}
	return r.waiting.count > 0 || r.pulled > r.taken || r.fault != nil
}

// heldBack is how long the rate limit lets nothing pass.
func (r *reader) heldBack() time.Duration {
	if r.limiter == nil {
		return 0
	}
	missing := 1 - r.limiter.Tokens()
	return time.Duration(max(missing, 0) / float64(r.limiter.Limit()) * float64(time.Second))
}

// patience is for how much of d it makes sense to wait: no longer than until the
// rate limit lets the next message pass.
func (r *reader) patience(d time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if held := r.heldBack(); r.waiting.count > 0 && held > 0 {
		return min(d, held)
	}
	return d
}

// run pulls until the queue's end, or until it is stopped.
func (r *reader) run() {
	pauses := &backoff.ExponentialBackOff{
		InitialInterval: min(100*time.Millisecond, r.session.cfg.RetryDelay), Multiplier: 2, RandomizationFactor: 0.2,
		MaxInterval: r.session.cfg.RetryDelay,
	}
	pauses.Reset()
	var master int64
	moves := 0
	for r.awaitRoom() {
		asked := time.Now()
		result, err := r.session.client.Pull(r.ctx, remoting.PullRequest{
			Queue: r.queue.remoting(), Group: r.session.cfg.Group, Offset: r.next(), Max: r.session.cfg.PullBatchSize,
			Expression: r.session.cfg.expression(), Suspend: r.session.cfg.PullTimeout, BrokerID: master,
		})
		if r.ctx.Err() != nil {
			return
		}
		if result != nil {
			master = result.SuggestBroker
		}
		switch {
		case err == nil:
			moves = 0
			pauses.Reset()
			if r.took(result) || time.Since(asked) >= emptyPause {
				continue
			}
			// Nothing, and at once, though it was to wait: else this would spin.
			pause(r.ctx, nil, emptyPause)
			continue
		case remoting.ClassOf(err) == remoting.OffsetMoved && result != nil:
			moves++
			if err := r.moved(result, moves); err != nil {
				r.fail(err)
				return
			}
		default:
			if result != nil && len(result.Messages) > 0 { // what came before the damage
				r.took(result)
			}
			master = 0 // a slave that was suggested may be the one that fails
			r.loseSight()
			class := remoting.ClassOf(err)
			r.session.stats.pullFailed.Add(1)
			r.health.Failed(time.Now(), err, class == remoting.Permanent || class == remoting.NotFound)
		}
		select {
		case <-r.ctx.Done():
			return
		case <-time.After(pauses.NextBackOff()):
		}
	}
}

func (r *reader) next() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pulled
}

// awaitRoom waits until another pull may begin; false if the reading is over.
func (r *reader) awaitRoom() bool {
	for {
		r.mu.Lock()
		over := r.pulled >= r.end
		full, room := r.waiting.count >= r.session.cfg.QueueThreshold || r.waiting.bytes >= mostQueueBytes, r.room
		r.mu.Unlock()
		switch {
		case over || r.ctx.Err() != nil:
			return false
		case !full:
			return r.session.budget.await(r.ctx)
		}
		select {
		case <-room:
		case <-r.ctx.Done():
			return false
		}
	}
}

// emptyPause is the least time between pulls that bring nothing.
const emptyPause = 100 * time.Millisecond

// took keeps what a pull brought, and says whether that leads further.
func (r *reader) took(p *remoting.PullResult) (advanced bool) {
	now := time.Now()
	r.health.Answered(now)
	r.mu.Lock()
	if r.ended {
		r.mu.Unlock()
		return false
	}
	if r.waiting.count == 0 {
		r.since = now
	}
	from := r.pulled
	fresh, next := inOrder(p.Messages, from)
	r.session.budget.take(len(fresh), r.waiting.add(fresh))
	r.max = p.Max
	r.pulled = max(next, p.Next)
	advanced = r.pulled > from
	r.caughtUp = r.pulled >= p.Max
	close(r.came)
	r.came = make(chan struct{})
	r.mu.Unlock()
	r.session.stats.pulled.Add(int64(len(fresh)))
	if advanced {
		r.session.announce()
	}
	if n := len(p.Messages) - len(fresh); n > 0 || p.Next < next {
		r.session.log.Warn("a pull was answered with messages that were not asked for, or a next offset before its last message; they are passed over",
			"queue", r.queue.String(), "asked for", from, "next", p.Next, "passed over", n)
	}
	return advanced
}

// inOrder leaves out messages before an offset and those that do not come after the
// one before them, and says which offset is next: brokers do not answer so, but a
// position that goes back cannot be claimed.
func inOrder(messages []remoting.Message, from int64) (fresh []remoting.Message, next int64) {
	next = from
	fresh = slices.DeleteFunc(messages, func(m remoting.Message) bool {
		if m.QueueOffset < next {
			return true
		}
		next = m.QueueOffset + 1
		return false
	})
	return fresh, next
}

// mostMoves is how often in a row a broker may call an offset illegal that it
// had itself said to go on at.
const mostMoves = 3

// moved follows the policy for an offset that the queue does not hold.
func (r *reader) moved(p *remoting.PullResult, moves int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := r.pulled
	to, err := inRange(r.queue.remoting(), from, "the position of the pipeline", r.session.cfg.OutOfRange, bounds{p.Min, p.Max})
	if err != nil {
		return err
	}
	if moves > mostMoves {
		return fmt.Errorf("queue %s: the broker refuses offset %d again and again, and says the queue holds %d to %d", r.queue, from, p.Min, p.Max)
	}
	lost := max(min(to, p.Max)-from, 0)
	r.session.log.Warn("the position is not in the queue any more", "queue", r.queue.String(), "position", from, "first", p.Min, "last", p.Max, "goes on at", to, "lost", lost)
	r.session.stats.outOfRange.Add(1)
	r.session.stats.outOfRangeLost.Add(lost)
	if to < from { // the topic was made anew, and its offsets begin again
		return fmt.Errorf("queue %s: the position %d lies beyond the queue's end %d: %w", r.queue, from, p.Max, errBackwards)
	}
	r.pulled = to
	return nil
}

// errBackwards: a restriction cannot go back.
var errBackwards = errors.New("start the pipeline anew to read the queue from its beginning")

func (r *reader) fail(err error) {
	r.mu.Lock()
	r.fault = err
	r.mu.Unlock()
	r.session.announce()
}

// verdict is the error with which a bundle should fail, or nil.
func (r *reader) verdict() error {
	r.mu.Lock()
	err := r.fault
	r.mu.Unlock()
	if err == nil {
		err = r.health.Verdict(time.Now())
	}
	if err != nil {
		return fmt.Errorf("rocketmqio.Read: %w", err)
	}
	return nil
}

// take removes up to most messages from the front, those of one pull, and returns
// the offset that the position has reached with them: behind messages that were
// not wanted, too, once nothing waits any more.
func (r *reader) take(most int) (messages []remoting.Message, reached int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	most = min(most, r.waiting.first())
	if r.limiter != nil {
		for n := range most {
			if !r.limiter.Allow() {
				most = n
				break
			}
		}
	}
	messages, bytes := r.waiting.take(most)
	switch {
	case r.waiting.count == 0:
		r.taken = r.pulled
	case most > 0:
		r.taken = messages[most-1].QueueOffset + 1
	}
	r.forget(most, bytes)
	if most > 0 {
		r.since = time.Now()
	}
	return messages, r.taken
}

// forget gives back what messages had taken of the limits. The caller holds the
// lock.
func (r *reader) forget(messages, bytes int) {
	if messages == 0 {
		return
	}
	r.session.budget.take(-messages, -bytes)
	close(r.room)
	r.room = make(chan struct{})
}

// giveUp ends the reader and gives back what it keeps. It may be called again.
func (r *reader) giveUp() {
	r.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	r.forget(r.waiting.count, r.waiting.bytes)
	r.waiting = waiting{}
}

// loseSight says that a pull failed: what the queue holds is not known until the
// next is answered, so its watermark stands still.
func (r *reader) loseSight() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.caughtUp = false
}

// touch notes that a bundle asks for the queue.
func (r *reader) touch(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.touched = now
}

func (r *reader) untouchedFor(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Sub(r.touched)
}

// backlog is how many offsets there are from one on, as last heard.
func (r *reader) backlog(from int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(min(r.max, r.end)-from, 0)
}

// isIdle says that all the queue had was taken.
func (r *reader) isIdle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.caughtUp && r.taken >= r.max
}
