// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// The delimiters unless others are set.
const (
	DefaultFieldDelimiter = "\x01"
	DefaultLineDelimiter  = "\n"
)

// delimited is lines of fields. An empty line is no row. An empty field is the
// empty string in a column of text or binary, and NULL in all others. NULL is
// written as an empty field. In a table of one column the line is the value,
// delimiters and all.
type delimited struct {
	textColumns
	charset charset
	field   string
	line    string
	// fieldBytes and lineBytes are the same again.
	fieldBytes, lineBytes []byte
}

func newDelimited(c Config, columns sqltype.Schema, zone *time.Location) (Format, error) {
	text, err := newTextColumns(Delimited, columns, zone, cmp.Or(c.LengthCheck, CheckNone))
	if err != nil {
		return nil, err
	}
	d := &delimited{textColumns: text, field: cmp.Or(c.FieldDelimiter, DefaultFieldDelimiter), line: cmp.Or(c.LineDelimiter, DefaultLineDelimiter)}
	d.fieldBytes, d.lineBytes = []byte(d.field), []byte(d.line)
	if d.charset, err = newCharset(c.Charset); err != nil {
		return nil, err
	}
	for _, delimiter := range []string{d.field, d.line} {
		if _, err := d.charset.bytes([]byte(delimiter)); err != nil || !utf8.ValidString(delimiter) {
			return nil, fmt.Errorf("delimiter %q cannot be written in %s", delimiter, d.charset.name)
		}
	}
	if strings.Contains(d.field, d.line) || strings.Contains(d.line, d.field) {
		return nil, fmt.Errorf("field delimiter %q and line delimiter %q: one holds the other, so that lines cannot be told from fields", d.field, d.line)
	}
	return d, nil
}

// Decode implements [Format].
func (d *delimited) Decode(body []byte) (out Result) {
	text, err := d.charset.text(body)
	if err != nil {
		out.Faults = append(out.Faults, rowFault(Delimited, 1, "", err))
		return out
	}
	number := 0
	for line := range strings.SplitSeq(text, d.line) {
		number++
		if line == "" {
			continue
		}
		d.decodeLine(number, line, &out)
	}
	return out
}

func (d *delimited) decodeLine(number int, line string, out *Result) {
	if len(d.columns) > 1 {
		skip, err := d.judge(strings.Count(line, d.field) + 1)
		if err != nil {
			out.Faults = append(out.Faults, rowFault(Delimited, number, line, err))
			return
		}
		if skip {
			out.Skipped++
			return
		}
	}
	row, fault := d.row(number, d.fields(line))
	if fault != nil {
		out.Faults = append(out.Faults, fault)
		return
	}
	out.Rows = append(out.Rows, row)
}

func (d *delimited) fields(line string) func() (field, bool) {
	rest, more := line, true
	return func() (field, bool) {
		if !more {
			return field{}, false
		}
		if len(d.columns) == 1 {
			more = false
			return field{text: rest}, true
		}
		var text string
		text, rest, more = strings.Cut(rest, d.field)
		return field{text: text}, true
	}
}

// Encode implements [Format].
func (d *delimited) Encode(row []any) ([]byte, error) {
	if err := checkRow(Delimited, d.columns, row); err != nil {
		return nil, err
	}
	line := make([]byte, 0, roomFor(row, len(d.field)))
	var room [32]int
	ends := append(room[:0], make([]int, len(row))...)
	for i, v := range row {
		if i > 0 {
			line = append(line, d.field...)
		}
		if v != nil {
			var err error
			if line, err = d.appendValue(line, i, v); err != nil {
				return nil, err
			}
		}
		ends[i] = len(line)
	}
	if err := d.checkLine(line, ends); err != nil {
		return nil, err
	}
	body, err := d.charset.bytes(line)
	if err != nil {
		return nil, &EncodeError{Format: Delimited, Err: err}
	}
	return body, nil
}

// roomFor is about what the values need as text.
func roomFor(row []any, delimiter int) int {
	n := 0
	for _, v := range row {
		n += delimiter
		switch x := v.(type) {
		case nil:
		case string:
			n += len(x)
		case []byte:
			n += len(x)
		default:
			n += 20 // the longest integer
		}
	}
	return n
}

// checkLine makes sure that the line is read back as it is meant: splits are
// where they belong. A delimiter of several characters may also arise where a
// value meets one.
func (d *delimited) checkLine(line []byte, ends []int) error {
	if len(line) == 0 {
		return &EncodeError{Format: Delimited, Err: ErrEmpty}
	}
	at := 0
	for i, end := range ends {
		column := d.columns[i]
		if bytes.Contains(line[at:end], d.lineBytes) {
			return encodeFault(Delimited, column, fmt.Errorf("%w: %q", ErrDelimiter, d.line))
		}
		if len(ends) > 1 && i < len(ends)-1 && bytes.Index(line[at:], d.fieldBytes) != end-at || i == len(ends)-1 && len(ends) > 1 && bytes.Contains(line[at:], d.fieldBytes) {
			return encodeFault(Delimited, column, fmt.Errorf("%w: %q", ErrDelimiter, d.field))
		}
		at = end + len(d.field)
	}
	if bytes.Contains(line, d.lineBytes) {
		return &EncodeError{Format: Delimited, Err: errors.Join(ErrDelimiter, fmt.Errorf("a value and a delimiter make the line delimiter %q", d.line))}
	}
	return nil
}
