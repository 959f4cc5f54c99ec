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
// configuration, and lost with the process (see look).
type memory struct {
	decide Decide

	// keep is how long after its last use an entry of the ledger may still be
	// asked for.
	keep time.Duration

	mu             sync.Mutex
	ledger         *recent[messageKey, spent]
	lites          *recent[liteKey, liteState]
	forgetfulUntil time.Time // see isForgetful
	untold         bool      // nobody was told yet that it is
}

// spent is what the ledger knows of a message.
type spent struct {
	total  time.Duration // for how long it was deferred
	seen   time.Time     // when the entry was last used
	counts bool          // the total may be wrong: each deferral must count as an attempt
}

// liteState is what is known of a lite topic.
type liteState struct {
	workUntil time.Time // until when a message that passed may be in work
	heldUntil time.Time // until when messages are deferred
	heldLease time.Time // when the lease of the delivery ends that was deferred

	heldCounts bool // it must not be suspended, see spent
}

// messageKey tells messages apart over their deliveries.
type messageKey struct{ endpoints, namespace, group, topic, id string }

// liteKey names a lite topic of a group.
type liteKey struct{ endpoints, namespace, group, topic, liteTopic string }

// Bounds of the two, about 20 MB each when full. Beyond them what was used
// longest ago is forgotten. See isForgetful for what that means.
const (
	ledgerKept = 100_000
	litesKept  = 100_000
)

// newMemory makes one for messages that are deferred for up to most altogether.
// A message that was deferred is back after less than that; until it was read,
// grouped and decided about as long again may pass.
func newMemory(p Policy, most time.Duration) *memory {
	return &memory{
		decide: p.Start(),
		keep:   2 * most,
		ledger: newRecent[messageKey, spent](ledgerKept),
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
		return newMemory(p, s.MaxTotalDelay), nil
	})
}

func messageKeyOf(h *coders.ReceiptHandle) messageKey {
	return messageKey{h.Endpoints, h.Namespace, h.ConsumerGroup, h.Topic, h.MessageID}
}

func liteKeyOf(h *coders.ReceiptHandle) liteKey {
	return liteKey{h.Endpoints, h.Namespace, h.ConsumerGroup, h.Topic, h.LiteTopic}
}

// spentOn is what is known of a message that the policy would defer.
func (m *memory) spentOn(h *coders.ReceiptHandle, now time.Time) spent {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, known := m.look(h)
	if known || e.counts {
		m.enter(h, known, e, now)
	}
	return e
}

// wasDeferred adds to that.
func (m *memory) wasDeferred(h *coders.ReceiptHandle, d time.Duration, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, known := m.look(h)
	e.total += d
	m.enter(h, known, e, now)
}

// look finds a message in the ledger. What was delivered before and is not there
// may have been deferred any number of times: by this process before it was
// restarted, in a bundle that failed, by another worker, or before it was
// forgotten. From now on the broker must count.
func (m *memory) look(h *coders.ReceiptHandle) (e spent, known bool) {
	e, known = m.ledger.get(messageKeyOf(h))
	if !known {
		e.counts = h.DeliveryAttempt > 1
	}
	return e, known
}

func (m *memory) enter(h *coders.ReceiptHandle, known bool, e spent, now time.Time) {
	key := messageKeyOf(h)
	if !known { // a handle's strings share the memory of its whole record
		key = messageKey{strings.Clone(key.endpoints), strings.Clone(key.namespace), strings.Clone(key.group), strings.Clone(key.topic), strings.Clone(key.id)}
	}
	e.seen = now
	old, full := m.ledger.put(key, e)
	if !full || now.Sub(old.seen) >= m.keep {
		return
	}
	m.untold = m.untold || !now.Before(m.forgetfulUntil)
	m.forgetfulUntil = now.Add(m.keep)
}

// becameForgetful says, once, that isForgetful has become true.
func (m *memory) becameForgetful() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.untold
	m.untold = false
	return was
}

// isForgetful says whether the ledger lately had to forget messages that may
// come again. There are more of them then than it holds, each may be forgotten
// before it is back, and the valve of the total delay never opens for it. So no
// deferral may be suspended then, and the broker's count of attempts opens the
// other valve. It stays so for long enough after the last that was forgotten to
// let the total delay of what is still being deferred run out: whichever of the
// two goes on, one valve opens.
func (m *memory) isForgetful(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return now.Before(m.forgetfulUntil)
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
func (m *memory) isHeld(h *coders.ReceiptHandle, until time.Time, counts bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changeLite(h, func(s *liteState) { s.heldUntil, s.heldLease, s.heldCounts = until, h.InvisibleUntil, counts })
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
