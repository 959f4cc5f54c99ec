// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package watermark

import (
	"sync"
	"testing"
	"time"
)

func TestTheWatermarkNeverFallsAndTheLowestIsShown(t *testing.T) {
	e := New(1000)
	at := func(ms int64) time.Time { return time.UnixMilli(ms) }
	e.Advance(at(2000))
	e.Advance(at(1500))
	if e.State() != 2000 || !e.CurrentWatermark().Equal(at(2000)) {
		t.Errorf("own %d, shown %v", e.State(), e.CurrentWatermark())
	}
	e.AdvanceAmong(at(3000), func(own time.Time) time.Time { return own.Add(-2 * time.Second) })
	if e.State() != 3000 || !e.CurrentWatermark().Equal(at(1000)) {
		t.Errorf("own %d, shown %v", e.State(), e.CurrentWatermark())
	}
}

// A runner asks while the bundle goes on.
func TestAskingBesideAdvancingIsSafe(t *testing.T) {
	e := New(0)
	var group sync.WaitGroup
	group.Go(func() {
		for i := range 1000 {
			e.Advance(time.UnixMilli(int64(i)))
		}
	})
	for range 1000 {
		e.CurrentWatermark()
		e.State()
	}
	group.Wait()
	if e.State() != 999 {
		t.Errorf("own %d", e.State())
	}
}
