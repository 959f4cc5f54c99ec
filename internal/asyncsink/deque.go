// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package asyncsink

// deque is a queue with two ends, in a ring that grows.
type deque[T any] struct {
	ring []T
	head int
	n    int
}

func (d *deque[T]) len() int { return d.n }

func (d *deque[T]) at(i int) T { return d.ring[(d.head+i)%len(d.ring)] }

func (d *deque[T]) pushBack(v T) {
	d.grow()
	d.ring[(d.head+d.n)%len(d.ring)] = v
	d.n++
}

func (d *deque[T]) pushFront(v T) {
	d.grow()
	d.head = (d.head + len(d.ring) - 1) % len(d.ring)
	d.ring[d.head] = v
	d.n++
}

func (d *deque[T]) popFront() T {
	var none T
	v := d.ring[d.head]
	d.ring[d.head] = none
	d.head = (d.head + 1) % len(d.ring)
	d.n--
	return v
}

// drop removes what gone says, and keeps the order of the rest.
func (d *deque[T]) drop(gone func(T) bool) {
	for range d.n {
		if v := d.popFront(); !gone(v) {
			d.pushBack(v)
		} else {
			continue
		}
	}
}

func (d *deque[T]) grow() {
	if d.n < len(d.ring) {
		return
	}
	bigger := make([]T, max(8, 2*len(d.ring)))
	for i := range d.n {
		bigger[i] = d.at(i)
	}
	d.ring, d.head = bigger, 0
}
