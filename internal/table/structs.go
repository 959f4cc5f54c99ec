// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"context"
	"fmt"
	"reflect"

	"github.com/rocketmq-beam/rocketmq-beam/internal/connector"
	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// RowType is the struct of a table's rows: the one given, once it was checked, or
// one made of the columns for nil.
func (d *Declared) RowType(row reflect.Type) (reflect.Type, error) {
	if row == nil {
		return RowType(d.Columns)
	}
	_, err := Bind(row, d.Columns)
	return row, err
}

// Writable checks a struct whose values are to be written.
func (d *Declared) Writable(row reflect.Type) (*Binding, error) {
	columns, _ := d.Columns.Writable()
	return Bind(row, columns)
}

// StructReader makes Beam rows of messages. It is for one goroutine.
type StructReader struct {
	*Reader
	binding *Binding
}

// StructReader makes the reader of a table whose rows are structs of a type, or
// for nil of one made of the columns.
func (s *Side) StructReader(row reflect.Type) (*StructReader, error) {
	r, err := s.Reader()
	if err == nil && row == nil {
		row, err = RowType(r.columns)
	}
	if err != nil {
		return nil, err
	}
	b, err := Bind(row, r.columns)
	return &StructReader{r, b}, err
}

// ReadStructs gives the Beam rows of a message to yield, see [Reader.Read].
func (r *StructReader) ReadStructs(ctx context.Context, body []byte, e *connector.Envelope, yield func(row any)) error {
	return r.Read(ctx, body, e, func(row []any) error {
		yield(r.binding.Struct(row))
		return nil
	})
}

// StructWriter makes messages of Beam rows. It is for one goroutine.
type StructWriter struct {
	*Writer
	binding  *Binding
	writable sqltype.Schema
	at       []int // positions of these in all columns
}

// StructWriter makes the writer of a table whose rows are structs.
func (s *Side) StructWriter() (*StructWriter, error) {
	w, err := s.Writer()
	if err != nil {
		return nil, err
	}
	out := &StructWriter{Writer: w}
	out.writable, out.at = w.columns.Writable()
	return out, nil
}

// WriteStruct makes the message of a Beam row.
func (w *StructWriter) WriteStruct(ctx context.Context, s any) (Message, error) {
	if t := reflect.TypeOf(s); w.binding == nil || w.binding.row != t {
		var err error
		if w.binding, err = Bind(t, w.writable); err != nil {
			return Message{}, fmt.Errorf("table %s: %w", w.table, err)
		}
	}
	values, err := w.binding.Row(s, w.writable)
	if err != nil {
		return Message{}, fmt.Errorf("table %s: %w", w.table, err)
	}
	row := make([]any, len(w.columns))
	for i, at := range w.at {
		row[at] = values[i]
	}
	return w.Write(ctx, row)
}
