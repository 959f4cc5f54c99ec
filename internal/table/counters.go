// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import "github.com/apache/beam/sdks/v2/go/pkg/beam"

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
)

var (
	readCounter        = beam.NewCounter(Namespace, CountRead)
	rowsReadCounter    = beam.NewCounter(Namespace, CountRows)
	skippedCounter     = beam.NewCounter(Namespace, CountSkipped)
	undecodableCounter = beam.NewCounter(Namespace, CountUndecodable)
	filteredCounter    = beam.NewCounter(Namespace, CountFiltered)
	rowsWrittenCounter = beam.NewCounter(Namespace, CountWritten)
)
