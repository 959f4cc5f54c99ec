// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"fmt"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// offsets are the questions about a queue that decide where to begin and end.
// *remoting.Client answers them.
type offsets interface {
	MinOffset(context.Context, remoting.Queue) (int64, error)
	MaxOffset(context.Context, remoting.Queue) (int64, error)
	OffsetByTime(context.Context, remoting.Queue, time.Time) (int64, error)
	QueryCommitted(ctx context.Context, q remoting.Queue, group string) (offset int64, found bool, err error)
}

// bounds are the ends of a queue when its range was decided.
type bounds struct{ min, max int64 }

func boundsOf(ctx context.Context, o offsets, q remoting.Queue) (b bounds, err error) {
	if b.min, err = o.MinOffset(ctx, q); err != nil {
		return b, err
	}
	if b.max, err = o.MaxOffset(ctx, q); err != nil {
		return b, err
	}
	b.max = max(b.max, b.min)
	return b, nil
}

// firstOffset decides where to begin in a queue, and says by which step of the
// start. Only the broker's word that the group has no offset leads to the next
// step; any failure is returned.
func firstOffset(ctx context.Context, o offsets, q remoting.Queue, group string, s Start, policy OutOfRange, b bounds) (offset int64, by startMode, err error) {
	for _, step := range s.Steps {
		switch step.Mode {
		case startEarliest:
			return b.min, step.Mode, nil
		case startLatest:
			return b.max, step.Mode, nil
		case startTimestamp:
			offset, err = offsetAt(ctx, o, q, step.At, b)
			return offset, step.Mode, err
		case startOffset:
			offset, err = inRange(q, step.Offset, "the start", policy, b)
			return offset, step.Mode, err
		case startSpecific:
			if offset, ok := step.Offsets[queueOf(q).String()]; ok {
				offset, err = inRange(q, offset, "the start", policy, b)
				return offset, step.Mode, err
			}
		case startCommitted:
			offset, found, err := o.QueryCommitted(ctx, q, group)
			if err != nil {
				return 0, step.Mode, err
			}
			if found && offset >= 0 {
				offset, err = inRange(q, offset, "the offset committed for group "+group, policy, b)
				return offset, step.Mode, err
			}
		}
	}
	return 0, "", fmt.Errorf("start of queue %s: no step of %v has an answer", queueOf(q), s.Steps)
}

// offsetAt finds the first message stored at or after an instant; the end of the
// queue if there is none. Brokers of some versions answer 0 or -1 beyond the
// last message, so the end of the queue is recognised by asking for the present.
func offsetAt(ctx context.Context, o offsets, q remoting.Queue, ms int64, b bounds) (int64, error) {
	if b.max == b.min {
		return b.max, nil
	}
	at := time.UnixMilli(ms)
	if at.After(time.Now()) {
		return b.max, nil // nothing can have been stored then
	}
	offset, err := o.OffsetByTime(ctx, q, at)
	if err != nil {
		return 0, err
	}
	return min(max(offset, b.min), b.max), nil
}

// inRange applies the policy to an offset that the queue does not hold.
func inRange(q remoting.Queue, offset int64, what string, policy OutOfRange, b bounds) (int64, error) {
	if offset >= b.min && offset <= b.max {
		return offset, nil
	}
	switch policy {
	case SkipToEarliest:
		return b.min, nil
	case SkipToLatest:
		return b.max, nil
	}
	return 0, &rangeError{queue: queueOf(q), what: what, offset: offset, bounds: b}
}

// rangeError says that a position is not in its queue.
type rangeError struct {
	queue  Queue
	what   string
	offset int64
	bounds bounds
}

func (e *rangeError) Error() string {
	return fmt.Sprintf("queue %s holds offsets %d to %d, but %s is %d: messages were deleted, or the topic was made anew; choose with ReadOutOfRange where to go on",
		e.queue, e.bounds.min, e.bounds.max, e.what, e.offset)
}

// lastOffset decides where to end in a queue.
func lastOffset(ctx context.Context, o offsets, q remoting.Queue, e End, b bounds) (int64, error) {
	switch e.Mode {
	case endLatest:
		return b.max, nil
	case endTimestamp:
		return offsetAt(ctx, o, q, e.At, b)
	case endSpecific:
		if end, ok := e.Offsets[queueOf(q).String()]; ok {
			return end, nil
		}
		return unread, nil
	default:
		return endless, nil
	}
}

func queueOf(q remoting.Queue) Queue { return Queue{Topic: q.Topic, Broker: q.Broker, ID: q.ID} }

func (q Queue) remoting() remoting.Queue {
	return remoting.Queue{Topic: q.Topic, Broker: q.Broker, ID: q.ID}
}
