// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"context"
	"fmt"
	"slices"

	"github.com/rocketmq-beam/rocketmq-beam/internal/connector"
	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// Reader makes rows of messages. It is for one goroutine.
type Reader struct {
	parts
	skip bool
	// Metadata says that a column holds something beside the body: otherwise the
	// envelope may be nil. Properties says that one holds the properties, which
	// need not be gathered otherwise.
	Metadata, Properties bool
}

// Reader makes the reader of a table.
func (s *Side) Reader() (*Reader, error) {
	p, err := s.open()
	if err != nil {
		return nil, err
	}
	hasMetadata := slices.ContainsFunc(p.columns, func(c sqltype.Column) bool { return c.Metadata != "" })
	hasProperties := slices.ContainsFunc(p.columns, func(c sqltype.Column) bool { return c.Metadata == "properties" })
	return &Reader{parts: p, skip: s.SkipErrors, Metadata: hasMetadata, Properties: hasProperties}, nil
}

// Columns are those of the rows.
func (r *Reader) Columns() sqltype.Schema { return r.columns }

// Read gives the rows of a message to yield, until that fails. A body that
// cannot be read is an error, or skipped and counted, as the table's options
// say.
func (r *Reader) Read(ctx context.Context, body []byte, e *connector.Envelope, yield func(row []any) error) error {
	readCounter.Inc(ctx, 1)
	result := r.format.Decode(body)
	if result.Skipped > 0 {
		skippedCounter.Inc(ctx, int64(result.Skipped))
	}
	if n := len(result.Faults); n > 0 {
		if !r.skip {
			return fmt.Errorf("table %s: %w: 'rocketmq.source.decode.errors' = 'skip' would skip such rows and count them", r.table, result.Faults[0])
		}
		undecodableCounter.Inc(ctx, int64(n))
	}
	rows := int64(0)
	for _, values := range result.Rows {
		row, err := r.layout.Join(values, e)
		if err != nil && !r.skip {
			return fmt.Errorf("table %s: %w", r.table, err)
		}
		if err != nil {
			undecodableCounter.Inc(ctx, 1)
			continue
		}
		rows++
		if err := yield(row); err != nil {
			return err
		}
	}
	rowsReadCounter.Inc(ctx, rows)
	return nil
}
