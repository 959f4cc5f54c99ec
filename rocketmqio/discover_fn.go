// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/cenkalti/backoff/v5"

	"github.com/rocketmq-beam/rocketmq-beam/internal/direct"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
	"github.com/rocketmq-beam/rocketmq-beam/internal/watermark"
)

func init() {
	beam.RegisterCoder(reflect.TypeFor[discovery](), encodeDiscovery, decodeDiscovery)
	beam.RegisterDoFn(&discoverFn{})
	beam.RegisterDoFn(&discoverOnceFn{})
	register.Emitter1[assignment]()
}

// discovery is the restriction of the discovering DoFn: the queues that were
// found, so that a restored pipeline goes on with what it knew and takes new
// queues for new.
type discovery struct {
	Known []string `json:"known,omitempty"`
	// First says that no round was finished: start positions apply to what is
	// found.
	First bool `json:"first"`
	Done  bool `json:"done,omitempty"`
}

func encodeDiscovery(d discovery) ([]byte, error) { return json.Marshal(d) }

func decodeDiscovery(data []byte) (discovery, error) {
	var d discovery
	if err := json.Unmarshal(data, &d); err != nil {
		return d, fmt.Errorf("rocketmqio: discovery: %w", err)
	}
	return d, nil
}

// roundDone and theEnd are positions of the discovery beside Queue.
type (
	roundDone struct{}
	theEnd    struct{}
)

// discoveryTracker takes a Queue for one that was found, roundDone, and theEnd.
type discoveryTracker struct {
	rest discovery
	err  error
}

func (t *discoveryTracker) TryClaim(position any) bool {
	if t.rest.Done {
		return false
	}
	switch p := position.(type) {
	case Queue:
		t.rest.Known = append(t.rest.Known, p.String())
		return true
	case roundDone:
		t.rest.First = false
		return true
	case theEnd:
		t.rest.Done = true
		return false
	}
	t.err = fmt.Errorf("rocketmqio: claim of a %T", position)
	return false
}

func (t *discoveryTracker) GetError() error { return t.err }

func (t *discoveryTracker) TrySplit(fraction float64) (primary, residual any, err error) {
	if fraction != 0 || t.rest.Done {
		return t.rest, nil, nil
	}
	rest := discovery{Known: slices.Clone(t.rest.Known), First: t.rest.First}
	t.rest.Done = true
	return t.rest, rest, nil
}

func (t *discoveryTracker) GetProgress() (done, remaining float64) {
	if t.rest.Done {
		return 1, 0
	}
	return 0, 1
}
func (t *discoveryTracker) IsDone() bool        { return t.err == nil && t.rest.Done }
func (t *discoveryTracker) GetRestriction() any { return t.rest }
func (t *discoveryTracker) IsBounded() bool     { return t.rest.Done }

// discoverFn looks for queues again and again and emits an assignment for each
// new one.
type discoverFn struct {
	Config readConfig
}

// Setup refuses the direct runner.
func (*discoverFn) Setup(ctx context.Context) error {
	return direct.Refuse(ctx, "rocketmqio.Read", "rocketmqio.ReadBounded")
}

// CreateInitialRestriction begins with no queue known.
func (fn *discoverFn) CreateInitialRestriction([]byte) discovery { return discovery{First: true} }

// SplitRestriction keeps the discovery in one piece.
func (fn *discoverFn) SplitRestriction(_ []byte, d discovery) []discovery { return []discovery{d} }

// RestrictionSize is small: a question.
func (fn *discoverFn) RestrictionSize([]byte, discovery) float64 { return 1 }

// CreateTracker makes the tracker.
func (fn *discoverFn) CreateTracker(d discovery) *sdf.LockRTracker {
	return sdf.NewLockRTracker(&discoveryTracker{rest: d})
}

// TruncateRestriction ends the discovery when a pipeline is drained.
func (fn *discoverFn) TruncateRestriction(rt *sdf.LockRTracker, _ []byte) discovery {
	return discovery{Done: true}
}

// InitialWatermarkEstimatorState is called once: nothing is known yet.
func (fn *discoverFn) InitialWatermarkEstimatorState(beam.EventTime, discovery, []byte) int64 {
	return mtime.MinTimestamp.Milliseconds()
}

// CreateWatermarkEstimator goes on from a watermark.
func (fn *discoverFn) CreateWatermarkEstimator(ms int64) *watermark.Estimator {
	return watermark.New(ms)
}

// WatermarkEstimatorState is the watermark to go on from.
func (fn *discoverFn) WatermarkEstimatorState(e *watermark.Estimator) int64 {
	return e.State()
}

// ProcessElement is one round of discovery. An assignment has the event time of
// the beginning of all time, as its input has: until the queue was looked at,
// nothing is known of the event times in it.
func (fn *discoverFn) ProcessElement(ctx context.Context, we *watermark.Estimator, rt *sdf.LockRTracker, _ []byte, emit func(assignment)) (sdf.ProcessContinuation, error) {
	state := rt.GetRestriction().(discovery)
	began, finished := time.Now(), false
	err := fn.Config.acquire(ctx, func(s *session) error {
		found, err := s.discover(ctx, state)
		if err != nil && !state.First && !isFinal(err) {
			s.log.Warn("looking for new queues", "error", err)
			return nil
		}
		if err != nil {
			return fmt.Errorf("rocketmqio.Read: looking for queues: %w", err)
		}
		for _, a := range found {
			if !rt.TryClaim(a.Queue) {
				return nil
			}
			queuesCounter.Inc(ctx, 1)
			if a.isRead() { // else it is known, and that is all
				s.marks.expect(a.Queue, time.Now())
				emit(a)
			}
		}
		finished = rt.TryClaim(roundDone{})
		return nil
	})
	if err != nil {
		return sdf.StopProcessing(), err
	}
	if finished { // a queue that is found later holds nothing older than this round
		we.Advance(began)
	}
	if fn.Config.foundAll(rt.GetRestriction().(discovery).Known) {
		rt.TryClaim(theEnd{})
		return sdf.StopProcessing(), nil
	}
	return sdf.ResumeProcessingIn(fn.Config.DiscoveryInterval), nil
}

// foundAll says that looking again is of no use: it is switched off, the end was
// fixed at the start, or all queues that have an end are known.
func (c *readConfig) foundAll(known []string) bool {
	if c.DiscoveryInterval == 0 || c.End.Mode == endLatest || c.End.Mode == endTimestamp {
		return true
	}
	return c.End.Mode == endSpecific && len(c.notFound(known)) == 0
}

// notFound are the queues that have an end and are not known.
func (c *readConfig) notFound(known []string) (missing []string) {
	for q := range c.End.Offsets {
		if !slices.Contains(known, q) {
			missing = append(missing, q)
		}
	}
	slices.Sort(missing)
	return missing
}

// discoverOnceFn looks for queues once, for a bounded reading.
type discoverOnceFn struct {
	Config readConfig
}

// ProcessElement emits all queues that have something to read.
func (fn *discoverOnceFn) ProcessElement(ctx context.Context, _ []byte, emit func(assignment)) error {
	return fn.Config.acquire(ctx, func(s *session) error {
		found, err := s.discover(ctx, discovery{First: true})
		if err != nil {
			return fmt.Errorf("rocketmqio.ReadBounded: looking for queues: %w", err)
		}
		var known []string
		for _, a := range found {
			known = append(known, a.Queue.String())
		}
		if missing := fn.Config.notFound(known); len(missing) > 0 {
			return fmt.Errorf("rocketmqio.ReadBounded: ReadTo(AtSpecific) names %s, and there are only %s: check topic, broker and id of the queues",
				strings.Join(missing, ", "), strings.Join(known, ", "))
		}
		for _, a := range found {
			queuesCounter.Inc(ctx, 1)
			if a.isRead() {
				emit(a)
			}
		}
		return nil
	})
}

// startTries bounds the looking for queues at a start; each try has a timeout of
// its own.
const (
	startTries   = 5
	startLongest = 8 * time.Second
)

// discover finds the queues that are not known yet and their ranges. What may
// pass is tried again for some seconds.
func (s *session) discover(ctx context.Context, state discovery) ([]assignment, error) {
	ctx, cancel := context.WithTimeout(ctx, startLongest)
	defer cancel()
	var last error
	found, err := backoff.Retry(ctx, func() ([]assignment, error) {
		found, err := s.lookForQueues(ctx, state)
		if err != nil && (last == nil || ctx.Err() == nil) {
			last = err
		}
		if err != nil && isFinal(err) {
			return nil, backoff.Permanent(err)
		}
		return found, err
	}, backoff.WithMaxTries(startTries), backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: 100 * time.Millisecond, Multiplier: 2, RandomizationFactor: 0.2, MaxInterval: 2 * time.Second,
	}))
	if err != nil && last != nil {
		err = last
	}
	return found, err
}

// isFinal says that asking again cannot help.
func isFinal(err error) bool {
	class := remoting.ClassOf(err)
	if _, ok := errors.AsType[*rangeError](err); ok {
		return true
	}
	return class == remoting.Permanent || class == remoting.NotFound
}

func (s *session) lookForQueues(ctx context.Context, state discovery) ([]assignment, error) {
	var out []assignment
	for _, topic := range s.cfg.Topics {
		route, err := s.client.Route(ctx, topic)
		if err != nil {
			return nil, err
		}
		if err := s.checkFilter(ctx, topic, state.First); err != nil {
			return nil, err
		}
		found, err := s.assignQueues(ctx, route.Readable(), state)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// assignQueues decides the ranges of the queues of one topic that are not known
// yet. A queue for which the group has committed nothing, while it has for
// others of the topic, was added while the pipeline was stopped: what it holds
// came after the group's start.
func (s *session) assignQueues(ctx context.Context, queues []remoting.Queue, state discovery) ([]assignment, error) {
	var out []assignment
	var starts []queueStart
	groupKnown := false
	for _, q := range queues {
		if slices.Contains(state.Known, queueOf(q).String()) {
			continue
		}
		start, err := s.start(ctx, q, state.First)
		if err != nil {
			return nil, err
		}
		groupKnown = groupKnown || start.by == startCommitted
		starts = append(starts, start)
	}
	for _, start := range starts {
		a := assignment{Queue: queueOf(start.queue), Start: start.offset}
		if groupKnown && start.by != startCommitted && start.by != startSpecific {
			a.Start = start.bounds.min
		}
		var err error
		if a.End, err = lastOffset(ctx, s.client, start.queue, s.cfg.End, start.bounds); err != nil {
			return nil, err
		}
		s.log.Info("queue found", "queue", a.Queue.String(), "holds", fmt.Sprintf("%d-%d", start.bounds.min, start.bounds.max), "start", a.Start, "by", start.by)
		out = append(out, a)
	}
	return out, nil
}

// queueStart is where reading begins in a queue, and why.
type queueStart struct {
	queue  remoting.Queue
	bounds bounds
	offset int64
	by     startMode
}

// start decides where to begin in a queue. One that is found while the pipeline
// runs was added to the topic, and is read from its first message on, unless the
// start knows an offset for it: then its broker was away when the pipeline
// started.
func (s *session) start(ctx context.Context, q remoting.Queue, first bool) (queueStart, error) {
	b, err := boundsOf(ctx, s.client, q)
	if err != nil {
		return queueStart{}, err
	}
	from := s.cfg.Start
	if !first {
		from = from.later()
	}
	out := queueStart{queue: q, bounds: b}
	out.offset, out.by, err = firstOffset(ctx, s.client, q, s.cfg.Group, from, s.cfg.OutOfRange, b)
	return out, err
}

// checkFilter asks the broker to compile a SQL filter, once: what it cannot
// compile, it lets every message pass.
func (s *session) checkFilter(ctx context.Context, topic string, first bool) error {
	if s.cfg.SQL == "" || !first {
		return nil
	}
	return s.client.CheckFilter(ctx, topic, s.cfg.Group, s.cfg.expression())
}
