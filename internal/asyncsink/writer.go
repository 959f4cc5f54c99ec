// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package asyncsink

import (
	"context"
	"time"
)

// Outcome is what became of an element.
type Outcome[In, Entry, Ack any] struct {
	// In is the element as it was written; the zero value if it was restored.
	In In
	// Entry is what was made of it; the zero value if that failed.
	Entry Entry
	// Ack is what the destination said, if Err is nil.
	Ack Ack
	// Err is why the element failed, nil if it was acknowledged.
	Err error
	// Attempts is how many requests carried it.
	Attempts int
	// Uncertain says that one of them may have been carried out without our
	// knowing it: the destination may have the element more than once, or, if it
	// failed, all the same.
	Uncertain bool
}

// Writer is one caller's part of a sink. Its methods are for one goroutine, but
// for Abandon.
type Writer[In, Entry, Ack any] struct {
	sink *Sink[In, Entry, Ack]
	ctx  context.Context

	// The sink's lock guards the rest.
	unwatch func() bool // ends the watch over ctx; nil while there is none
	pending int         // elements without outcome
	failure error       // the first
	over    error       // why nothing more is taken
	done    []Outcome[In, Entry, Ack]
	taken   []Outcome[In, Entry, Ack] // by the last call of Take; the next reuses it
	news    chan struct{}             // holds one when pending has come to zero
}

// NewWriter makes a writer. When ctx ends, all that the writer has pending fails
// with its cause, at once. A writer needs no closing: nothing is kept of it when
// each of its elements has an outcome.
func (s *Sink[In, Entry, Ack]) NewWriter(ctx context.Context) *Writer[In, Entry, Ack] {
	return &Writer[In, Entry, Ack]{sink: s, ctx: ctx, news: make(chan struct{}, 1)}
}

// Write takes an element. It waits while the buffer is full, until ctx, the
// writer's own context or the sink ends.
//
// An error means that the element was not taken and has no outcome: one of these
// has ended, or an element failed before and [Config.StopOnFailure] is set, then
// it is that element's error. An element that cannot be converted or is too
// large is taken, and has its outcome at once.
func (w *Writer[In, Entry, Ack]) Write(ctx context.Context, in In) error {
	s := w.sink
	entry, err := s.cfg.Convert(ctx, in)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	it := &item[In, Entry, Ack]{in: in, entry: entry, owner: w}
	if err != nil {
		return w.refuse(it, err)
	}
	it.size = s.cfg.Size(entry)
	if it.size > s.cfg.MaxRecord {
		return w.refuse(it, &TooLarge{Size: it.size, Max: s.cfg.MaxRecord})
	}
	return w.enqueue(ctx, it)
}

// refuse takes an element that has failed already.
func (w *Writer[In, Entry, Ack]) refuse(it *item[In, Entry, Ack], err error) error {
	s := w.sink
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := w.refuses(); err != nil {
		return err
	}
	w.begun()
	s.bytes += it.size
	var none Ack
	s.settle(it, none, err)
	s.stopAfter(w)
	return nil
}

// refuses says why the writer takes no more. The lock is held.
func (w *Writer[In, Entry, Ack]) refuses() error {
	if w.sink.closed {
		return ErrClosed
	}
	return w.over
}

func (w *Writer[In, Entry, Ack]) enqueue(ctx context.Context, it *item[In, Entry, Ack]) error {
	s := w.sink
	s.mu.Lock()
	for {
		if err := w.refuses(); err != nil {
			s.mu.Unlock()
			return err
		}
		if s.buffered < s.cfg.MaxBuffered && (s.bytes == 0 || s.bytes+it.size <= s.cfg.MaxBufferedBytes) {
			break
		}
		s.hurry(time.Now()) // what lingers would keep the room for nothing
		room := s.room
		s.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		s.mu.Lock()
	}
	now := time.Now()
	s.seq++
	it.seq, it.at = s.seq, now
	s.buffered++
	s.bytes += it.size
	w.begun()
	l := s.laneOf(it.entry)
	l.pushBack(it)
	s.assess(l, now)
	s.pump(now)
	s.mu.Unlock()
	return nil
}

// begun counts an element that was taken. As long as there are any without
// outcome, the context is watched. The lock is held.
func (w *Writer[In, Entry, Ack]) begun() {
	w.sink.stats.Accepted++
	w.pending++
	if w.unwatch == nil {
		w.unwatch = context.AfterFunc(w.ctx, func() { w.Abandon(context.Cause(w.ctx)) })
	}
}

// Flush returns when each element of the writer has its outcome: nil if all were
// acknowledged, else the first failure. What is buffered goes without lingering.
// If ctx ends first, all that is pending fails with its cause, which is
// returned. After a flush the writer may be used again, unless it has stopped.
func (w *Writer[In, Entry, Ack]) Flush(ctx context.Context) error {
	s := w.sink
	s.mu.Lock()
	s.hurry(time.Now())
	for w.pending > 0 {
		s.mu.Unlock()
		select {
		case <-w.news:
		case <-ctx.Done():
			w.Abandon(context.Cause(ctx))
			return context.Cause(ctx)
		}
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	if w.failure != nil {
		return w.failure
	}
	return w.over
}

// Take returns the outcomes that became known since the last call, in the order
// in which they did. They are the caller's until the next call.
func (w *Writer[In, Entry, Ack]) Take() []Outcome[In, Entry, Ack] {
	w.sink.mu.Lock()
	defer w.sink.mu.Unlock()
	if len(w.done) == 0 {
		return nil
	}
	clear(w.taken)
	w.done, w.taken = w.taken[:0], w.done
	return w.taken
}

// Abandon fails all that has no outcome with err, or [ErrAbandoned] if that is
// nil, and takes no more. It does not wait for requests in flight, which are
// cancelled when they carry nothing else.
func (w *Writer[In, Entry, Ack]) Abandon(err error) {
	if err == nil {
		err = ErrAbandoned
	}
	s := w.sink
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.over == nil {
		w.over = err
	}
	if w.pending > 0 {
		s.drop(w, err, true)
		s.pump(time.Now())
	}
}

// settled takes an outcome. The lock is held.
func (w *Writer[In, Entry, Ack]) settled(o Outcome[In, Entry, Ack]) {
	w.done = append(w.done, o)
	if o.Err != nil && w.failure == nil {
		w.failure = o.Err
	}
	w.pending--
	if w.pending == 0 {
		w.unwatch()
		w.unwatch = nil
		select {
		case w.news <- struct{}{}:
		default:
		}
	}
}

// stopAfter stops the writer if it has failed and is to stop then. The lock is
// held.
func (s *Sink[In, Entry, Ack]) stopAfter(w *Writer[In, Entry, Ack]) {
	if !s.cfg.StopOnFailure || w.failure == nil || w.over != nil {
		return
	}
	w.over = w.failure
	s.drop(w, notSent{w.failure}, false)
}

// notRepeated is the outcome of an element that was to go again when another one
// failed.
type notRepeated struct{ last error }

func (e notRepeated) Error() string {
	return "not repeated, because another element failed: " + e.last.Error()
}
func (e notRepeated) Unwrap() error { return e.last }

// notSent is [ErrNotSent] with the failure that led to it.
type notSent struct{ because error }

func (e notSent) Error() string   { return ErrNotSent.Error() + ": " + e.because.Error() }
func (e notSent) Unwrap() []error { return []error{ErrNotSent, e.because} }
