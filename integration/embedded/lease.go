// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"cmp"
	"slices"
)

// orderInfo is what RocketMQ remembers of the last batch that a group popped
// from one ordered queue (a lite topic, or a queue of a FIFO topic). While any
// message of it is neither acked nor visible again, the queue stands still for
// the group. There is one per queue and group; the next pop replaces it.
//
// All times are milliseconds since the epoch, as in receipt handles.
type orderInfo struct {
	popTime   int64
	invisible int64
	attemptID string
	offsets   []int64
	acked     []bool
	visible   map[int64]int64 // own deadline of an offset, after a change
	consumed  map[int64]int   // earlier deliveries of an offset, for those that had any
}

func newOrderInfo(prev *orderInfo, attemptID string, popTime, invisible int64, offsets []int64) *orderInfo {
	o := &orderInfo{
		popTime: popTime, invisible: invisible, attemptID: attemptID,
		offsets: offsets, acked: make([]bool, len(offsets)),
	}
	if prev == nil {
		return o
	}
	if prev.attemptID != "" && prev.attemptID == attemptID {
		// The same attempt asks again because its answer was lost: not a redelivery.
		o.consumed = prev.consumed
		return o
	}
	o.consumed = map[int64]int{}
	for _, off := range offsets {
		if slices.Contains(prev.offsets, off) {
			o.consumed[off] = prev.consumed[off] + 1
		}
	}
	return o
}

func (o *orderInfo) visibleAt(offset int64) int64 {
	if t, ok := o.visible[offset]; ok {
		return t
	}
	return o.popTime + o.invisible
}

// blocks reports whether the queue must stand still at the instant now.
func (o *orderInfo) blocks(attemptID string, now int64) bool {
	if o == nil || o.attemptID != "" && o.attemptID == attemptID {
		return false
	}
	return o.freeAt() > now
}

// freeAt is the instant from which on no message of the batch blocks the queue.
func (o *orderInfo) freeAt() int64 {
	var t int64
	for i, off := range o.offsets {
		if !o.acked[i] {
			t = max(t, o.visibleAt(off))
		}
	}
	return t
}

// next is the offset from which the group goes on: the first one not acked. So
// messages acked behind an un-acked one are delivered once more when that one
// expires. That is what RocketMQ does.
func (o *orderInfo) next() int64 {
	for i, off := range o.offsets {
		if !o.acked[i] {
			return off
		}
	}
	return o.offsets[len(o.offsets)-1] + 1
}

func (o *orderInfo) index(offset int64) int { return slices.Index(o.offsets, offset) }

// postpone gives one message a deadline of its own.
func (o *orderInfo) postpone(offset, until int64) {
	if o.visible == nil {
		o.visible = map[int64]int64{}
	}
	o.visible[offset] = until
}

// suspend gives the whole batch one deadline and takes back the attempt that the
// coming redelivery will count. It acts on every message of the queue that was
// popped with this one: RocketMQ suspends queues, not messages.
func (o *orderInfo) suspend(until int64) {
	for off, n := range o.consumed {
		if n > 0 {
			o.consumed[off] = n - 1
		}
	}
	o.visible = nil
	o.invisible = until - o.popTime
}

// counts returns how often each message of the batch was delivered before, in
// the form in which it reaches the client. It is nil when RocketMQ loses the
// counts on the way: it sends one number for each message that had earlier
// deliveries, and its own reader drops the list when its length differs from
// that of the batch. So a batch with old and new messages shows all as new.
func (o *orderInfo) counts() []int {
	if len(o.consumed) == 0 {
		return make([]int, len(o.offsets))
	}
	if len(o.consumed) != len(o.offsets) {
		return nil
	}
	keys := make([]int64, 0, len(o.consumed))
	for off := range o.consumed {
		keys = append(keys, off)
	}
	hashOrder(keys)
	out := make([]int, len(keys))
	for i, off := range keys {
		out[i] = o.consumed[off]
	}
	return out
}

// hashOrder sorts offsets as a Java HashMap lists them. RocketMQ writes the
// counts in that order and reads them in the order of the messages, so where a
// batch crosses a multiple of the table's size, the numbers change places.
func hashOrder(offsets []int64) {
	size := int64(16)
	for int64(len(offsets))*4 > size*3 {
		size *= 2
	}
	slices.SortFunc(offsets, func(a, b int64) int {
		if d := cmp.Compare(a&(size-1), b&(size-1)); d != 0 {
			return d
		}
		return cmp.Compare(a, b)
	})
}
