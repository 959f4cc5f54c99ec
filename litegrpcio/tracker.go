// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"fmt"
	"time"
)

// tracker tracks a shard. The only split it allows is the checkpoint: messages
// cannot be divided beforehand, so half of a shard's rest means nothing, and
// runners ask for such halves of a source that waits.
type tracker struct {
	rest    restriction
	claimed int64
	err     error
}

// oneRecord is the position to claim before a record is emitted; its value is
// when.
type oneRecord time.Time

// theEnd is the position to claim when the shard is to end. The claim fails,
// and the tracker is done.
type theEnd struct{}

func newTracker(r restriction) *tracker { return &tracker{rest: r} }

// TryClaim takes a oneRecord or theEnd.
func (t *tracker) TryClaim(position any) bool {
	switch p := position.(type) {
	case theEnd:
		t.rest.Done = true
		return false
	case oneRecord:
		if t.rest.Done || t.rest.Left <= 0 {
			t.rest.Done = true
			return false
		}
		if t.rest.Left != unlimited {
			t.rest.Left--
		}
		t.rest.IdleSince = time.Time(p).UnixMilli()
		t.claimed++
		return true
	default:
		t.err = fmt.Errorf("litegrpcio: claim of a %T", position)
		return false
	}
}

// GetError returns what went wrong with a claim.
func (t *tracker) GetError() error { return t.err }

// TrySplit keeps what was claimed and hands on the rest, at fraction 0; all
// other fractions are refused.
func (t *tracker) TrySplit(fraction float64) (primary, residual any, err error) {
	if fraction != 0 || t.IsDone() {
		return t.rest, nil, nil
	}
	rest := t.rest
	t.rest.Done = true
	return t.rest, rest, nil
}

// GetProgress is what was emitted, and an unknown rest.
func (t *tracker) GetProgress() (done, remaining float64) {
	switch {
	case t.IsDone():
		return float64(t.claimed), 0
	case t.rest.Left != unlimited:
		return float64(t.claimed), float64(t.rest.Left)
	}
	return float64(t.claimed), 1
}

// IsDone says that nothing is left.
func (t *tracker) IsDone() bool { return t.err == nil && (t.rest.Done || t.rest.Left <= 0) }

// GetRestriction is the shard as it is now.
func (t *tracker) GetRestriction() any { return t.rest }

// IsBounded says whether the shard ends by itself.
func (t *tracker) IsBounded() bool { return t.rest.limited() }
