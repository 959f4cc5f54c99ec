// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/table"
)

func init() {
	// By reflection, as all that works on types which the compiler does not know.
	beam.RegisterDoFn(&readRowsFn{})
	beam.RegisterDoFn(&writeRowsFn{})
}

// readRowsFn makes Beam rows of messages.
type readRowsFn struct{ table.RowsSource }

// ProcessElement emits the rows of a message.
func (fn *readRowsFn) ProcessElement(ctx context.Context, m coders.Message, emit func(beam.X)) error {
	var properties map[string]string
	if fn.Reader().Properties {
		properties = Outgoing(m).Properties
	}
	err := fn.Reader().ReadStructs(ctx, m.Body, table.EnvelopeOf(&m, time.Now(), properties), func(row any) { emit(row) })
	if err != nil {
		return fmt.Errorf("rocketmqio.ReadRows: %v: %w", m, err)
	}
	return nil
}

// writeRowsFn makes messages of Beam rows.
type writeRowsFn struct{ table.RowsSink }

// ProcessElement emits the message of a row.
func (fn *writeRowsFn) ProcessElement(ctx context.Context, row beam.X, emit func(OutgoingMessage)) error {
	m, err := fn.Writer().WriteStruct(ctx, row)
	if err != nil {
		return fmt.Errorf("rocketmqio.WriteRows: %w", err)
	}
	emit(OutgoingMessage{Body: m.Body, Keys: m.Keys, Tag: m.Tag})
	return nil
}
