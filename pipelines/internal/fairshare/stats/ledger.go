// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package stats keeps the books of one leg: what became of each message, and how
// long it took from publishing to acknowledgement.
package stats

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// Class tells apart what is measured apart.
type Class uint8

// The classes of messages. WarmUp ones are waited for and not counted.
const (
	Calm Class = iota
	Noisy
	WarmUp
)

// Ledger follows every message of one leg by its id. Its methods may be called
// from many goroutines.
type Ledger struct {
	mu      sync.Mutex
	entries map[string]*entry
	open    int           // published and not acknowledged
	emptied chan struct{} // closed when open falls to 0, nil if nobody waits
	counts  Counts
	start   time.Time // of the measured load
	last    time.Time // last acknowledgement in it
	latency [2]*latencies
	points  []Point
}

type entry struct {
	class                Class
	at                   time.Time
	deliveries, deferred int
	acked                bool
}

// Counts are what happened since the start of the load, warm-up left out.
type Counts struct {
	Published, Delivered, Deferred, Acked int
	// Redelivered counts deliveries of a message that had been delivered before
	// and was not deferred in between.
	Redelivered int
	// Valve counts messages over quota that a safety valve let pass.
	Valve int
	// Expired counts acknowledgements and deferrals that came after the lease.
	Expired int
	// Foreign counts messages of earlier runs, which are acknowledged unseen.
	Foreign int
}

// Point is one message of the load.
type Point struct {
	At      time.Duration // published, from the start of the load
	Latency time.Duration // until it was acknowledged
	Noisy   bool
}

// NewLedger makes an empty one.
func NewLedger() *Ledger {
	return &Ledger{entries: make(map[string]*entry), latency: [2]*latencies{newLatencies(), newLatencies()}}
}

// Start marks the begin of the measured load.
func (l *Ledger) Start(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.start, l.last = now, now
}

// Publish notes a message that is about to be sent: it may be delivered before
// the sending returns.
func (l *Ledger) Publish(id string, class Class, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries[id] = &entry{class: class, at: at}
	l.open++
	if class != WarmUp {
		l.counts.Published++
	}
}

// Deliver notes a delivery. It is false for a message that this leg did not
// publish.
func (l *Ledger) Deliver(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.entries[id]
	if !ok {
		l.counts.Foreign++
		return false
	}
	e.deliveries++
	if e.class == WarmUp {
		return true
	}
	l.counts.Delivered++
	if e.deliveries-1 > e.deferred {
		// One that was counted is taken as explained, so that a deferral that
		// comes later does not hide the next.
		e.deferred++
		l.counts.Redelivered++
	}
	return true
}

// Defer notes that the policy put a message off.
func (l *Ledger) Defer(id string) {
	l.count(id, func(e *entry, c *Counts) { e.deferred++; c.Deferred++ })
}

// Valve notes that a message over quota was let pass.
func (l *Ledger) Valve(id string) { l.count(id, func(_ *entry, c *Counts) { c.Valve++ }) }

// Expire notes that a handle came back too late.
func (l *Ledger) Expire(id string) { l.count(id, func(_ *entry, c *Counts) { c.Expired++ }) }

func (l *Ledger) count(id string, add func(*entry, *Counts)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.entries[id]; ok && e.class != WarmUp {
		add(e, &l.counts)
	}
}

// Ack notes that the broker took the acknowledgement of a message. Only the
// first one counts.
func (l *Ledger) Ack(id string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.entries[id]
	if !ok || e.acked {
		return
	}
	e.acked = true
	l.open--
	if l.open == 0 && l.emptied != nil {
		close(l.emptied)
		l.emptied = nil
	}
	if e.class == WarmUp {
		return
	}
	l.counts.Acked++
	l.last = now
	took := now.Sub(e.at)
	l.latency[e.class].add(took)
	l.points = append(l.points, Point{At: e.at.Sub(l.start), Latency: took, Noisy: e.class == Noisy})
}

// AwaitAcks returns when every message published so far has been acknowledged,
// or with the cause of ctx.
func (l *Ledger) AwaitAcks(ctx context.Context) error {
	l.mu.Lock()
	if l.open == 0 {
		l.mu.Unlock()
		return nil
	}
	if l.emptied == nil {
		l.emptied = make(chan struct{})
	}
	emptied := l.emptied
	l.mu.Unlock()
	select {
	case <-emptied:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Missing lists up to most ids that were published in the load and never
// acknowledged, the oldest first.
func (l *Ledger) Missing(most int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var ids []string
	for id, e := range l.entries {
		if !e.acked && e.class != WarmUp {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(l.entries[a].at.Compare(l.entries[b].at), cmp.Compare(a, b))
	})
	return ids[:min(most, len(ids))]
}

// Points are the messages acknowledged so far, in the order of that.
func (l *Ledger) Points() []Point {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.points)
}
