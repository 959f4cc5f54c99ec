// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// textColumns reads and writes the fields of a line, for the formats whose
// fields are text.
type textColumns struct {
	kind    Kind
	columns sqltype.Schema
	parsers []sqltype.Parser
	zone    *time.Location
	check   LengthCheck
}

func newTextColumns(kind Kind, columns sqltype.Schema, zone *time.Location, check LengthCheck) (textColumns, error) {
	c := textColumns{kind: kind, columns: columns, zone: zone, check: check}
	if err := check.valid(); err != nil {
		return textColumns{}, err
	}
	for _, column := range columns {
		parser, err := sqltype.TextParser(column.Type, zone)
		if err != nil {
			return textColumns{}, fmt.Errorf("format %s, column %s: %w; format json has it", kind, sqltype.Quote(column.Name), err)
		}
		c.parsers = append(c.parsers, parser)
	}
	return c, nil
}

// judge says what becomes of a line with n fields.
func (c *textColumns) judge(n int) (skip bool, err error) {
	want := len(c.columns)
	switch {
	case n == want, n > want && (c.check == CheckNone || c.check == CheckPad), n < want && c.check == CheckPad:
		return false, nil
	case c.check == CheckException:
		return false, fmt.Errorf("%w: %d, the table has %d columns", ErrFieldCount, n, want)
	}
	return true, nil
}

// field is one value of a line as text.
type field struct {
	text   string
	null   bool
	quoted bool
}

// row reads the fields that next gives until ok is false; missing ones are NULL.
func (c *textColumns) row(line int, next func() (f field, ok bool)) ([]any, *DecodeError) {
	row := make([]any, len(c.columns))
	for i, column := range c.columns {
		f, ok := next()
		if !ok || f.null || f.text == "" && !column.Type.Kind.IsText() && !column.Type.Kind.IsBinary() {
			if column.Type.NotNull {
				return nil, columnFault(c.kind, line, column, "", ErrNull)
			}
			continue
		}
		v, err := c.parsers[i](f.text)
		if err != nil {
			return nil, columnFault(c.kind, line, column, f.text, err)
		}
		row[i] = v
	}
	return row, nil
}

// appendValue writes a value that is not NULL.
func (c *textColumns) appendValue(dst []byte, i int, v any) ([]byte, error) {
	dst, err := sqltype.AppendText(dst, c.columns[i].Type, v, c.zone)
	if err != nil {
		return nil, encodeFault(c.kind, c.columns[i], err)
	}
	return dst, nil
}

// checkRow refuses rows that do not fit the columns.
func checkRow(kind Kind, columns sqltype.Schema, row []any) error {
	if len(row) != len(columns) {
		return &EncodeError{Format: kind, Err: fmt.Errorf("%w: %d values, the table has %d columns", ErrFieldCount, len(row), len(columns))}
	}
	for i, v := range row {
		if v == nil && columns[i].Type.NotNull {
			return encodeFault(kind, columns[i], ErrNull)
		}
	}
	return nil
}
