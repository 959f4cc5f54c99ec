// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"sync"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// attempt is the last commit of a key.
type attempt struct {
	at   time.Time // zero for none
	open bool      // no answer came, so that it may be carried out later than at
	// done is the half message that a callback has committed, if that was the last.
	done *remoting.Half
}

// memory remembers which keys this process has lately tried to commit, and since
// when brokers answer it.
type memory struct {
	mu         sync.Mutex
	young, old map[string]attempt // by topic and key
	turnedAt   time.Time
	heard      map[string]time.Time // first answer of all brokers, by topic
}

// memoryAge is how long a key is remembered at least, and half of how long at most.
const memoryAge = time.Minute

func newMemory() *memory {
	return &memory{young: map[string]attempt{}, turnedAt: time.Now(), heard: map[string]time.Time{}}
}

// tried notes an attempt.
func (m *memory) tried(topic, key string, a attempt) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a.at.Sub(m.turnedAt) > memoryAge {
		m.old, m.young, m.turnedAt = m.young, map[string]attempt{}, a.at
	}
	m.young[topic+"\x00"+key] = a
}

// last is the last attempt.
func (m *memory) last(topic, key string) attempt {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a, ok := m.young[topic+"\x00"+key]; ok {
		return a
	}
	return m.old[topic+"\x00"+key]
}

// heardAt is when all brokers of the topic first answered, zero if they have not.
func (m *memory) heardAt(topic string) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.heard[topic]
}

// hear notes that they answer, and returns when they first did.
func (m *memory) hear(topic string, at time.Time) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if first, ok := m.heard[topic]; ok {
		return first
	}
	m.heard[topic] = at
	return at
}
