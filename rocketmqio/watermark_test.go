// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// Prism splits a bundle between two queues, and the parts run beside each other.
// The part that ends first must not show a watermark behind messages that the
// other one has emitted, for these are still in their bundle, and would come late.
func TestABundleUnderWayHoldsTheWatermarkOfTheOthers(t *testing.T) {
	b := startBroker(t, 2)
	early := time.Now().Add(-3 * time.Hour).Truncate(time.Second)
	late := early.Add(2 * time.Hour)
	store := func(id int, at time.Time) {
		b.PublishTo(queueNo(id), []byte("x"), embedded.PublishStored(at))
	}
	cfg := testConfig(t, b, ReadFrom(Earliest()), ReadIdleHolds())
	fn := &readFn{queueSource{Config: cfg}}
	states := []int64{mtime.MinTimestamp.Milliseconds(), mtime.MinTimestamp.Milliseconds()}
	next := []int64{0, 0}
	// call reads all there is of a queue, and says what it shows and what a runner
	// keeps once the bundle is finished.
	call := func(id int) (shown time.Time, kept int64) {
		t.Helper()
		q := Queue{testTopic, "broker-a", id}
		_, end := b.QueueOffsets(queueNo(id))
		state := states[id]
		for at := next[id]; ; {
			we := fn.CreateWatermarkEstimator(state)
			rt := fn.CreateTracker(offsetRange{at, endless})
			_, err := fn.ProcessElement(beamContext(t), we, rt, assignment{Queue: q, End: endless}, func(beam.EventTime, coders.Message) {}, func(commitPoint) {})
			if err != nil {
				t.Fatal(err)
			}
			_, residual, err := rt.TrySplit(0)
			if err != nil {
				t.Fatal(err)
			}
			if at = residual.(offsetRange).Start; at == end {
				next[id] = at
				return we.CurrentWatermark(), we.State()
			}
		}
	}
	store(0, early)
	store(1, late)
	_, first := call(0)
	shown, kept := call(1)
	if !shown.Before(early) {
		t.Errorf("while the first queue's bundle is under way %v is shown, want nothing", shown)
	}
	states[0], states[1] = first, kept // their bundles are finished
	store(0, early.Add(time.Hour))
	_, second := call(0)
	shown, kept = call(1)
	if !shown.Equal(early) {
		t.Errorf("while its second one is under way %v is shown, want %v of the first", shown, early)
	}
	states[0], states[1] = second, kept
	call(0)
	if shown, _ = call(1); !shown.Equal(early.Add(time.Hour)) {
		t.Errorf("then %v is shown, want %v", shown, early.Add(time.Hour))
	}
}
