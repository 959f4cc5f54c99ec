// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/connector"
	"github.com/rocketmq-beam/rocketmq-beam/internal/table"
)

func init() {
	// By reflection, as all that works on types which the compiler does not know.
	beam.RegisterDoFn(&readRowsFn{})
	beam.RegisterDoFn(&readRowsWithHandlesFn{})
	beam.RegisterDoFn(&writeRowsFn{})
}

// readRowsFn makes Beam rows of messages.
type readRowsFn struct{ table.RowsSource }

func (fn *readRowsFn) read(ctx context.Context, m *coders.AckableMessage, yield func(row any)) error {
	if err := fn.Reader().ReadStructs(ctx, m.Body, &connector.Envelope{}, yield); err != nil {
		return fmt.Errorf("litegrpcio.ReadRows: message %s of lite topic %q: %w", m.Handle.MessageID, m.Handle.LiteTopic, err)
	}
	return nil
}

// ProcessElement emits the rows of a message.
func (fn *readRowsFn) ProcessElement(ctx context.Context, m coders.AckableMessage, emit func(beam.X)) error {
	return fn.read(ctx, &m, func(row any) { emit(row) })
}

// readRowsWithHandlesFn does so with the handles beside them.
type readRowsWithHandlesFn struct{ readRowsFn }

// ProcessElement emits the rows of a message, each with its handle.
func (fn *readRowsWithHandlesFn) ProcessElement(ctx context.Context, m coders.AckableMessage, emit func(beam.X, coders.ReceiptHandle)) error {
	return fn.read(ctx, &m, func(row any) { emit(row, m.Handle) })
}

// writeRowsFn makes messages of Beam rows.
type writeRowsFn struct{ table.RowsSink }

// ProcessElement emits the message of a row.
func (fn *writeRowsFn) ProcessElement(ctx context.Context, row beam.X, emit func(Message)) error {
	m, err := fn.Writer().WriteStruct(ctx, row)
	if err != nil {
		return fmt.Errorf("litegrpcio.WriteRows: %w", err)
	}
	emit(Message{Body: m.Body, Keys: m.Keys, Tag: m.Tag})
	return nil
}
