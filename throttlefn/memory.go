// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/pool"
)

// memory is what Throttle remembers from bundle to bundle: the state of the
// policy, how long messages were deferred, and what lite topics are up to. It is shared by all bundles of a process with the same
// configuration, and lost with the process.
type memory struct {
	decide Decide

	mu     sync.Mutex
	ledger *recent[messageKey, time.Duration]
	lites  *recent[liteKey, liteState]
}

// liteState is what is known of a lite topic.
type liteState struct {
	workUntil time.Time // until when a message that passed may be in work
	heldUntil time.Time // until when messages are deferred
	heldLease time.Time // when the lease of the delivery ends that was deferred
}

// messageKey tells messages apart over their deliveries.
type messageKey struct{ endpoints, namespace, group, topic, id string }

// liteKey names a lite topic of a group.
type liteKey struct{ endpoints, namespace, group, topic, liteTopic string }

// Bounds of the two, about 20 MB each when full. Beyond them what was used
// longest ago is forgotten: a message's count begins anew, which the broker's
// own count of attempts backs up.
const (
	ledgerKept = 100_000
	litesKept  = 100_000
)

func newMemory(p Policy) *memory {
	return &memory{
		decide: p.Start(),
		ledger: newRecent[messageKey, time.Duration](ledgerKept),
		lites:  newRecent[liteKey, liteState](litesKept),
	}
}

// memoryKey is what bundles must agree on to share a memory.
type memoryKey struct {
	settings settings
	policy   string
}

// memoryIdle is how long a memory outlives the last bundle that used it. It is
// longer than the longest deferral by default, so that a quiet hour does not
// make messages lose their count.
const memoryIdle = time.Hour

var memories = pool.New[memoryKey](func(*memory) time.Duration { return memoryIdle }, func(*memory) {})

// recall returns the memory for a configuration, held until it is given back.
func recall(ctx context.Context, s settings, e encodedPolicy) (*memory, *pool.Hold[memoryKey, *memory], error) {
	return memories.Acquire(ctx, memoryKey{s, e.Name + " " + string(e.JSON)}, func(context.Context) (*memory, error) {
		p, err := e.decode()
		if err != nil {
			return nil, err
		}
		return newMemory(p), nil
	})
}

func messageKeyOf(h *coders.ReceiptHandle) messageKey {
	return messageKey{h.Endpoints, h.Namespace, h.ConsumerGroup, h.Topic, h.MessageID}
}

func liteKeyOf(h *coders.ReceiptHandle) liteKey {
	return liteKey{h.Endpoints, h.Namespace, h.ConsumerGroup, h.Topic, h.LiteTopic}
}

// deferredFor is how long the message was deferred altogether.
func (m *memory) deferredFor(h *coders.ReceiptHandle) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	total, _ := m.ledger.get(messageKeyOf(h))
	return total
}

// wasDeferred adds to that.
func (m *memory) wasDeferred(h *coders.ReceiptHandle, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	total, known := m.ledger.get(messageKeyOf(h))
	key := messageKeyOf(h)
	if !known { // a handle's strings share the memory of its whole record
		key = messageKey{strings.Clone(key.endpoints), strings.Clone(key.namespace), strings.Clone(key.group), strings.Clone(key.topic), strings.Clone(key.id)}
	}
	m.ledger.put(key, total+d)
}

// hasPassed forgets what the message was deferred for and remembers that its
// lite topic has a message in work until then.
func (m *memory) hasPassed(h *coders.ReceiptHandle, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ledger.remove(messageKeyOf(h))
	m.changeLite(h, func(s *liteState) {
		if until.After(s.workUntil) {
			s.workUntil = until
		}
	})
}

// isHeld remembers that what was delivered of h's lite topic together with h is
// deferred until then.
func (m *memory) isHeld(h *coders.ReceiptHandle, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changeLite(h, func(s *liteState) { s.heldUntil, s.heldLease = until, h.InvisibleUntil })
}

func (m *memory) changeLite(h *coders.ReceiptHandle, change func(*liteState)) {
	key := liteKeyOf(h)
	was, known := m.lites.get(key)
	if !known {
		key = liteKey{strings.Clone(key.endpoints), strings.Clone(key.namespace), strings.Clone(key.group), strings.Clone(key.topic), strings.Clone(key.liteTopic)}
	}
	is := was
	change(&is)
	if is != was {
		m.lites.put(key, is)
	}
}

// lite is what is known of h's lite topic.
func (m *memory) lite(h *coders.ReceiptHandle) liteState {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, _ := m.lites.get(liteKeyOf(h))
	return s
}
