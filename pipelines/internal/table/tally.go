// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/table"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

// With EXACTLY_ONCE a row is visible when its transaction is committed, bundles
// after the one that has read its message. A position that is committed with the
// reading would be ahead of that: a run that begins there has lost the row. So
// what becomes of each message is counted, and its position is committed when all
// statements have read it and all rows that they made of it are there.

func init() {
	beam.RegisterCoder(reflect.TypeFor[queueTally](), encodeTally, decodeTally)
	// By reflection: transactions cost far more than calls.
	beam.RegisterDoFn(&normalToNormalTrackedFn{})
	beam.RegisterDoFn(&storedFn{})
	beam.RegisterDoFn(&gatherFn{})
	beam.RegisterDoFn(&settleFn{})
}

// note is that a statement has read a message and made rows of it, or that one of
// these is there.
type note struct {
	Topic, Broker string
	ID            int
	Offset        int64
	Read, Rows    int
}

func noteOf(p rocketmqio.Position, read, rows int) note {
	return note{p.Topic, p.Broker, p.ID, p.Offset, read, rows}
}

func (n note) position() rocketmqio.Position {
	return rocketmqio.Position{Queue: rocketmqio.Queue{Topic: n.Topic, Broker: n.Broker, ID: n.ID}, Offset: n.Offset}
}

// normalToNormalTrackedFn writes rows of normal topics to a normal one, and says
// what it made of each message.
type normalToNormalTrackedFn struct{ inserting }

// ProcessElement emits a message for each row that is selected, and a note.
func (fn *normalToNormalTrackedFn) ProcessElement(ctx context.Context, m coders.Message, emit func(rocketmqio.OutgoingMessage), tell func(note)) error {
	at, rows := rocketmqio.PositionOf(m), 0
	fn.id = appendID(fn.id[:0], &m)
	err := fn.fromNormal(ctx, &m, func(row int, out table.Message) {
		o := normal(&fn.inserting, fn.id, row, out)
		o.Source = &at
		emit(o)
		rows++
	})
	if err != nil {
		return err
	}
	tell(noteOf(at, 1, rows))
	return nil
}

// storedFn counts rows that are there, and notes them if they say where they come
// from.
type storedFn struct{}

// ProcessElement takes the result of a row.
func (storedFn) ProcessElement(ctx context.Context, r rocketmqio.WriteResult, tell func(note)) {
	if !r.OK() {
		table.CountFailed(ctx)
	} else {
		table.CountStored(ctx)
	}
	if r.Source != nil {
		tell(noteOf(*r.Source, 0, -1))
	}
}

// queueTally is what is known of the messages of a queue on which somebody still
// works, by offset.
type queueTally struct {
	Open map[int64]count `json:"open"`
}

type count struct {
	Read int `json:"read,omitempty"`
	Rows int `json:"rows,omitempty"`
}

func encodeTally(t queueTally) ([]byte, error) { return json.Marshal(t) }

func decodeTally(data []byte) (t queueTally, err error) {
	if err := json.Unmarshal(data, &t); err != nil {
		return t, fmt.Errorf("tally of a queue: %w", err)
	}
	return t, nil
}

func (t *queueTally) add(offset int64, c count) {
	if t.Open == nil {
		t.Open = map[int64]count{}
	}
	sum := t.Open[offset]
	t.Open[offset] = count{sum.Read + c.Read, sum.Rows + c.Rows}
}

// settled takes out the messages that all statements have read and of which no row
// is missing.
func (t *queueTally) settled(statements int) (offsets []int64) {
	maps.DeleteFunc(t.Open, func(offset int64, c count) bool {
		done := c == count{Read: statements}
		if done {
			offsets = append(offsets, offset)
		}
		return done
	})
	return offsets
}

// settledPositions are those of messages on which the statements are done.
func settledPositions(s beam.Scope, statements int, notes ...beam.PCollection) beam.PCollection {
	s = s.Scope("written")
	all := beam.WindowInto(s, window.NewGlobalWindows(), beam.Flatten(s, notes...))
	gathered := beam.ParDo(s, &gatherFn{}, all)
	return beam.ParDo(s, &settleFn{Statements: statements, Tally: state.MakeValueState[queueTally]("tally")}, gathered)
}

// gatherFn sums up the notes of a bundle. They leave it when all that the bundle
// did before is finished.
type gatherFn struct {
	queues map[rocketmqio.Queue]*queueTally
}

// StartBundle forgets what a failed bundle left behind.
func (fn *gatherFn) StartBundle(func(string, queueTally)) {
	fn.queues = map[rocketmqio.Queue]*queueTally{}
}

// ProcessElement takes a note.
func (fn *gatherFn) ProcessElement(n note, _ func(string, queueTally)) {
	p := n.position()
	t := fn.queues[p.Queue]
	if t == nil {
		t = &queueTally{}
		fn.queues[p.Queue] = t
	}
	t.add(p.Offset, count{n.Read, n.Rows})
}

// FinishBundle emits the sums of each queue.
func (fn *gatherFn) FinishBundle(emit func(string, queueTally)) error {
	for q, t := range fn.queues {
		key, err := json.Marshal(q)
		if err != nil {
			return err
		}
		emit(string(key), *t)
	}
	fn.queues = nil
	return nil
}

// settleFn keeps the tally of each queue.
type settleFn struct {
	Statements int
	Tally      state.Value[queueTally]
}

// ProcessElement adds to it, and emits the positions that are settled by that.
func (fn *settleFn) ProcessElement(known state.Provider, key string, more queueTally, emit func(rocketmqio.Position)) error {
	var q rocketmqio.Queue
	if err := json.Unmarshal([]byte(key), &q); err != nil {
		return fmt.Errorf("tally of queue %s: %w", key, err)
	}
	t, _, err := fn.Tally.Read(known)
	if err != nil {
		return fmt.Errorf("tally of queue %s: %w", q, err)
	}
	for offset, c := range more.Open {
		t.add(offset, c)
	}
	settled := t.settled(fn.Statements)
	if err := fn.Tally.Write(known, t); err != nil {
		return fmt.Errorf("tally of queue %s: %w", q, err)
	}
	for _, offset := range settled {
		emit(rocketmqio.Position{Queue: q, Offset: offset})
	}
	return nil
}
