// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/stageoutput"
)

func init() {
	beam.RegisterCoder(reflect.TypeFor[queueProgress](), encodeProgress, decodeProgress)
	register.Function1x1(PositionOf)
	register.Function1x2(sourceOf)
	beam.RegisterDoFn(&doneFn{})
	register.Function2x0((&doneFn{}).ProcessElement)
	beam.RegisterFunction(settledByQueue)
	beam.RegisterDoFn(&progressFn{})
}

// Commit commits, for the consumer group of source, the offsets of messages on
// which the work is done: in each queue up to the first message on which it is
// not. A pipeline that starts with [Committed] anew, after whatever end of the
// one before, therefore has every message again on which the work was not done,
// and some on which it was.
//
// done is a PCollection of [coders.Message], [Position], or [WriteResult] of
// messages that were made by [Outgoing], or have their Source from elsewhere. Each
// message of source must come here, once or more often, whatever the work was to
// do with it: one that never comes holds the position of its queue for ever, as
// those of [ReadTags] or [ReadSQL] that are not wanted do not. A result with an
// error, which there is with the guarantee [None] only, counts as done.
//
// What is known of messages that overtook others is kept in the runner's state,
// some bytes for each gap. A commit that fails fails no bundle; it is made up for.
//
// Commit panics if done has another type, with a text that names it.
func Commit(s beam.Scope, source Tracked, done beam.PCollection) {
	s = s.Scope("rocketmqio.Commit")
	if !source.settled.IsValid() || !done.IsValid() {
		panic("rocketmqio.Commit: want a source by ReadTracked and a PCollection of the same pipeline")
	}
	switch done.Type().Type() {
	case reflect.TypeFor[Position]():
	case reflect.TypeFor[coders.Message]():
		done = beam.ParDo(s, PositionOf, done)
	case reflect.TypeFor[WriteResult]():
		done = beam.ParDo(s, sourceOf, done)
	default:
		panic(fmt.Sprintf("rocketmqio.Commit: the input is of type %v: want coders.Message, rocketmqio.Position or rocketmqio.WriteResult", done.Type()))
	}
	finished := beam.ParDo(s, &doneFn{}, beam.WindowInto(s, window.NewGlobalWindows(), done))
	byQueues := beam.ParDo(s, settledByQueue, beam.Flatten(s, source.settled, finished))
	points := beam.ParDo(s, &progressFn{Progress: state.MakeValueState[queueProgress]("progress")}, byQueues)
	stageoutput.Add(s, beam.ParDo(s, &commitFn{Config: source.config}, points))
}

// sourceOf is where a message stood that was then written.
func sourceOf(r WriteResult) (Position, error) {
	if r.Source == nil {
		return Position{}, fmt.Errorf("rocketmqio.Commit: result of message %q in topic %q: %w", r.UniqueKey, r.Topic, errNoSource)
	}
	return *r.Source, nil
}

var errNoSource = errors.New("it does not say where the message was read: make what is written with Outgoing, or set its Source")

func settledByQueue(d settled) (string, settled) { return d.Queue.String(), d }

// doneFn gathers the positions of a bundle. They leave it when all that the bundle
// did before is finished.
type doneFn struct {
	offsets map[Queue][]int64
}

// StartBundle forgets what a failed bundle left behind.
func (fn *doneFn) StartBundle(func(settled)) { fn.offsets = make(map[Queue][]int64) }

// ProcessElement takes one position.
func (fn *doneFn) ProcessElement(p Position, _ func(settled)) {
	fn.offsets[p.Queue] = append(fn.offsets[p.Queue], p.Offset)
}

// FinishBundle emits what is done of each queue.
func (fn *doneFn) FinishBundle(emit func(settled)) {
	for q, offsets := range fn.offsets {
		emit(settled{Queue: q, Spans: spansOf(offsets)})
	}
	fn.offsets = nil
}

// queueProgress is what is known of a queue.
type queueProgress struct {
	// At is the first offset that is not settled, once Begun is set.
	At    int64 `json:"at,omitempty"`
	Begun bool  `json:"begun,omitempty"`
	// Ahead are settled offsets beyond it.
	Ahead []stretch `json:"ahead,omitempty"`
}

func encodeProgress(p queueProgress) ([]byte, error) { return json.Marshal(p) }

func decodeProgress(data []byte) (queueProgress, error) {
	var p queueProgress
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("rocketmqio: progress of a queue: %w", err)
	}
	return p, nil
}

// settle takes what has become known, and says if it is worth a commit.
func (p *queueProgress) settle(d settled) bool {
	if d.Begun && !p.Begun {
		p.At, p.Begun = d.From, true
	}
	before := p.At
	p.Ahead = mergeSpans(append(p.Ahead, d.Spans...))
	if !p.Begun {
		return false
	}
	p.At, p.Ahead = advance(p.At, p.Ahead)
	return d.Begun || p.At > before
}

// progressFn keeps the progress of each queue.
type progressFn struct {
	Progress state.Value[queueProgress]
}

// ProcessElement notes what is settled, and emits the position if it moved.
func (fn *progressFn) ProcessElement(_ context.Context, known state.Provider, _ string, d settled, emit func(commitPoint)) error {
	p, _, err := fn.Progress.Read(known)
	if err != nil {
		return fmt.Errorf("rocketmqio.Commit: progress of queue %s: %w", d.Queue, err)
	}
	due := p.settle(d)
	if err := fn.Progress.Write(known, p); err != nil {
		return fmt.Errorf("rocketmqio.Commit: progress of queue %s: %w", d.Queue, err)
	}
	if due {
		emit(commitPoint{Queue: d.Queue, Offset: p.At})
	}
	return nil
}
