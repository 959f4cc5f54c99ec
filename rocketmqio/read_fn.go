// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/watermark"
)

func init() {
	beam.RegisterCoder(reflect.TypeFor[offsetRange](), encodeRange, decodeRange)
	// Called once a bundle: by reflection, for what makes it faster takes the
	// compiler seconds and gigabytes for each DoFn.
	beam.RegisterDoFn(&readFn{})
	beam.RegisterDoFn(&readBoundedFn{})
	register.Emitter2[beam.EventTime, coders.Message]()
	register.Emitter1[commitPoint]()
}

func encodeRange(r offsetRange) ([]byte, error) { return json.Marshal(r) }

func decodeRange(data []byte) (offsetRange, error) {
	var r offsetRange
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("rocketmqio: range: %w", err)
	}
	return r, nil
}

// How long one call of ProcessElement lasts at most. On prism queues may share a
// bundle and are processed one after another, and nothing leaves a bundle before
// its end: so a call takes what is there and returns, unless its queue lags
// behind and no other waits.
const (
	mostRecords = 20_000
	mostTime    = time.Second
	mostBodies  = 32 << 20 // bytes
	// longestLook is how long a bounded reading waits before it asks whether its
	// pulls still go well.
	longestLook = time.Second
)

// queueSource is what the bounded and the unbounded DoFn share.
type queueSource struct {
	Config readConfig
}

// CreateInitialRestriction is the range that discovery decided on.
func (fn *queueSource) CreateInitialRestriction(a assignment) offsetRange {
	return offsetRange{Start: a.Start, End: a.End}
}

// SplitRestriction keeps a queue in one piece.
func (fn *queueSource) SplitRestriction(_ assignment, r offsetRange) []offsetRange {
	return []offsetRange{r}
}

// RestrictionSize is the real backlog, as far as this process knows it, and
// never an error: at the worst it is out of date.
func (fn *queueSource) RestrictionSize(a assignment, r offsetRange) float64 {
	if r.Start >= r.End {
		return 0
	}
	size := int64(1)
	if r.End != endless {
		size = r.End - r.Start
	}
	fn.Config.peek(func(s *session) {
		s.mu.Lock()
		reader, ok := s.readers[a.Queue]
		s.mu.Unlock()
		if ok {
			size = reader.backlog(r.Start)
		}
	})
	return float64(size)
}

// CreateTracker makes the tracker of a range.
func (fn *queueSource) CreateTracker(r offsetRange) *sdf.LockRTracker {
	return sdf.NewLockRTracker(newTracker(r))
}

// emitters are the outputs of a reading DoFn.
type emitters struct {
	message func(beam.EventTime, coders.Message)
	// position is told how far a call came; of what it read nothing more follows.
	position func(r *reader, some *readSome, reached int64, ended bool)
}

// read emits what there is of a queue, and what goes on to come while the broker
// has more and no other queue waits for its turn, and says how far it came. end
// is where the restriction ended when the call began.
func (fn *queueSource) read(ctx context.Context, s *session, r *reader, rt *sdf.LockRTracker, end int64, out emitters) (readSome, error) {
	defer s.stats.report(ctx)
	if err := r.verdict(); err != nil {
		return readSome{}, err
	}
	until, more := time.Now().Add(mostTime), true
	some := readSome{reached: r.position()}
	for more && some.emitted < mostRecords && some.bytes < mostBodies && time.Now().Before(until) && ctx.Err() == nil {
		var err error
		if more, err = fn.emitWaiting(ctx, r, rt, end, out, &some); err != nil {
			return some, err
		}
		more = more || !some.ended && s.awaitMore(ctx, r, until)
	}
	emittedCounter.Inc(ctx, int64(some.emitted))
	readyDistribution.Update(ctx, s.budget.peakBytes())
	backlogDistribution.Update(ctx, r.backlog(some.reached))
	return some, ctx.Err()
}

// emitWaiting claims and emits some of what waits, and says whether there may be
// more.
func (fn *queueSource) emitWaiting(ctx context.Context, r *reader, rt *sdf.LockRTracker, end int64, out emitters, some *readSome) (more bool, err error) {
	messages, reached := r.take(mostRecords - some.emitted)
	now := time.Now()
	for i := range messages {
		m := &messages[i]
		if !rt.TryClaim(m.QueueOffset) {
			some.refused(m.QueueOffset, end)
			return false, claimError(r, rt)
		}
		some.skip(m.QueueOffset)
		some.reached = m.QueueOffset + 1
		if m.Err != nil {
			corruptCounter.Inc(ctx, 1)
			return false, fmt.Errorf("rocketmqio.Read: message at offset %d of queue %s: %w", m.QueueOffset, r.queue, m.Err)
		}
		some.latest = fn.Config.eventTime(m, now)
		if i == 0 || i == len(messages)-1 { // the longest and the shortest
			latencyDistribution.Update(ctx, max(now.Sub(m.Stored).Milliseconds(), 0))
		}
		out.message(mtime.FromTime(some.latest), some.records.record(m))
		some.emitted++
		some.bytes += len(m.Body)
	}
	if reached > some.reached && !rt.TryClaim(reached-1) { // nothing wanted lay in between
		some.refused(reached-1, end)
		return false, claimError(r, rt)
	}
	some.skip(reached)
	return len(messages) > 0, nil
}

// claimError is why a claim was refused, unless the range has ended or the runner has
// taken its rest back. Beam does not look at it when the source says that it is done.
func claimError(r *reader, rt *sdf.LockRTracker) error {
	if err := rt.GetError(); err != nil {
		return fmt.Errorf("rocketmqio.Read: queue %s: %w", r.queue, err)
	}
	return nil
}

// readSome is how a read went.
type readSome struct {
	emitted int
	bytes   int       // of bodies
	reached int64     // the first offset that was not handed on
	latest  time.Time // event time of the last message
	ended   bool      // the tracker refused a claim
	skipped []stretch // what is not wanted, and was not emitted
	records recorder
}

// skip notes that nothing up to an offset is wanted.
func (s *readSome) skip(offset int64) {
	if offset > s.reached {
		s.skipped = append(s.skipped, stretch{s.reached, offset})
		s.reached = offset
	}
}

// refused notes that the tracker refused to go on to an offset: because the
// range ends before it, which is then reached, or because the runner has taken
// the rest back.
func (s *readSome) refused(offset, end int64) {
	s.ended = true
	if offset >= end {
		s.skip(end)
	}
}

// readFn is the unbounded source of one queue.
type readFn struct{ queueSource }

// TruncateRestriction ends the reading when a pipeline is drained: what was not
// emitted stays with the broker.
func (fn *readFn) TruncateRestriction(rt *sdf.LockRTracker, _ assignment) offsetRange {
	r := rt.GetRestriction().(offsetRange)
	return offsetRange{Start: r.Start, End: r.Start}
}

// InitialWatermarkEstimatorState is called once: nothing is known yet.
func (fn *readFn) InitialWatermarkEstimatorState(beam.EventTime, offsetRange, assignment) int64 {
	return mtime.MinTimestamp.Milliseconds()
}

// CreateWatermarkEstimator goes on from the queue's own watermark.
func (fn *readFn) CreateWatermarkEstimator(ms int64) *watermark.Estimator {
	return watermark.New(ms)
}

// WatermarkEstimatorState is the queue's own watermark.
func (fn *readFn) WatermarkEstimatorState(e *watermark.Estimator) int64 { return e.State() }

// ProcessElement emits what is there and asks to be called again.
func (fn *readFn) ProcessElement(ctx context.Context, we *watermark.Estimator, rt *sdf.LockRTracker, a assignment, message func(beam.EventTime, coders.Message), commit func(commitPoint)) (sdf.ProcessContinuation, error) {
	return fn.process(ctx, we, rt, a, emitters{message, func(r *reader, some *readSome, reached int64, ended bool) {
		r.commitPoint(reached, ended, commit)
	}})
}

// process is a call of ProcessElement.
func (fn *readFn) process(ctx context.Context, we *watermark.Estimator, rt *sdf.LockRTracker, a assignment, out emitters) (sdf.ProcessContinuation, error) {
	next := sdf.StopProcessing()
	err := fn.Config.acquire(ctx, func(s *session) error {
		rest := rt.GetRestriction().(offsetRange)
		show := func(own time.Time) time.Time { return s.marks.lowest(a.Queue, own, time.Now()) }
		s.marks.begin(a.Queue, time.UnixMilli(we.State()), time.Now())
		we.AdvanceAmong(time.Time{}, show) // should the runner take the rest back meanwhile
		r := s.readerAt(a.Queue, rest.Start, rest.End)
		s.awaitArrival(ctx, r, r.idle.Wait())
		some, err := fn.read(ctx, s, r, rt, rest.End, out)
		if err != nil {
			return err
		}
		ended := some.reached >= rest.End
		out.position(r, &some, min(some.reached, rest.End), ended)
		switch {
		case ended:
			rt.TryClaim(rest.End)
			s.drop(a.Queue, r)
			s.marks.finish(a.Queue, rest.End, some.emitted > 0, time.Now())
			return nil
		case some.ended: // the runner has taken the rest back
			s.drop(a.Queue, r)
			return nil
		}
		we.AdvanceAmong(fn.Config.queueWatermark(r, some, time.Now()), show)
		next = sdf.ResumeProcessingIn(r.idle.After(some.emitted))
		return nil
	})
	return next, err
}

// readBoundedFn is the bounded source of one queue: without a
// ProcessContinuation, which would make its output unbounded, and without a
// watermark estimator, which the direct runner does not know.
type readBoundedFn struct{ queueSource }

// ProcessElement emits until the end of the range.
func (fn *readBoundedFn) ProcessElement(ctx context.Context, rt *sdf.LockRTracker, a assignment, message func(beam.EventTime, coders.Message), commit func(commitPoint)) error {
	return fn.Config.acquire(ctx, func(s *session) error {
		rest := rt.GetRestriction().(offsetRange)
		r := s.readerAt(a.Queue, rest.Start, rest.End)
		for {
			s.awaitQueue(ctx, r, longestLook)
			some, err := fn.read(ctx, s, r, rt, rest.End, emitters{message: message})
			if err != nil {
				return err
			}
			if some.ended || some.reached >= rest.End {
				r.commitPoint(min(some.reached, rest.End), true, commit)
				rt.TryClaim(rest.End)
				s.drop(a.Queue, r)
				return nil
			}
		}
	})
}
