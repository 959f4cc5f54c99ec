// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package asyncsink

import (
	"container/heap"
	"time"
)

// item is an element on its way.
type item[In, Entry, Ack any] struct {
	in    In
	entry Entry
	size  int
	owner *Writer[In, Entry, Ack]
	lane  *lane[In, Entry, Ack]

	seq       uint64    // in the order of writing, over the whole sink
	at        time.Time // when it was written
	sent      int       // requests that carried it
	attempts  int       // those that count
	waits     int       // how often it was put off
	waitingAt time.Time // when it was first put off
	due       time.Time // when it may go again
	alone     bool      // it goes in a request of its own
	uncertain bool      // a request that was repeated may have been carried out
	settled   bool      // it has its outcome
	last      error     // why it goes again
}

// again says that it was sent before.
func (it *item[In, Entry, Ack]) again() bool { return it.sent > 0 }

// lane is what waits of entries that may share requests. The sink's lock guards
// it.
type lane[In, Entry, Ack any] struct {
	Lane
	waiting deque[*item[In, Entry, Ack]] // may go, in order
	bytes   int                          // of waiting
	later   dueHeap[In, Entry, Ack]      // waits for a pause to end; without order only
	paused  time.Time                    // until when the whole lane waits; with order only
	flying  int                          // requests in flight

	ready bool      // is in the sink's queue
	wake  time.Time // when to look at it again; zero for never
	index int       // in the sink's alarms, -1 for not there
}

func (l *lane[In, Entry, Ack]) empty() bool {
	return l.waiting.len() == 0 && len(l.later) == 0 && l.flying == 0
}

func (l *lane[In, Entry, Ack]) pushBack(it *item[In, Entry, Ack]) {
	it.lane = l
	l.waiting.pushBack(it)
	l.bytes += it.size
}

func (l *lane[In, Entry, Ack]) pushFront(it *item[In, Entry, Ack]) {
	l.waiting.pushFront(it)
	l.bytes += it.size
}

// bytesOf are those of the first n.
func (l *lane[In, Entry, Ack]) bytesOf(n int) (bytes int) {
	for i := range n {
		bytes += l.waiting.at(i).size
	}
	return bytes
}

func (l *lane[In, Entry, Ack]) popFront() *item[In, Entry, Ack] {
	it := l.waiting.popFront()
	l.bytes -= it.size
	return it
}

// surface moves what has waited long enough to the front.
func (l *lane[In, Entry, Ack]) surface(now time.Time) {
	for len(l.later) > 0 && !l.later[0].due.After(now) {
		l.pushFront(heap.Pop(&l.later).(*item[In, Entry, Ack]))
	}
}

// drop removes the items of a writer.
func (l *lane[In, Entry, Ack]) drop(w *Writer[In, Entry, Ack]) (gone []*item[In, Entry, Ack]) {
	l.waiting.drop(func(it *item[In, Entry, Ack]) bool {
		if it.owner != w {
			return false
		}
		l.bytes -= it.size
		gone = append(gone, it)
		return true
	})
	kept := l.later[:0]
	for _, it := range l.later {
		if it.owner == w {
			gone = append(gone, it)
		} else {
			kept = append(kept, it)
		}
	}
	clear(l.later[len(kept):])
	l.later = kept
	heap.Init(&l.later)
	return gone
}

// dueHeap has the item that is due first on top.
type dueHeap[In, Entry, Ack any] []*item[In, Entry, Ack]

func (h dueHeap[In, Entry, Ack]) Len() int           { return len(h) }
func (h dueHeap[In, Entry, Ack]) Less(i, j int) bool { return h[i].due.Before(h[j].due) }
func (h dueHeap[In, Entry, Ack]) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *dueHeap[In, Entry, Ack]) Push(x any)        { *h = append(*h, x.(*item[In, Entry, Ack])) }
func (h *dueHeap[In, Entry, Ack]) Pop() any {
	last := len(*h) - 1
	it := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return it
}
