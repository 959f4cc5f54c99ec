// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package readbench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/google/uuid"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/usage"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

func init() { register.DoFn2x1[context.Context, coders.Message, coders.Message](&pauseFn{}) }

// Slow says how a consumer is slow.
type Slow struct {
	// For this long it takes Pause for each message, then it takes none.
	For, Pause time.Duration
	// QueueThreshold and TotalThreshold are those of the source.
	QueueThreshold, TotalThreshold int
}

// SlowResult is what a slow consumer's process needed.
type SlowResult struct {
	Messages int     `json:"messages"`
	SlowFor  float64 `json:"slow_s"`
	// ReadWhileSlow messages were taken in that time.
	ReadWhileSlow int     `json:"read_while_slow"`
	Seconds       float64 `json:"seconds"`
	// PeakReady is the most that the source kept ready, in bytes of bodies.
	PeakReady int64 `json:"peak_ready_bytes"`
	// PeakRSS is the most physical memory that the process had: when the slow
	// time was over, and at the end.
	PeakRSSWhileSlow int64 `json:"peak_rss_while_slow_bytes"`
	PeakRSS          int64 `json:"peak_rss_bytes"`
}

// ReadSlowly reads a backlog with a pipeline whose consumer is slow for some
// time. What it says of the process is true of one that did nothing before.
func ReadSlowly(ctx context.Context, b *Backlog, slow Slow) (SlowResult, error) {
	defer rocketmqio.Shutdown()
	t := newTally(b.Ends)
	w := &slowTime{}
	id := uuid.NewString()
	slowTimes.Store(id, w)
	defer slowTimes.Delete(id)
	p, s := beam.NewPipelineWithRoot()
	messages := rocketmqio.Read(s, b.NameServers, group, []string{b.Topic},
		rocketmqio.ReadFrom(rocketmqio.Earliest()), rocketmqio.ReadTo(rocketmqio.AtLatest()),
		rocketmqio.ReadThresholds(slow.QueueThreshold, slow.TotalThreshold))
	defer count(s, t, beam.ParDo(s, &pauseFn{Slow: slow, ID: id}, messages))()
	result, err := execute(ctx, p, t)
	if err == nil {
		err = t.verdict()
	}
	if err != nil {
		return SlowResult{}, err
	}
	ready, err := peakReady(result)
	return SlowResult{
		Messages: b.Messages(), SlowFor: slow.For.Seconds(), ReadWhileSlow: w.read, Seconds: t.elapsed().Seconds(),
		PeakReady: ready, PeakRSSWhileSlow: w.peakRSS, PeakRSS: usage.PeakRSS(),
	}, err
}

// peakReady finds the source's own metric.
func peakReady(result beam.PipelineResult) (int64, error) {
	const name = "ready_bytes"
	found := result.Metrics().Query(func(r beam.MetricResult) bool { return r.Name() == name }).Distributions()
	if len(found) == 0 {
		return 0, fmt.Errorf("the source has no metric %s", name)
	}
	most := int64(0)
	for _, d := range found {
		for _, v := range []metrics.DistributionValue{d.Committed, d.Attempted} {
			most = max(most, v.Max)
		}
	}
	if most == 0 {
		return 0, errors.New("the source never had anything ready")
	}
	return most, nil
}

// slowTimes are those of the pipelines that run now, by an id.
var slowTimes sync.Map

// slowTime is what was noted when the slow time was over.
type slowTime struct {
	mu      sync.Mutex
	begun   time.Time
	over    bool
	read    int
	peakRSS int64
}

// pauses says whether a message that comes now is taken slowly.
func (w *slowTime) pauses(lasts time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.begun.IsZero() {
		w.begun = time.Now()
	}
	if !w.over && time.Since(w.begun) >= lasts {
		w.over, w.peakRSS = true, usage.PeakRSS()
	}
	if !w.over {
		w.read++
	}
	return !w.over
}

// pauseFn hands messages on, slowly at first.
type pauseFn struct {
	Slow Slow
	ID   string

	time *slowTime
	fast bool
}

// Setup finds the time.
func (fn *pauseFn) Setup() {
	if v, ok := slowTimes.Load(fn.ID); ok {
		fn.time = v.(*slowTime)
	}
}

// ProcessElement waits and hands on.
func (fn *pauseFn) ProcessElement(ctx context.Context, m coders.Message) coders.Message {
	if !fn.fast {
		if fn.fast = !fn.time.pauses(fn.Slow.For); !fn.fast {
			_ = rest(ctx, fn.Slow.Pause) // a bundle that is given up sees to itself
		}
	}
	return m
}
