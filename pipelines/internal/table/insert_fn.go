// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/connector"
	"github.com/rocketmq-beam/rocketmq-beam/internal/table"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

func init() {
	// The way that most scripts go. What makes a DoFn faster takes the compiler
	// seconds and gigabytes each.
	beam.RegisterDoFn(&normalToNormalFn{})
	register.Function3x1((&normalToNormalFn{}).ProcessElement)
	register.Emitter1[rocketmqio.OutgoingMessage]()
	beam.RegisterDoFn(&normalToLiteFn{})
	beam.RegisterDoFn(&liteToNormalFn{})
	beam.RegisterDoFn(&liteToNormalAckFn{})
	beam.RegisterDoFn(&liteToLiteFn{})
	beam.RegisterDoFn(&liteToLiteAckFn{})
}

// inserting is what the DoFns of statements share. It travels in the graph.
type inserting struct {
	Insert table.Insert
	// Place tells the statement from others, see [plan.place].
	Place string

	run *table.Inserter
	id  []byte // of the message at hand
}

// Setup makes the statement ready to work.
func (fn *inserting) Setup() (err error) {
	fn.run, err = fn.Insert.Inserter()
	return err
}

// fromNormal works on a message of a normal topic.
func (fn *inserting) fromNormal(ctx context.Context, m *coders.Message, yield func(row int, out table.Message)) error {
	var e *connector.Envelope
	if fn.run.Metadata {
		var properties map[string]string
		if fn.run.Properties {
			properties = rocketmqio.Outgoing(*m).Properties
		}
		e = table.EnvelopeOf(m, time.Now(), properties)
	}
	n := 0
	err := fn.run.Insert(ctx, m.Body, e, func(out table.Message) { yield(n, out); n++ })
	if err != nil {
		return fmt.Errorf("%v: %w", m, err)
	}
	return nil
}

// fromLite works on a message of a lite topic, which has no attributes to read.
func (fn *inserting) fromLite(ctx context.Context, m *coders.AckableMessage, yield func(row int, out table.Message)) error {
	n := 0
	err := fn.run.Insert(ctx, m.Body, &connector.Envelope{}, func(out table.Message) { yield(n, out); n++ })
	if err != nil {
		return fmt.Errorf("message %s of lite topic %q: %w", m.Handle.MessageID, m.Handle.LiteTopic, err)
	}
	return nil
}

// normal makes the message of a row. id is that of the message it comes from.
func normal[ID string | []byte](fn *inserting, id ID, row int, m table.Message) rocketmqio.OutgoingMessage {
	return rocketmqio.OutgoingMessage{Body: m.Body, Keys: m.Keys, Tag: m.Tag, UniqueKey: idOf(fn.Place, id, row)}
}

func lite(m table.Message) litegrpcio.Message {
	return litegrpcio.Message{Body: m.Body, Keys: m.Keys, Tag: m.Tag}
}

// normalToNormalFn writes rows of normal topics to a normal one.
type normalToNormalFn struct{ inserting }

// ProcessElement emits a message for each row that is selected.
func (fn *normalToNormalFn) ProcessElement(ctx context.Context, m coders.Message, emit func(rocketmqio.OutgoingMessage)) error {
	fn.id = appendID(fn.id[:0], &m)
	return fn.fromNormal(ctx, &m, func(row int, out table.Message) { emit(normal(&fn.inserting, fn.id, row, out)) })
}

// normalToLiteFn writes rows of normal topics to a lite one.
type normalToLiteFn struct{ inserting }

// ProcessElement emits a message for each row that is selected.
func (fn *normalToLiteFn) ProcessElement(ctx context.Context, m coders.Message, emit func(litegrpcio.Message)) error {
	return fn.fromNormal(ctx, &m, func(_ int, out table.Message) { emit(lite(out)) })
}

// liteToNormalFn writes rows of lite topics to a normal one.
type liteToNormalFn struct{ inserting }

// ProcessElement emits a message for each row that is selected.
func (fn *liteToNormalFn) ProcessElement(ctx context.Context, m coders.AckableMessage, emit func(rocketmqio.OutgoingMessage)) error {
	return fn.fromLite(ctx, &m, func(row int, out table.Message) { emit(normal(&fn.inserting, m.Handle.MessageID, row, out)) })
}

// liteToNormalAckFn does so for messages that are then acknowledged.
type liteToNormalAckFn struct{ inserting }

// ProcessElement emits the messages of all rows at once, with the handle.
func (fn *liteToNormalAckFn) ProcessElement(ctx context.Context, m coders.AckableMessage, emit func(rocketmqio.Delivery)) error {
	d := rocketmqio.Delivery{Handle: m.Handle}
	err := fn.fromLite(ctx, &m, func(row int, out table.Message) {
		d.Messages = append(d.Messages, normal(&fn.inserting, m.Handle.MessageID, row, out))
	})
	if err != nil {
		return err
	}
	emit(d)
	return nil
}

// liteToLiteFn writes rows of lite topics to a lite one.
type liteToLiteFn struct{ inserting }

// ProcessElement emits a message for each row that is selected.
func (fn *liteToLiteFn) ProcessElement(ctx context.Context, m coders.AckableMessage, emit func(litegrpcio.Message)) error {
	return fn.fromLite(ctx, &m, func(_ int, out table.Message) { emit(lite(out)) })
}

// liteToLiteAckFn does so for messages that are then acknowledged.
type liteToLiteAckFn struct{ inserting }

// ProcessElement emits the messages of all rows at once, with the handle.
func (fn *liteToLiteAckFn) ProcessElement(ctx context.Context, m coders.AckableMessage, emit func(litegrpcio.Delivery)) error {
	d := litegrpcio.Delivery{Handle: m.Handle}
	err := fn.fromLite(ctx, &m, func(_ int, out table.Message) { d.Messages = append(d.Messages, lite(out)) })
	if err != nil {
		return err
	}
	emit(d)
	return nil
}
