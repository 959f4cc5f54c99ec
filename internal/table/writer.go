// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"context"
	"fmt"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// Message is what a row becomes.
type Message struct {
	Body []byte
	Keys []string
	Tag  string
}

// Writer makes messages of rows. It is for one goroutine.
type Writer struct{ parts }

// Writer makes the writer of a table.
func (s *Side) Writer() (*Writer, error) {
	p, err := s.open()
	if err != nil {
		return nil, err
	}
	return &Writer{p}, nil
}

// Columns are those of the rows.
func (w *Writer) Columns() sqltype.Schema { return w.columns }

// Write makes the message of a row.
func (w *Writer) Write(ctx context.Context, row []any) (Message, error) {
	values, header, err := w.layout.Split(row)
	if err != nil {
		return Message{}, fmt.Errorf("table %s: %w", w.table, err)
	}
	body, err := w.format.Encode(values)
	if err != nil {
		return Message{}, fmt.Errorf("table %s: %w", w.table, err)
	}
	if len(body) == 0 {
		return Message{}, fmt.Errorf("table %s: the row %v makes an empty body, which brokers refuse", w.table, row)
	}
	rowsWrittenCounter.Inc(ctx, 1)
	return Message{Body: body, Keys: header.Keys, Tag: header.Tag}, nil
}
