// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"sort"
	"time"
)

// offsetKey is whose offset it is, in which queue. The queue need not exist.
type offsetKey struct {
	group, topic string
	broker       int
	number       int64
}

// searchTime returns the offset of the first message stored at t or later, the
// end of the queue if there is none; with upper that of the last message stored
// at t or earlier. It is never outside the queue.
func (q *queue) searchTime(t time.Time, upper bool) int64 {
	live := q.msgs[q.min:]
	at := t.UnixMilli()
	if upper {
		n := sort.Search(len(live), func(i int) bool { return live[i].stored.UnixMilli() > at })
		return q.min + int64(max(0, n-1))
	}
	return q.min + int64(sort.Search(len(live), func(i int) bool { return live[i].stored.UnixMilli() >= at }))
}

// expire makes the messages below an offset go. The lock is held.
func (c *core) expire(q *queue, upTo int64) int {
	upTo = min(upTo, q.maxOffset())
	if upTo <= q.min {
		return 0
	}
	gone := map[*record]bool{}
	for _, r := range q.msgs[q.min:upTo] {
		gone[r] = true
		r.home = nil
		delete(c.byID, r.id)
	}
	q.min = upTo
	for _, cur := range q.cursors {
		cur.next, cur.committed = max(cur.next, upTo), max(cur.committed, upTo)
	}
	q.topic.drop(func(r *record) bool { return gone[r] })
	return len(gone)
}
