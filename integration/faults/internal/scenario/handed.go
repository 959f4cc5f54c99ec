// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/worker"
)

// handed is what workers noted in a file of the messages that they were handed.
type handed struct {
	path string

	mu     sync.Mutex
	at     int64  // how far the file was read
	rest   []byte // of a line without its end
	count  int
	bodies map[string]bool
	queues map[int]*noted
}

// noted is one queue.
type noted struct {
	seen  map[int64]bool
	all   int64 // the first offset that was not handed on, counted from 0
	first int64 // that the present worker was handed, -1 for none
}

func newHanded(path string) *handed {
	return &handed{path: path, bodies: map[string]bool{}, queues: map[int]*noted{}}
}

// read takes what the file has got since. The file need not be there yet.
func (h *handed) read() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	f, err := os.Open(h.path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("what was handed on: %w", err)
	}
	defer f.Close()
	more, err := io.ReadAll(io.NewSectionReader(f, h.at, 1<<40))
	if err != nil {
		return fmt.Errorf("what was handed on: %w", err)
	}
	h.at += int64(len(more))
	h.rest = append(h.rest, more...)
	lines, n := worker.ReadHanded(h.rest)
	h.rest = append([]byte(nil), h.rest[n:]...)
	for _, line := range lines {
		h.take(line)
	}
	return nil
}

// take enters a line. The lock is held.
func (h *handed) take(m worker.Handed) {
	q := h.queue(m.Queue)
	h.count++
	h.bodies[m.Body] = true
	if q.first < 0 {
		q.first = m.Offset
	}
	q.seen[m.Offset] = true
	for q.seen[q.all] {
		q.all++
	}
}

// queue is the one of that number. The lock is held.
func (h *handed) queue(id int) *noted {
	q := h.queues[id]
	if q == nil {
		q = &noted{seen: map[int64]bool{}, first: -1}
		h.queues[id] = q
	}
	return q
}

// distinct is how many different bodies there were.
func (h *handed) distinct() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.bodies)
}

// judge looks at a group's offset in a queue when a worker has ended. It must not
// be beyond what was handed on, and the worker must have begun at the offset of
// its own start, or behind it if a commit was still on its way then. It returns
// how many messages were handed on and are not covered.
func (h *handed) judge(id int, before, now int64) (int64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	q := h.queue(id)
	first := q.first
	q.first = -1
	switch {
	case now > q.all:
		return 0, fmt.Errorf("queue %d: offset %d is committed, but only what lies before %d was handed on", id, now, q.all)
	case now < before:
		return 0, fmt.Errorf("queue %d: offset %d is committed after %d", id, now, before)
	case first >= 0 && first < before:
		return 0, fmt.Errorf("queue %d: a worker began at %d, with offset %d committed", id, first, before)
	}
	return int64(len(q.seen)) - now, nil
}

// counts is how many messages of each queue were handed on.
func (h *handed) counts() map[int]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make(map[int]int, len(h.queues))
	for id, q := range h.queues {
		out[id] = len(q.seen)
	}
	return out
}
