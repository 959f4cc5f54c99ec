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
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/google/uuid"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/watermark"
)

func init() {
	beam.RegisterCoder(reflect.TypeFor[settled](), encodeSettled, decodeSettled)
	beam.RegisterDoFn(&readTrackedFn{})
	register.Emitter1[settled]()
}

// Tracked is what [ReadTracked] reads, with what [Commit] needs to know of it.
type Tracked struct {
	// Messages is an unbounded PCollection<coders.Message>.
	Messages beam.PCollection

	settled beam.PCollection
	config  readConfig
}

// ReadTracked is [Read] for pipelines that commit positions when the work on the
// messages is done, and not when they are handed on: see [Commit], without which
// nothing is committed. It panics where Read does. [ReadCommitInterval] has no
// effect.
func ReadTracked(s beam.Scope, nameServers, group string, topics []string, opts ...ReadOption) Tracked {
	s = s.Scope("rocketmqio.ReadTracked")
	cfg, err := newReadConfig(nameServers, group, topics, opts)
	if err != nil {
		panic(fmt.Sprintf("rocketmqio.ReadTracked: %v", err))
	}
	cfg.SourceID, cfg.CommitInterval = uuid.NewString(), 0
	queues := beam.ParDo(s, &discoverFn{Config: cfg}, beam.Impulse(s))
	messages, known := beam.ParDo2(s, &readTrackedFn{readFn{queueSource{Config: cfg}}}, queues)
	return Tracked{Messages: messages, settled: known, config: cfg}
}

// settled says which offsets of a queue nobody has to wait for any more: the work
// on them is done, or they were not wanted.
type settled struct {
	Queue
	// From is where the reading of the queue began, if Begun is set.
	From  int64     `json:"from,omitempty"`
	Begun bool      `json:"begun,omitempty"`
	Spans []stretch `json:"spans,omitempty"`
}

func encodeSettled(d settled) ([]byte, error) { return json.Marshal(d) }

func decodeSettled(data []byte) (settled, error) {
	var d settled
	if err := json.Unmarshal(data, &d); err != nil {
		return d, fmt.Errorf("rocketmqio: settled offsets: %w", err)
	}
	return d, nil
}

// readTrackedFn reads a queue, and tells beside its messages where they began and
// what lies between them.
type readTrackedFn struct{ readFn }

// ProcessElement emits what is there and asks to be called again.
func (fn *readTrackedFn) ProcessElement(ctx context.Context, we *watermark.Estimator, rt *sdf.LockRTracker, a assignment, message func(beam.EventTime, coders.Message), known func(settled)) (sdf.ProcessContinuation, error) {
	return fn.process(ctx, we, rt, a, emitters{message, func(r *reader, some *readSome, reached int64, _ bool) {
		begun := r.tellsBegin(reached)
		if begun || len(some.skipped) > 0 {
			known(settled{Queue: a.Queue, From: a.Start, Begun: begun, Spans: some.skipped})
		}
	}})
}

// tellsBegin says that it is time to say where reading began: at first, so that
// the position is committed even if there is nothing to read, and again while what
// was read is not committed, so that a commit that failed is made up for.
func (r *reader) tellsBegin(reached int64) bool {
	stands := r.session.isCommitted(r.queue, reached)
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.commit.some && (stands || now.Sub(r.commit.at) < recommitAfter) {
		return false
	}
	r.commit = committed{some: true, at: now, to: reached}
	return true
}
