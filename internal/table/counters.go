// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// The namespace of the counters, and their names.
const (
	Namespace = "rocketmq.table"

	// CountRead are messages, CountRows what became of them before WHERE.
	CountRead = "messages_read"
	CountRows = "rows_read"
	// CountSkipped are lines that the length check left out, CountUndecodable rows
	// that could not be read.
	CountSkipped     = "rows_skipped"
	CountUndecodable = "rows_undecodable"
	// CountFiltered are rows for which WHERE did not hold.
	CountFiltered = "rows_filtered"
	// CountWritten are rows that became messages.
	CountWritten = "rows_written"
	// RowsStored and RowsFailed are rows whose results came: where transactions are
	// among them, what was sent is more than what is there.
	RowsStored = "rows_stored"
	RowsFailed = "rows_failed"
)

var (
	readCounter        = beam.NewCounter(Namespace, CountRead)
	rowsReadCounter    = beam.NewCounter(Namespace, CountRows)
	skippedCounter     = beam.NewCounter(Namespace, CountSkipped)
	undecodableCounter = beam.NewCounter(Namespace, CountUndecodable)
	filteredCounter    = beam.NewCounter(Namespace, CountFiltered)
	rowsWrittenCounter = beam.NewCounter(Namespace, CountWritten)
	rowsStoredCounter  = beam.NewCounter(Namespace, RowsStored)
	rowsFailedCounter  = beam.NewCounter(Namespace, RowsFailed)
)

// CountStored counts a row that is there.
func CountStored(ctx context.Context) { rowsStoredCounter.Inc(ctx, 1) }

// CountFailed counts a row that could not be written.
func CountFailed(ctx context.Context) { rowsFailedCounter.Inc(ctx, 1) }
