// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"sync"
)

// turns lets one at a time do something for a key. The zero value is ready.
type turns[K comparable] struct {
	mu  sync.Mutex
	all map[K]chan struct{}
}

// enter waits until it is the caller's turn, or ctx ends. leave ends the turn.
func (t *turns[K]) enter(ctx context.Context, key K) (leave func(), err error) {
	turn := t.of(key)
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (t *turns[K]) of(key K) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn, ok := t.all[key]
	if !ok {
		if t.all == nil {
			t.all = make(map[K]chan struct{})
		}
		turn = make(chan struct{}, 1)
		t.all[key] = turn
	}
	return turn
}
