// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

// Hold is one use of a value. While it is held the value stays open.
type Hold[K comparable, V any] struct {
	pool  *Pool[K, V]
	key   K
	entry *entry[V]
	held  bool // under the pool's lock
}

// Release gives the value back. Doing so twice is once.
func (h *Hold[K, V]) Release() {
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	if h.held {
		h.held = false
		h.pool.release(h.key, h.entry)
	}
}

// Again holds the value once more after a release, for those who come for each
// message: it looks nothing up. It is false when the value was closed meanwhile; then
// Acquire opens another.
func (h *Hold[K, V]) Again() (V, bool) {
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	if h.entry.gone {
		var none V
		return none, false
	}
	if !h.held {
		h.held = true
		h.entry.users++
	}
	return h.entry.value, true
}
