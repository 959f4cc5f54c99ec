// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/google/go-cmp/cmp"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// B10: runners ask a source that waits to give away half of its endless rest;
// only the checkpoint may be granted.
func TestOnlyTheCheckpointSplits(t *testing.T) {
	for name, c := range map[string]struct {
		claims   int
		fraction float64
		rest     restriction
		residual any
		done     bool
	}{
		"a checkpoint hands on the rest":          {3, 0, restriction{Left: 10}, restriction{Left: 7, IdleSince: epoch.UnixMilli()}, true},
		"a checkpoint before the first claim":     {0, 0, restriction{Left: unlimited}, restriction{Left: unlimited}, true},
		"half is refused":                         {3, 0.5, restriction{Left: 10}, nil, false},
		"a sliver is refused":                     {3, 0.001, restriction{Left: unlimited}, nil, false},
		"all is refused":                          {0, 1, restriction{Left: 10}, nil, false},
		"a finished shard has nothing to hand on": {10, 0, restriction{Left: 10}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTracker(c.rest)
			for range c.claims {
				if !tr.TryClaim(oneRecord(epoch)) {
					t.Fatal("claim refused")
				}
			}
			_, residual, err := tr.TrySplit(c.fraction)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.residual, residual); diff != "" {
				t.Errorf("residual (-want +got):\n%s", diff)
			}
			if tr.IsDone() != c.done {
				t.Errorf("done: %v, want %v", tr.IsDone(), c.done)
			}
			if c.fraction == 0 && tr.TryClaim(oneRecord(epoch)) {
				t.Error("a claim after the split was granted")
			}
		})
	}
}

func TestClaimsEndAtTheLimitOrWhenTold(t *testing.T) {
	tr := sdf.NewLockRTracker(newTracker(restriction{Left: 2}))
	got := []bool{tr.TryClaim(oneRecord(epoch)), tr.TryClaim(oneRecord(epoch)), tr.TryClaim(oneRecord(epoch))}
	if diff := cmp.Diff([]bool{true, true, false}, got); diff != "" || !tr.IsDone() {
		t.Errorf("claims (-want +got):\n%s done %v", diff, tr.IsDone())
	}
	tr = sdf.NewLockRTracker(newTracker(restriction{Left: unlimited}))
	if tr.IsDone() || tr.TryClaim(theEnd{}) || !tr.IsDone() {
		t.Error("the claim of the end does not end an endless shard")
	}
	if tr.TryClaim("nonsense"); tr.GetError() == nil {
		t.Error("a claim of another type went unnoticed")
	}
}

func TestARecordPostponesTheIdleTimeout(t *testing.T) {
	tr := newTracker(restriction{Left: unlimited, IdleTimeout: 10 * time.Second, IdleSince: epoch.UnixMilli()})
	if tr.rest.over(epoch.Add(9*time.Second)) || !tr.rest.over(epoch.Add(10*time.Second)) {
		t.Error("the timeout is not 10 s")
	}
	tr.TryClaim(oneRecord(epoch.Add(8 * time.Second)))
	if tr.rest.over(epoch.Add(17*time.Second)) || !tr.rest.over(epoch.Add(18*time.Second)) {
		t.Error("the record did not postpone it")
	}
}

func TestRestrictionsShareTheRecordsAndSurviveTheirCoder(t *testing.T) {
	cfg := readConfig{Shards: 3, MaxRecords: 10, MaxDuration: time.Minute, IdleTimeout: time.Second}
	var lefts []int64
	for _, r := range newRestrictions(&cfg, epoch) {
		lefts = append(lefts, r.Left)
		data, err := encodeRestriction(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeRestriction(data)
		if err != nil || got != r {
			t.Errorf("got %+v (%v), want %+v", got, err, r)
		}
		if !r.over(epoch.Add(time.Minute)) {
			t.Error("no deadline")
		}
	}
	if diff := cmp.Diff([]int64{4, 3, 3}, lefts); diff != "" {
		t.Errorf("records a shard (-want +got):\n%s", diff)
	}
	if _, err := decodeRestriction([]byte("{")); err == nil {
		t.Error("a broken restriction was read")
	}
}

// B18, L15: the size never claims a backlog that is not there. B19, Y50: a
// drained shard is empty.
func TestSizeAndTruncation(t *testing.T) {
	fn := &source{}
	if got := fn.RestrictionSize(nil, restriction{Left: unlimited}); got != 1 {
		t.Errorf("size of a live shard: %v", got)
	}
	rt := fn.CreateTracker(restriction{Left: unlimited})
	rest := (&readFn{}).TruncateRestriction(rt, nil)
	if !rest.Done || fn.RestrictionSize(nil, rest) != 0 || !newTracker(rest).IsDone() || !newTracker(rest).IsBounded() {
		t.Errorf("truncated to %+v", rest)
	}
	if newTracker(restriction{Left: unlimited}).IsBounded() {
		t.Error("an endless shard calls itself bounded")
	}
}
