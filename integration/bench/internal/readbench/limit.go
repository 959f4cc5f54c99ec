// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package readbench

import (
	"context"
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/watermark"
)

func init() {
	register.DoFn6x1[context.Context, *watermark.Estimator, *sdf.LockRTracker, part, func(beam.EventTime, coders.Message), func(part), sdf.ProcessContinuation](&syntheticFn{})
	register.DoFn1x0[part](&discardFn{})
	register.Emitter1[part]()
	beam.RegisterType(reflect.TypeFor[part]())
}

// limit is a pipeline of the same shape whose source has its records at hand:
// what the runner can do at most.
func limit(ctx context.Context, b *Backlog, t *tally) error {
	p, s := beam.NewPipelineWithRoot()
	var parts []part
	for i, q := range b.Queues {
		parts = append(parts, part{Topic: q.Topic, Broker: q.Broker, Queue: int32(q.ID), End: b.Ends[i]})
	}
	messages, marks := beam.ParDo2(s, &syntheticFn{}, beam.CreateList(s, parts))
	defer count(s, t, messages)()
	beam.ParDo0(s, &discardFn{}, beam.Reshuffle(s, marks))
	_, err := execute(ctx, p, t)
	return err
}

// part is one queue.
type part struct {
	Topic, Broker string
	Queue         int32
	End           int64
}

// syntheticFn emits records that look like a queue's.
type syntheticFn struct{}

// perCall is how many records one call emits: as many as the real source keeps
// ready.
const perCall = 1000

// CreateInitialRestriction is all of the queue.
func (fn *syntheticFn) CreateInitialRestriction(p part) offsetrange.Restriction {
	return offsetrange.Restriction{Start: 0, End: p.End}
}

// SplitRestriction keeps a queue in one piece.
func (fn *syntheticFn) SplitRestriction(_ part, r offsetrange.Restriction) []offsetrange.Restriction {
	return []offsetrange.Restriction{r}
}

// RestrictionSize is what is left.
func (fn *syntheticFn) RestrictionSize(_ part, r offsetrange.Restriction) float64 { return r.Size() }

// CreateTracker makes the tracker.
func (fn *syntheticFn) CreateTracker(r offsetrange.Restriction) *sdf.LockRTracker {
	return sdf.NewLockRTracker(offsetrange.NewTracker(r))
}

// TruncateRestriction ends it.
func (fn *syntheticFn) TruncateRestriction(rt *sdf.LockRTracker, _ part) offsetrange.Restriction {
	r := rt.GetRestriction().(offsetrange.Restriction)
	return offsetrange.Restriction{Start: r.Start, End: r.Start}
}

// InitialWatermarkEstimatorState is called once: nothing is known yet.
func (fn *syntheticFn) InitialWatermarkEstimatorState(beam.EventTime, offsetrange.Restriction, part) int64 {
	return mtime.MinTimestamp.Milliseconds()
}

// CreateWatermarkEstimator goes on from there.
func (fn *syntheticFn) CreateWatermarkEstimator(ms int64) *watermark.Estimator {
	return watermark.New(ms)
}

// WatermarkEstimatorState is where it is.
func (fn *syntheticFn) WatermarkEstimatorState(e *watermark.Estimator) int64 { return e.State() }

// ProcessElement emits some records and asks to be called again.
func (fn *syntheticFn) ProcessElement(_ context.Context, we *watermark.Estimator, rt *sdf.LockRTracker, p part, emit func(beam.EventTime, coders.Message), mark func(part)) sdf.ProcessContinuation {
	now := time.Now()
	r := rt.GetRestriction().(offsetrange.Restriction)
	end := min(r.Start+perCall, r.End)
	if end == r.Start || !rt.TryClaim(end-1) {
		return sdf.StopProcessing()
	}
	m := sample(p, now)
	for m.QueueOffset = r.Start; m.QueueOffset < end; m.QueueOffset++ {
		emit(mtime.FromTime(now), m)
	}
	we.Advance(now)
	if end == r.End {
		mark(p)
		return sdf.StopProcessing()
	}
	return sdf.ResumeProcessingIn(0)
}

// sample is a record with all that the real ones have.
func sample(p part, now time.Time) coders.Message {
	const host = "127.0.0.1:40000"
	return coders.Message{
		Topic: p.Topic, Broker: p.Broker, QueueID: p.Queue, MessageID: "7F00000100002A9F0000000000000000",
		UniqueKey: "7F0000010B6718B4AAC2574A4E5D0000", Keys: []string{"order-1"}, Tag: "paid",
		Properties: map[string]string{"CLUSTER": "DefaultCluster"}, Body: make([]byte, 1024),
		BornTime: now, StoreTime: now, BornHost: host,
	}
}

// discardFn stands for the step that commits.
type discardFn struct{}

// ProcessElement does nothing.
func (fn *discardFn) ProcessElement(part) {}
