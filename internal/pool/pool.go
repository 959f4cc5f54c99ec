// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pool shares what is expensive to open among all bundles of a process:
// consumers, sessions, clients.
//
// No runner of Beam calls Teardown, so nothing tells when a transform has
// ended. Values are therefore held only while they are used, counted, and
// closed when nobody used them for a while. The pools are the only state that
// the packages of this module keep beside their transforms.
package pool

import (
	"context"
	"sync"
	"time"
)

// Pool keeps one value a key, shared by all who acquire it.
type Pool[K comparable, V any] struct {
	idle  func(V) time.Duration
	close func(V)

	mu      sync.Mutex
	entries map[K]*entry[V]
	busy    int // values being opened or closed
	settled sync.Cond
}

type entry[V any] struct {
	opened chan struct{}      // closed when value or err is set
	cancel context.CancelFunc // of the opening
	value  V
	err    error
	users  int
	due    time.Time   // when to close, while there is no user
	timer  *time.Timer // nil until there was no user for the first time
	armed  bool        // the timer runs; it looks at due itself, for uses are many
	gone   bool        // nobody can acquire it any more
}

// New makes a pool whose values are closed, with the function given, when they
// were not used for as long as idle says of them.
func New[K comparable, V any](idle func(V) time.Duration, close func(V)) *Pool[K, V] {
	p := &Pool[K, V]{idle: idle, close: close, entries: make(map[K]*entry[V])}
	p.settled.L = &p.mu
	return p
}

// Acquire returns the value of key, opening it if it is not there, held until
// [Hold.Release]. Callers that come while it is being opened wait for it. open runs
// apart from ctx, so that a caller who leaves does not spoil it for the others; its
// context ends when none of them is left. Its error goes to all who wait, and the
// next Acquire tries again.
func (p *Pool[K, V]) Acquire(ctx context.Context, key K, open func(context.Context) (V, error)) (V, *Hold[K, V], error) {
	p.mu.Lock()
	e, ok := p.entries[key]
	if !ok {
		e = &entry[V]{opened: make(chan struct{})}
		p.entries[key] = e
		p.busy++
		var opening context.Context
		opening, e.cancel = context.WithCancel(context.WithoutCancel(ctx))
		go p.open(opening, key, e, open)
	}
	e.users++
	p.mu.Unlock()

	var none V
	h := &Hold[K, V]{pool: p, key: key, entry: e, held: true}
	select {
	case <-e.opened:
	case <-ctx.Done():
		h.Release()
		return none, nil, context.Cause(ctx)
	}
	if e.err != nil {
		h.Release()
		return none, nil, e.err
	}
	return e.value, h, nil
}

func (p *Pool[K, V]) open(ctx context.Context, key K, e *entry[V], open func(context.Context) (V, error)) {
	defer e.cancel()
	e.value, e.err = open(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.gone && e.err == nil { // all have left
		p.mu.Unlock()
		p.close(e.value)
		p.mu.Lock()
		e.err = context.Canceled
	}
	if e.err != nil && !e.gone {
		p.forget(key, e)
	}
	close(e.opened)
	p.calm()
}

// calm counts down busy. The caller holds the lock.
func (p *Pool[K, V]) calm() {
	p.busy--
	p.settled.Broadcast()
}

// release gives one use back; after the last the value is closed in a while. The
// caller holds the lock.
func (p *Pool[K, V]) release(key K, e *entry[V]) {
	e.users--
	if e.users > 0 || e.gone {
		return
	}
	if !e.isOpen() { // all have left: who comes now has another opened
		p.forget(key, e)
		e.cancel()
		return
	}
	idle := p.idle(e.value)
	e.due = time.Now().Add(idle)
	if !e.armed {
		p.arm(key, e, idle)
	}
}

// forget has whoever comes now open another. The caller holds the lock.
func (p *Pool[K, V]) forget(key K, e *entry[V]) {
	delete(p.entries, key)
	e.gone = true
}

// arm has the timer run. The caller holds the lock.
func (p *Pool[K, V]) arm(key K, e *entry[V], after time.Duration) {
	e.armed = true
	if e.timer == nil {
		e.timer = time.AfterFunc(after, func() { p.expire(key, e) })
	} else {
		e.timer.Reset(after)
	}
}

// isOpen says that the opening has ended.
func (e *entry[V]) isOpen() bool {
	select {
	case <-e.opened:
		return true
	default:
		return false
	}
}

// expire closes e unless somebody has it, whose release arms the timer again, or had
// it and gave it back: then it is due later.
func (p *Pool[K, V]) expire(key K, e *entry[V]) {
	p.mu.Lock()
	e.armed = false
	if e.users > 0 || e.gone {
		p.mu.Unlock()
		return
	}
	if left := time.Until(e.due); left > 0 {
		p.arm(key, e, left)
		p.mu.Unlock()
		return
	}
	p.forget(key, e)
	p.busy++
	p.mu.Unlock()
	p.shut(e)
}

// shut closes what nobody can reach any more.
func (p *Pool[K, V]) shut(e *entry[V]) {
	<-e.opened
	if e.err == nil {
		p.close(e.value)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calm()
}

// Peek runs use with the value of key if it is open, without counting as a use.
// use must be short: the pool is locked meanwhile.
func (p *Pool[K, V]) Peek(key K, use func(V)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.entries[key]; ok && e.isOpen() && e.err == nil {
		use(e.value)
	}
}

// Len is the number of values that are open or being opened.
func (p *Pool[K, V]) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.entries)
}

// Hasten has the value of key closed when nobody used it for that long from now
// on, rather than for its idle time. Whoever takes it in the meantime undoes this.
func (p *Pool[K, V]) Hasten(key K, unused time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.entries[key]; ok && e.users == 0 {
		e.due = time.Now().Add(unused)
		p.arm(key, e, unused)
	}
}

// CloseIdle closes, before their time, the values that nobody uses, and waits
// until they and those that are already closing are closed.
func (p *Pool[K, V]) CloseIdle() {
	p.mu.Lock()
	var unused []*entry[V]
	for key, e := range p.entries {
		if e.users > 0 {
			continue
		}
		if e.timer != nil {
			e.timer.Stop()
		}
		p.forget(key, e)
		p.busy++
		unused = append(unused, e)
	}
	p.mu.Unlock()
	for _, e := range unused {
		p.shut(e)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.busy > 0 {
		p.settled.Wait()
	}
}
