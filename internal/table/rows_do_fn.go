// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// RowsSource is for DoFns that make Beam rows of messages. It travels in the
// graph.
type RowsSource struct {
	Side Side
	Row  *beam.EncodedType // nil for a struct made of the columns

	reader *StructReader
}

// RowsSourceOf is one for rows of a type, or for nil of one made of the columns.
// The latter is made of them again on the worker: Beam's encoding of types has no
// maps.
func RowsSourceOf(side Side, row reflect.Type) RowsSource {
	if row == nil {
		return RowsSource{Side: side}
	}
	return RowsSource{Side: side, Row: &beam.EncodedType{T: row}}
}

// Setup makes the reader of the table.
func (r *RowsSource) Setup() (err error) {
	var row reflect.Type
	if r.Row != nil {
		row = r.Row.T
	}
	r.reader, err = r.Side.StructReader(row)
	return err
}

// Reader is there after Setup.
func (r *RowsSource) Reader() *StructReader { return r.reader }

// RowsSink is for DoFns that make messages of Beam rows. It travels in the graph.
type RowsSink struct {
	Side Side

	writer *StructWriter
}

// Setup makes the writer of the table.
func (w *RowsSink) Setup() (err error) {
	w.writer, err = w.Side.StructWriter()
	return err
}

// Writer is there after Setup.
func (w *RowsSink) Writer() *StructWriter { return w.writer }
