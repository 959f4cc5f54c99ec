// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"fmt"
)

// offsetRange is the part of a queue that is still to be read.
type offsetRange struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// tracker tracks a queue's range. It grants the checkpoint and no other split:
// runners ask for half of what is left when a source waits, and half of an
// endless rest would tear the queue apart.
type tracker struct {
	rest    offsetRange
	next    int64 // the first offset that is not claimed
	stopped bool
	err     error
}

func newTracker(r offsetRange) *tracker { return &tracker{rest: r, next: r.Start} }

// TryClaim takes an offset (int64): the message there, and with it all before
// it that were not wanted.
func (t *tracker) TryClaim(position any) bool {
	offset, ok := position.(int64)
	switch {
	case !ok:
		t.err = fmt.Errorf("rocketmqio: claim of a %T", position)
		return false
	case t.stopped || offset >= t.rest.End:
		t.stopped = true
		return false
	case offset < t.next:
		t.err = fmt.Errorf("rocketmqio: claim of offset %d after %d", offset, t.next-1)
		return false
	}
	t.next = offset + 1
	return true
}

// GetError returns what went wrong with a claim.
func (t *tracker) GetError() error { return t.err }

// TrySplit keeps what was claimed and hands on the rest, at fraction 0; all
// other fractions are refused.
func (t *tracker) TrySplit(fraction float64) (primary, residual any, err error) {
	if fraction != 0 || t.IsDone() {
		return t.rest, nil, nil
	}
	rest := offsetRange{Start: t.next, End: t.rest.End}
	t.rest.End = t.next
	t.stopped = true
	return t.rest, rest, nil
}

// GetProgress counts offsets; of an endless range one is always left.
func (t *tracker) GetProgress() (done, remaining float64) {
	done = float64(t.next - t.rest.Start)
	switch {
	case t.IsDone():
		return done, 0
	case t.rest.End == endless:
		return done, 1
	}
	return done, float64(t.rest.End - t.next)
}

// IsDone says that nothing is left.
func (t *tracker) IsDone() bool { return t.err == nil && (t.stopped || t.next >= t.rest.End) }

// GetRestriction is the range as it is now.
func (t *tracker) GetRestriction() any { return t.rest }

// IsBounded says whether the range ends.
func (t *tracker) IsBounded() bool { return t.rest.End != endless }
