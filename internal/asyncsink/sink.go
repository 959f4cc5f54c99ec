// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package asyncsink

import (
	"context"
	"sync"
	"time"
)

// Sink batches, sends and repeats for all its writers. Any number of goroutines
// may use it.
type Sink[In, Entry, Ack any] struct {
	cfg Config[In, Entry, Ack]

	ctx    context.Context // of all requests; ends with Close
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // workers and the one that keeps the time
	work   chan *flight[In, Entry, Ack]
	kick   chan struct{} // wakes the one that keeps the time

	mu        sync.Mutex
	closed    bool
	lanes     map[string]*lane[In, Entry, Ack]
	ready     deque[*lane[In, Entry, Ack]] // lanes with a batch that may go
	alarms    alarms[In, Entry, Ack]
	nextAlarm time.Time // for which the timer is set; zero for none
	flights   map[*flight[In, Entry, Ack]]struct{}
	idle      int // workers without a request
	seq       uint64
	flushed   uint64        // all up to this number go without lingering
	buffered  int           // entries that are not in flight
	bytes     int           // of entries, those in flight included
	flying    int           // bytes of requests in flight
	room      chan struct{} // closed and replaced when there is more room
	barred    bool          // nothing may go before a request has ended
	held      time.Time     // since when that is so; zero if it is not
	stats     Stats
}

// New checks cfg and starts a sink. [Sink.Close] ends it.
func New[In, Entry, Ack any](cfg Config[In, Entry, Ack]) (*Sink[In, Entry, Ack], error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	s := &Sink[In, Entry, Ack]{
		cfg: cfg, work: make(chan *flight[In, Entry, Ack], cfg.MaxInFlight), kick: make(chan struct{}, 1),
		lanes: make(map[string]*lane[In, Entry, Ack]), flights: make(map[*flight[In, Entry, Ack]]struct{}), room: make(chan struct{}),
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.wg.Go(s.keepTime)
	return s, nil
}

// Close ends everything at once: what has no outcome fails with [ErrClosed].
// It waits until nothing of the sink runs any more, which is as long as Submit
// takes to notice the end of its context. Closing twice is harmless.
func (s *Sink[In, Entry, Ack]) Close() {
	s.mu.Lock()
	s.closed = true
	for _, l := range s.lanes {
		for l.waiting.len() > 0 {
			s.fail(l.popFront(), ErrClosed)
		}
		for _, it := range l.later {
			s.fail(it, ErrClosed)
		}
		l.later = nil
	}
	for f := range s.flights {
		s.failFlying(f, nil, ErrClosed)
	}
	s.makeRoom()
	s.mu.Unlock()
	s.cancel(ErrClosed)
	s.wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.flights) // those that no worker had begun
	s.stats.InFlight = 0
}

// Drain waits until nothing is buffered or in flight, or ctx ends. What is
// buffered goes without lingering.
func (s *Sink[In, Entry, Ack]) Drain(ctx context.Context) error {
	for {
		s.mu.Lock()
		s.hurry(time.Now())
		over, room := s.closed || s.buffered == 0 && len(s.flights) == 0, s.room
		s.mu.Unlock()
		if over {
			return nil
		}
		select {
		case <-room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// laneOf returns the lane of an entry. The lock is held.
func (s *Sink[In, Entry, Ack]) laneOf(e Entry) *lane[In, Entry, Ack] {
	which := s.cfg.Lane(e)
	l := s.lanes[which.Key]
	if l == nil {
		l = &lane[In, Entry, Ack]{Lane: which, index: -1}
		s.lanes[which.Key] = l
	}
	return l
}

// mostOf is how many entries a batch of the lane may have.
func (s *Sink[In, Entry, Ack]) mostOf(l *lane[In, Entry, Ack]) int {
	if l.MaxBatch > 0 {
		return min(l.MaxBatch, s.cfg.MaxBatch)
	}
	return s.cfg.MaxBatch
}

// assess puts the lane into the queue if it has a batch that may go, or else
// sets its alarm. One that is empty is forgotten. The lock is held.
func (s *Sink[In, Entry, Ack]) assess(l *lane[In, Entry, Ack], now time.Time) {
	if l.ready || s.closed {
		return
	}
	if l.empty() {
		s.setAlarm(l, time.Time{})
		delete(s.lanes, l.Key)
		return
	}
	go_, at := s.mayGo(l, now)
	s.setAlarm(l, at)
	if go_ {
		l.ready = true
		s.ready.pushBack(l)
	}
}

// mayGo says whether the lane has a batch that may go now, and if not, when to
// look again.
func (s *Sink[In, Entry, Ack]) mayGo(l *lane[In, Entry, Ack], now time.Time) (yes bool, at time.Time) {
	if l.Ordered && l.flying > 0 {
		return false, time.Time{} // looked at when the request has ended
	}
	if l.paused.After(now) {
		return false, l.paused
	}
	l.surface(now)
	if len(l.later) > 0 {
		at = l.later[0].due
	}
	if l.waiting.len() == 0 {
		return false, at
	}
	first := l.waiting.at(0)
	full := l.waiting.len() >= s.mostOf(l) || l.bytes >= s.cfg.MaxBatchBytes
	ripe := first.at.Add(s.cfg.Linger)
	if full || first.again() || first.seq <= s.flushed || !ripe.After(now) {
		return true, time.Time{}
	}
	if at.IsZero() || ripe.Before(at) {
		at = ripe
	}
	return false, at
}

// hurry has all go that is buffered now. The lock is held.
func (s *Sink[In, Entry, Ack]) hurry(now time.Time) {
	if s.flushed == s.seq {
		return
	}
	s.flushed = s.seq
	for _, l := range s.lanes {
		s.assess(l, now)
	}
	s.pump(now)
}

// pump starts requests as far as that is allowed. The lock is held.
func (s *Sink[In, Entry, Ack]) pump(now time.Time) {
	for s.ready.len() > 0 && len(s.flights) < s.cfg.MaxInFlight && !s.barred && !s.closed {
		l := s.ready.at(0)
		n := s.cut(l, now)
		if n > 0 {
			if n = s.admit(l, n); n == 0 {
				s.barred = true
				break
			}
			s.launch(l, n)
		}
		s.ready.popFront()
		l.ready = false
		s.assess(l, now)
	}
	switch {
	case s.barred && s.held.IsZero():
		s.held = now
	case !s.barred && !s.held.IsZero():
		s.stats.Throttled += now.Sub(s.held)
		s.held = time.Time{}
	}
}

// admit says how many of the lane's first n entries may go now. While nothing is in
// flight one may always, or nothing would ever end.
func (s *Sink[In, Entry, Ack]) admit(l *lane[In, Entry, Ack], n int) int {
	if len(s.flights) > 0 && l.bytesOf(n) > s.cfg.MaxInFlightBytes-s.flying {
		return 0
	}
	n = min(n, s.cfg.Strategy.Admit(n))
	if n <= 0 && len(s.flights) == 0 {
		n = 1
	}
	return max(n, 0)
}

// cut says how many entries the next batch of the lane has; none if it may not
// go after all, for a lane in the queue may have lost what made it ready.
func (s *Sink[In, Entry, Ack]) cut(l *lane[In, Entry, Ack], now time.Time) int {
	if yes, _ := s.mayGo(l, now); !yes {
		return 0
	}
	if l.waiting.at(0).alone {
		return 1
	}
	n, bytes := 0, 0
	for most := min(s.mostOf(l), l.waiting.len()); n < most; n++ {
		it := l.waiting.at(n)
		if n > 0 && (it.alone || bytes+it.size > s.cfg.MaxBatchBytes) {
			break
		}
		bytes += it.size
	}
	view := View[Entry]{len: n,
		entry: func(i int) Entry { return l.waiting.at(i).entry }, size: func(i int) int { return l.waiting.at(i).size }}
	return max(1, min(n, s.cfg.Cut(l.Lane, view)))
}

// makeRoom wakes who waits for room. The lock is held.
func (s *Sink[In, Entry, Ack]) makeRoom() {
	close(s.room)
	s.room = make(chan struct{})
}

// settle gives an item its outcome, once. The lock is held.
func (s *Sink[In, Entry, Ack]) settle(it *item[In, Entry, Ack], ack Ack, err error) {
	if it.settled {
		return
	}
	it.settled = true
	s.bytes -= it.size
	if err == nil {
		s.stats.Acknowledged++
	} else {
		s.stats.Failed++
	}
	it.owner.settled(Outcome[In, Entry, Ack]{In: it.in, Entry: it.entry, Ack: ack, Err: err, Attempts: it.sent, Uncertain: it.uncertain})
}

// fail is settle for an item that was waiting.
func (s *Sink[In, Entry, Ack]) fail(it *item[In, Entry, Ack], err error) {
	var none Ack
	s.buffered--
	s.settle(it, none, err)
}

// drop fails all that a writer has waiting, and what is in flight, too, if flying
// says so. The lock is held.
func (s *Sink[In, Entry, Ack]) drop(w *Writer[In, Entry, Ack], err error, flying bool) {
	now := time.Now()
	for _, l := range s.lanes {
		for _, it := range l.drop(w) {
			if it.again() && !flying {
				s.fail(it, notRepeated{it.last})
			} else {
				s.fail(it, err)
			}
		}
		s.assess(l, now)
	}
	if flying {
		for f := range s.flights {
			s.failFlying(f, w, err)
		}
	}
	s.makeRoom()
}
