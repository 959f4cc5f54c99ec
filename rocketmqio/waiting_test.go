// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// pulled has n messages from an offset on, of 10 bytes each.
func pulled(from int64, n int) []remoting.Message {
	out := make([]remoting.Message, n)
	for i := range out {
		out[i] = remoting.Message{QueueOffset: from + int64(i), Body: make([]byte, 10)}
	}
	return out
}

func TestWhatWaitsIsTakenPullByPull(t *testing.T) {
	var w waiting
	w.add(nil)
	for _, pull := range [][]remoting.Message{pulled(0, 3), nil, pulled(3, 2)} {
		w.add(pull)
	}
	if w.count != 5 || w.bytes != 50 || w.first() != 3 {
		t.Fatalf("%d messages of %d bytes wait, %d in the first pull; want 5 of 50, 3", w.count, w.bytes, w.first())
	}
	next := int64(0)
	for _, n := range []int{2, 0, 1, 2} {
		messages, bytes := w.take(n)
		if len(messages) != n || bytes != 10*n {
			t.Fatalf("got %d messages of %d bytes, want %d of %d", len(messages), bytes, n, 10*n)
		}
		for _, m := range messages {
			if m.QueueOffset != next {
				t.Fatalf("got offset %d, want %d", m.QueueOffset, next)
			}
			next++
		}
	}
	if w.count != 0 || w.bytes != 0 || w.first() != 0 || len(w.pulls) != 0 {
		t.Errorf("all was taken, and there are still %+v", w)
	}
}

// What was taken must not be kept in memory by the pulls behind it.
func TestWhatWasTakenIsForgotten(t *testing.T) {
	var w waiting
	w.add(pulled(0, 1))
	w.add(pulled(1, 1))
	all := w.pulls[:2:2]
	w.take(1)
	if all[0] != nil || all[1] == nil {
		t.Errorf("after the first pull was taken: kept are %v", all)
	}
}

// A bundle of a queue that lags behind goes on with what comes, instead of
// ending with what one pull brought.
func TestABundleGoesOnWhileItsQueueLagsBehind(t *testing.T) {
	b := startBroker(t, 2)
	publish(b, 0, 500, "m")
	s := testSession(t, b, ReadFrom(Earliest()))
	r := s.readerAt(queueZero, 0, 500)
	eventually(t, s, "the first messages came", r.ready)
	for n := 0; n < 500; {
		if !s.awaitMore(t.Context(), r, time.Now().Add(20*time.Second)) {
			t.Fatalf("no more came after %d of 500 messages", n)
		}
		for messages, _ := r.take(500); len(messages) > 0; messages, _ = r.take(500) {
			n += len(messages)
		}
	}
	if s.awaitMore(t.Context(), r, time.Now().Add(20*time.Second)) {
		t.Error("it waits behind the end of the queue")
	}
}

func TestWhenItIsAnotherQueuesTurn(t *testing.T) {
	const threshold = 10
	now := time.Now()
	for _, c := range []struct {
		name  string
		ready int
		since time.Duration
		want  bool
	}{
		{"nothing is ready", 0, time.Hour, false},
		{"little is ready, and came just now", 1, fairWait / 2, false},
		{"little is ready, and nobody took it for a while", 1, fairWait, true},
		{"half of what may be ready is, and came just now", threshold / 2, manyWait / 2, false},
		{"half of what may be ready is, for a moment", threshold / 2, manyWait, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &reader{session: &session{cfg: readConfig{QueueThreshold: threshold}}, since: now.Add(-c.since)}
			r.waiting.add(pulled(0, c.ready))
			if got := r.presses(now); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestForHowManyMessagesABundleGoesOn(t *testing.T) {
	for _, c := range []struct {
		name                  string
		readers, queue, total int
		want                  int
	}{
		{"with the defaults", 4, DefaultQueueThreshold, DefaultTotalThreshold, worthwhile},
		{"no more than half of what a queue may keep ready", 1, 20, 1000, 10},
		{"no more than half of a queue's share of the total", 100, 1000, 1000, 5},
		{"one at least", 3, 1, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &session{cfg: readConfig{QueueThreshold: c.queue, TotalThreshold: c.total}, readers: map[Queue]*reader{}}
			for id := range c.readers {
				s.readers[Queue{ID: id}] = &reader{}
			}
			if got := s.worthwhile(); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}
