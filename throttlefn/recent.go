// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import "container/list"

// recent is a map that keeps the entries used last and forgets the others, so
// that memory stays bounded however many keys there are. It has no lock.
type recent[K comparable, V any] struct {
	most    int
	entries map[K]*list.Element
	order   *list.List // of *recentEntry; the one used last is in front
}

type recentEntry[K comparable, V any] struct {
	key   K
	value V
}

func newRecent[K comparable, V any](most int) *recent[K, V] {
	return &recent[K, V]{most: most, entries: make(map[K]*list.Element), order: list.New()}
}

func (r *recent[K, V]) get(key K) (value V, ok bool) {
	e, ok := r.entries[key]
	if !ok {
		return value, false
	}
	r.order.MoveToFront(e)
	return e.Value.(*recentEntry[K, V]).value, true
}

// put returns the value that had to make room, if one had to.
func (r *recent[K, V]) put(key K, value V) (forgotten V, full bool) {
	if e, ok := r.entries[key]; ok {
		e.Value.(*recentEntry[K, V]).value = value
		r.order.MoveToFront(e)
		return forgotten, false
	}
	r.entries[key] = r.order.PushFront(&recentEntry[K, V]{key, value})
	if len(r.entries) <= r.most {
		return forgotten, false
	}
	last := r.order.Remove(r.order.Back()).(*recentEntry[K, V])
	delete(r.entries, last.key)
	return last.value, true
}

func (r *recent[K, V]) remove(key K) {
	if e, ok := r.entries[key]; ok {
		r.order.Remove(e)
		delete(r.entries, key)
	}
}

func (r *recent[K, V]) len() int { return len(r.entries) }
