// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"sync"
)

// How many bytes of bodies are kept ready.
const (
	mostQueueBytes = 64 << 20
	mostBytes      = 256 << 20
)

// budget counts what a process keeps ready over all queues of a source.
type budget struct {
	mostMessages int
	mostBytes    int

	mu       sync.Mutex
	messages int
	bytes    int
	peak     int           // of bytes
	freed    chan struct{} // closed and replaced when something was given back
}

func newBudget(messages, bytes int) *budget {
	return &budget{mostMessages: messages, mostBytes: bytes, freed: make(chan struct{})}
}

// await waits until there is room, and says whether there is: not if ctx ended.
// What is then taken may go beyond the limits by one pull a queue.
func (b *budget) await(ctx context.Context) bool {
	for {
		b.mu.Lock()
		room, freed := b.messages < b.mostMessages && b.bytes < b.mostBytes, b.freed
		b.mu.Unlock()
		if room {
			return true
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return false
		}
	}
}

// isSpent says that nothing more may be pulled for now.
func (b *budget) isSpent() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.messages >= b.mostMessages || b.bytes >= b.mostBytes
}

// peakBytes is the most that was kept ready since it was last asked for, in bytes
// of bodies.
func (b *budget) peakBytes() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	peak := b.peak
	b.peak = b.bytes
	return int64(peak)
}

// take counts what came, give (negative numbers) what went.
func (b *budget) take(messages, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages += messages
	b.bytes += bytes
	b.peak = max(b.peak, b.bytes)
	if messages < 0 || bytes < 0 {
		close(b.freed)
		b.freed = make(chan struct{})
	}
}
