// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/direct"
	"github.com/rocketmq-beam/rocketmq-beam/internal/watermark"
)

func init() {
	// Called once a bundle: by reflection, for what makes it faster takes the
	// compiler seconds and gigabytes for each DoFn.
	beam.RegisterDoFn(&readFn{})
	beam.RegisterDoFn(&readBoundedFn{})
	register.Emitter2[beam.EventTime, coders.AckableMessage]()
}

// How long one call of ProcessElement lasts. On prism all restrictions of a
// stage share a bundle and are processed one after another, and nothing leaves
// a bundle before its end: so a call takes what is there and returns. Each
// bundle costs about a millisecond, so it waits out short lulls.
const (
	mostRecords = 5000
	mostTime    = 250 * time.Millisecond
	lull        = 10 * time.Millisecond
)

// source is what the bounded and the unbounded DoFn share.
type source struct {
	Config readConfig

	key string // of the fetcher in the pool, once it is known
}

// Setup makes the key once, not for each bundle.
func (fn *source) Setup() (err error) {
	fn.key, err = fn.Config.poolKey()
	return err
}

// CreateInitialRestriction makes the first shard stand for all.
func (fn *source) CreateInitialRestriction([]byte) restriction {
	return newRestrictions(&fn.Config, time.Now())[0]
}

// SplitRestriction cuts the reading into shards.
func (fn *source) SplitRestriction(_ []byte, first restriction) []restriction {
	return newRestrictions(&fn.Config, time.UnixMilli(first.IdleSince))
}

// RestrictionSize is what waits in this process: the broker keeps no backlog
// that could be asked for, and lags that it reports may be of lite topics long
// gone.
func (fn *source) RestrictionSize(_ []byte, r restriction) float64 {
	if r.Done {
		return 0
	}
	return 1
}

// CreateTracker makes the tracker of a shard.
func (fn *source) CreateTracker(r restriction) *sdf.LockRTracker {
	return sdf.NewLockRTracker(newTracker(r))
}

// drain emits what the fetcher has, waiting a moment if that is nothing.
func (fn *source) drain(ctx context.Context, f *fetcher, rt *sdf.LockRTracker, emit func(beam.EventTime, coders.AckableMessage)) (drained, error) {
	start := time.Now()
	out := drained{}
	defer func() { f.report(ctx) }()
	if !f.queue.awaitMessage(ctx, f.idle.Wait()) {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		return out, f.verdict()
	}
	for out.emitted < mostRecords && time.Since(start) < mostTime && ctx.Err() == nil {
		taken, expired := f.queue.takeAll(time.Now(), mostRecords-out.emitted)
		expiredCounter.Inc(ctx, int64(expired))
		if len(taken) == 0 {
			if f.queue.awaitMessage(ctx, lull) {
				continue
			}
			break
		}
		n := fn.emit(ctx, f, taken, rt, emit)
		out.emitted += n
		if n < len(taken) {
			out.ended = true
			break
		}
	}
	emittedCounter.Inc(ctx, int64(out.emitted))
	return out, ctx.Err()
}

// verdict is the error with which a bundle should fail, or nil.
func (f *fetcher) verdict() error {
	if err := f.health.Verdict(time.Now()); err != nil {
		return fmt.Errorf("litegrpcio.Read: %w", err)
	}
	return nil
}

// drained is how a drain went.
type drained struct {
	emitted int
	ended   bool // the tracker refused a claim
}

// emit claims and emits messages until a claim is refused, and returns how many.
// The rest goes back into the queue, also when a DoFn behind the source fails.
func (fn *source) emit(ctx context.Context, f *fetcher, taken []waiting, rt *sdf.LockRTracker, emit func(beam.EventTime, coders.AckableMessage)) (done int) {
	defer func() { f.queue.putBack(taken[done:]) }()
	for i := range taken {
		m := &taken[i].AckableMessage
		now := time.Now()
		if !rt.TryClaim(oneRecord(now)) {
			return i
		}
		if m.Handle.DeliveryAttempt > 1 {
			redeliveredCounter.Inc(ctx, 1)
		}
		if !m.StoreTime.IsZero() {
			latencyDistribution.Update(ctx, max(taken[i].since.Sub(m.StoreTime).Milliseconds(), 0))
		}
		done = i + 1 // handed over, whatever becomes of it
		emit(mtime.FromTime(f.times.of(m, now)), *m)
	}
	return len(taken)
}

// endedClose is how long a fetcher stays open after a shard has ended and while no
// other one comes back for more. Shards are called in turn, so that there may be
// others although none is at work; closing under them leaves a poll at the broker
// that takes messages for nobody, until their leases end.
const endedClose = 2 * time.Second

// withFetcher runs do with the fetcher of this configuration. A fetcher whose
// shards have ended is not kept for its idle time.
func (fn *source) withFetcher(ctx context.Context, do func(*fetcher) (ended bool, err error)) error {
	f, hold, err := fetchers.Acquire(ctx, fn.key, func(ctx context.Context) (*fetcher, error) { return openFetcher(ctx, fn.Config) })
	if err != nil {
		return err
	}
	ended := false
	defer func() { // also when a DoFn behind the source fails: Beam's emitter panics then
		hold.Release()
		if ended {
			fetchers.Hasten(fn.key, endedClose)
		}
	}()
	ended, err = do(f)
	return err
}

// readFn is the unbounded source.
type readFn struct{ source }

// Setup refuses the direct runner.
func (fn *readFn) Setup(ctx context.Context) error {
	if err := direct.Refuse(ctx, "litegrpcio.Read", "litegrpcio.ReadBounded"); err != nil {
		return err
	}
	return fn.source.Setup()
}

// TruncateRestriction ends the reading when a pipeline is drained: what was not
// emitted stays with the broker.
func (*readFn) TruncateRestriction(rt *sdf.LockRTracker, _ []byte) restriction {
	r := rt.GetRestriction().(restriction)
	r.Done = true
	return r
}

// InitialWatermarkEstimatorState is called once, before the restriction is
// split: nothing is known yet.
func (fn *readFn) InitialWatermarkEstimatorState(beam.EventTime, restriction, []byte) int64 {
	return mtime.MinTimestamp.Milliseconds()
}

// CreateWatermarkEstimator goes on from a watermark.
func (fn *readFn) CreateWatermarkEstimator(ms int64) *watermark.Estimator {
	return watermark.New(ms)
}

// WatermarkEstimatorState is the watermark to go on from.
func (fn *readFn) WatermarkEstimatorState(e *watermark.Estimator) int64 { return e.State() }

// ProcessElement emits what is there and asks to be called again.
func (fn *readFn) ProcessElement(ctx context.Context, we *watermark.Estimator, rt *sdf.LockRTracker, _ []byte, emit func(beam.EventTime, coders.AckableMessage)) (sdf.ProcessContinuation, error) {
	if rt.GetRestriction().(restriction).over(time.Now()) {
		rt.TryClaim(theEnd{})
		return sdf.StopProcessing(), nil
	}
	var next sdf.ProcessContinuation
	err := fn.withFetcher(ctx, func(f *fetcher) (bool, error) {
		out, err := fn.drain(ctx, f, rt, emit)
		if err != nil {
			return false, err
		}
		we.Advance(f.times.watermark(f.queue, time.Now()))
		if out.ended || rt.GetRestriction().(restriction).over(time.Now()) {
			rt.TryClaim(theEnd{})
			next = sdf.StopProcessing()
			return true, nil
		}
		next = sdf.ResumeProcessingIn(f.idle.After(out.emitted))
		return false, nil
	})
	if err != nil {
		return sdf.StopProcessing(), err
	}
	return next, nil
}

// readBoundedFn is the bounded source: without a ProcessContinuation, which
// would make its output unbounded whatever the tracker says, and without a
// watermark estimator, which the direct runner does not know.
type readBoundedFn struct{ source }

// ProcessElement emits until a limit is reached.
func (fn *readBoundedFn) ProcessElement(ctx context.Context, rt *sdf.LockRTracker, _ []byte, emit func(beam.EventTime, coders.AckableMessage)) error {
	return fn.withFetcher(ctx, func(f *fetcher) (bool, error) {
		for !rt.GetRestriction().(restriction).over(time.Now()) {
			out, err := fn.drain(ctx, f, rt, emit)
			if err != nil {
				return false, err
			}
			if out.ended {
				break
			}
		}
		rt.TryClaim(theEnd{})
		return true, nil
	})
}
