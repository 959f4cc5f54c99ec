// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package asyncsink

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"time"
)

// flight is a request on its way.
type flight[In, Entry, Ack any] struct {
	lane   *lane[In, Entry, Ack]
	items  []*item[In, Entry, Ack]
	bytes  int
	mark   uint64 // the strategy's
	live   int    // items that somebody waits for
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// launch takes n items off the lane's front and hands them to a worker. The lock
// is held.
func (s *Sink[In, Entry, Ack]) launch(l *lane[In, Entry, Ack], n int) {
	f := &flight[In, Entry, Ack]{lane: l, items: make([]*item[In, Entry, Ack], n), live: n}
	for i := range f.items {
		it := l.popFront()
		it.sent++
		f.items[i] = it
		f.bytes += it.size
	}
	l.flying++
	s.flying += f.bytes
	s.buffered -= n
	f.ctx, f.cancel = context.WithCancelCause(s.ctx)
	f.mark = s.cfg.Strategy.Started(n)
	s.flights[f] = struct{}{}
	s.stats.Requests++
	s.stats.InFlight += n
	if s.idle > 0 {
		s.idle--
	} else {
		s.wg.Go(s.carry)
	}
	s.work <- f // never blocks: it holds as many as may be in flight
	s.makeRoom()
}

// carry sends requests until the sink is closed.
func (s *Sink[In, Entry, Ack]) carry() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case f := <-s.work:
			s.send(f)
		}
	}
}

// send sends one request and enters what became of it.
func (s *Sink[In, Entry, Ack]) send(f *flight[In, Entry, Ack]) {
	entries := make([]Entry, len(f.items))
	verdicts := make([]Verdict[Ack], len(f.items))
	for i, it := range f.items {
		entries[i], verdicts[i].Err = it.entry, ErrNoVerdict
	}
	begin := time.Now()
	ctx, cancel := context.WithTimeoutCause(f.ctx, s.cfg.RequestTimeout, ErrTimeout)
	s.cfg.Submit(ctx, entries, verdicts)
	late := errors.Is(context.Cause(ctx), ErrTimeout)
	cancel()
	report := s.ended(f, verdicts, late, begin)
	f.cancel(nil)
	if s.cfg.Observe != nil {
		s.cfg.Observe(report)
	}
}

// ended judges each entry of a request.
func (s *Sink[In, Entry, Ack]) ended(f *flight[In, Entry, Ack], verdicts []Verdict[Ack], late bool, begin time.Time) Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	r := Report{Entries: len(f.items), Bytes: f.bytes, Took: now.Sub(begin)}
	var again []*item[In, Entry, Ack]
	for i, it := range f.items {
		v := verdicts[i]
		switch {
		case it.settled: // nobody waits for it any more
		case v.Err == nil:
			r.Acknowledged++
			s.settle(it, v.Ack, nil)
		case s.sendAgain(it, s.judge(v.Err, late), v.Err, now, &r):
			again = append(again, it)
		default:
			r.Failed++
		}
	}
	delete(s.flights, f)
	s.idle++
	s.stats.InFlight -= len(f.items)
	s.flying -= f.bytes
	s.cfg.Strategy.Ended(f.mark, r)
	s.barred = false
	f.lane.flying--
	s.putBack(f.lane, again)
	for _, it := range f.items {
		s.stopAfter(it.owner)
	}
	s.stats.Retried += int64(r.Retried)
	s.stats.Congested += int64(r.Congested)
	s.assess(f.lane, now)
	s.pump(now)
	s.makeRoom()
	return r
}

func (s *Sink[In, Entry, Ack]) judge(err error, late bool) Judgement {
	j := Undecided
	if s.cfg.Classify != nil {
		j = s.cfg.Classify(err)
	}
	switch {
	case j == Final, j == Wait, j == Congested, j == Alone:
		return j
	case late:
		return TimedOut
	case j == Undecided:
		return Retry
	}
	return j
}

// sendAgain says whether the item goes again and prepares it for that; if not, it
// has failed. The lock is held.
func (s *Sink[In, Entry, Ack]) sendAgain(it *item[In, Entry, Ack], j Judgement, err error, now time.Time, r *Report) bool {
	var none Ack
	fail := func(err error) bool { s.settle(it, none, err); return false }
	it.last = err
	switch j {
	case Final:
		return fail(err)
	case Alone:
		if it.alone {
			return fail(err)
		}
		it.alone = true
	case Wait, Congested:
		if j == Congested {
			r.Congested++
		}
		if it.waits == 0 {
			it.waitingAt = now
		}
		it.waits++
		if waited := now.Sub(it.waitingAt); waited >= s.cfg.MaxWait {
			return fail(fmt.Errorf("still so after %v: %w", waited.Round(time.Millisecond), err))
		}
	default:
		it.uncertain = true
		s.stats.Uncertain++
		if j == TimedOut {
			r.Congested++
			s.stats.TimedOut++
			if !errors.Is(err, ErrTimeout) {
				err = fmt.Errorf("%w: %w", ErrTimeout, err)
				it.last = err
			}
		}
		it.attempts++
		if it.attempts >= s.cfg.MaxAttempts || j == TimedOut && s.cfg.FailOnTimeout {
			return fail(fmt.Errorf("after %d attempts: %w", it.attempts, err))
		}
	}
	if s.closed || it.owner.over != nil {
		return fail(err)
	}
	r.Retried++
	return true
}

// putBack returns items that go again to their lane. All of them have the same
// pause, so that they can go together. The lock is held.
func (s *Sink[In, Entry, Ack]) putBack(l *lane[In, Entry, Ack], again []*item[In, Entry, Ack]) {
	if len(again) == 0 {
		return
	}
	s.buffered += len(again)
	most := 0
	for _, it := range again {
		most = max(most, it.attempts+it.waits)
	}
	var due time.Time // at once, for what goes alone and had no failure of its own
	if most > 0 {
		due = time.Now().Add(s.cfg.pause(most))
	}
	if l.Ordered {
		l.paused = due
	}
	for i := len(again) - 1; i >= 0; i-- {
		it := again[i]
		it.due = due
		if l.Ordered || due.IsZero() {
			l.pushFront(it)
		} else {
			heap.Push(&l.later, it)
		}
	}
}

// failFlying fails the items of a request that belong to w, nil for all, and
// cancels it if nobody waits for it any more. The lock is held.
func (s *Sink[In, Entry, Ack]) failFlying(f *flight[In, Entry, Ack], w *Writer[In, Entry, Ack], err error) {
	var none Ack
	for _, it := range f.items {
		if (w == nil || it.owner == w) && !it.settled {
			it.uncertain = true
			s.settle(it, none, err)
			f.live--
		}
	}
	if f.live == 0 {
		f.cancel(err)
	}
}
