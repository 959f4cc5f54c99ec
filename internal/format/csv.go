// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// csvText is text as in RFC 4180. It is not read with encoding/csv, which
// changes line breaks within values and does not tell an empty field from a
// quoted empty string.
type csvText struct {
	textColumns
	charset     charset
	delimiter   byte
	quote       byte
	null        string
	nullLiteral bool
}

func newCSV(c Config, columns sqltype.Schema, zone *time.Location) (Format, error) {
	text, err := newTextColumns(CSV, columns, zone, cmp.Or(c.LengthCheck, CheckException))
	if err != nil {
		return nil, err
	}
	f := &csvText{textColumns: text, null: c.NullLiteral, nullLiteral: c.NullLiteral != ""}
	if f.charset, err = newCharset(c.Charset); err != nil {
		return nil, err
	}
	var faults [2]error
	f.delimiter, faults[0] = csvMark("field delimiter", cmp.Or(c.FieldDelimiter, ","))
	f.quote, faults[1] = csvMark("quote", cmp.Or(c.Quote, `"`))
	if err := errors.Join(faults[:]...); err != nil {
		return nil, err
	}
	if f.delimiter == f.quote {
		return nil, fmt.Errorf("CSV field delimiter and quote are both %q", f.quote)
	}
	if strings.ContainsAny(f.null, "\r\n"+string([]byte{f.delimiter, f.quote})) {
		return nil, fmt.Errorf("CSV null literal %q holds a delimiter", f.null)
	}
	if _, err := f.charset.bytes([]byte(f.null)); err != nil || !utf8.ValidString(f.null) {
		return nil, fmt.Errorf("CSV null literal %q cannot be written in %s", f.null, f.charset.name)
	}
	return f, nil
}

func csvMark(what, s string) (byte, error) {
	if len(s) != 1 || s[0] >= utf8.RuneSelf || s == "\r" || s == "\n" {
		return 0, fmt.Errorf("CSV %s %q: want one ASCII character that is no line break", what, s)
	}
	return s[0], nil
}

// Decode implements [Format].
func (f *csvText) Decode(body []byte) (out Result) {
	text, err := f.charset.text(body)
	if err != nil {
		out.Faults = append(out.Faults, rowFault(CSV, 1, "", err))
		return out
	}
	var fields []field
	for number := 1; text != ""; number++ {
		start := text
		if fields, text, err = f.record(text, fields[:0]); err != nil {
			// Where the next record begins cannot be known.
			out.Faults = append(out.Faults, rowFault(CSV, number, start, err))
			return out
		}
		if len(fields) == 1 && fields[0] == (field{}) {
			continue // an empty line
		}
		f.decodeRecord(number, start[:len(start)-len(text)], fields, &out)
	}
	return out
}

func (f *csvText) decodeRecord(number int, record string, fields []field, out *Result) {
	skip, err := f.judge(len(fields))
	if err != nil {
		out.Faults = append(out.Faults, rowFault(CSV, number, record, err))
		return
	}
	if skip {
		out.Skipped++
		return
	}
	i := 0
	row, fault := f.row(number, func() (field, bool) {
		if i++; i > len(fields) {
			return field{}, false
		}
		return fields[i-1], true
	})
	if fault != nil {
		out.Faults = append(out.Faults, fault)
		return
	}
	out.Rows = append(out.Rows, row)
}

// record cuts one record off the text.
func (f *csvText) record(text string, fields []field) (_ []field, rest string, err error) {
	for {
		var v field
		if strings.HasPrefix(text, string(f.quote)) {
			v.quoted = true
			if v.text, text, err = f.quoted(text[1:]); err != nil {
				return nil, "", err
			}
		} else {
			n := strings.IndexFunc(text, func(r rune) bool { return r == rune(f.delimiter) || r == '\n' })
			if n < 0 {
				n = len(text)
			}
			v.text, text = text[:n], text[n:]
			if text == "" || text[0] == '\n' {
				v.text = strings.TrimSuffix(v.text, "\r")
			}
			v.null = f.nullLiteral && v.text == f.null
		}
		fields = append(fields, v)
		switch {
		case text == "":
			return fields, "", nil
		case text[0] == '\n':
			return fields, text[1:], nil
		case strings.HasPrefix(text, "\r\n"):
			return fields, text[2:], nil
		case text[0] != f.delimiter:
			return nil, "", fmt.Errorf("%w: text behind the closing quote", ErrStructure)
		}
		text = text[1:]
	}
}

// quoted reads up to the closing quote; two quotes are one.
func (f *csvText) quoted(text string) (value, rest string, err error) {
	var b strings.Builder
	for {
		n := strings.IndexByte(text, f.quote)
		if n < 0 {
			return "", "", fmt.Errorf("%w: a quote is not closed", ErrStructure)
		}
		value, text = text[:n], text[n+1:]
		if !strings.HasPrefix(text, string(f.quote)) {
			if b.Len() == 0 {
				return value, text, nil
			}
			b.WriteString(value)
			return b.String(), text, nil
		}
		b.WriteString(value)
		b.WriteByte(f.quote)
		text = text[1:]
	}
}

// Encode implements [Format]. Text is quoted where it must be, and where it
// would be read as NULL.
func (f *csvText) Encode(row []any) ([]byte, error) {
	if err := checkRow(CSV, f.columns, row); err != nil {
		return nil, err
	}
	var line []byte
	for i, v := range row {
		if i > 0 {
			line = append(line, f.delimiter)
		}
		if v == nil {
			line = append(line, f.null...)
			continue
		}
		start := len(line)
		var err error
		if line, err = f.appendValue(line, i, v); err != nil {
			return nil, err
		}
		if value := string(line[start:]); f.mustQuote(value, len(row)) {
			line = f.appendQuoted(line[:start], value)
		}
	}
	if len(line) == 0 {
		return nil, &EncodeError{Format: CSV, Err: ErrEmpty}
	}
	body, err := f.charset.bytes(line)
	if err != nil {
		return nil, &EncodeError{Format: CSV, Err: err}
	}
	return body, nil
}

func (f *csvText) mustQuote(value string, fields int) bool {
	return value == "" && fields == 1 || f.nullLiteral && value == f.null ||
		strings.ContainsAny(value, "\r\n"+string([]byte{f.delimiter, f.quote}))
}

func (f *csvText) appendQuoted(dst []byte, value string) []byte {
	dst = append(dst, f.quote)
	for i := range len(value) {
		if value[i] == f.quote {
			dst = append(dst, f.quote)
		}
		dst = append(dst, value[i])
	}
	return append(dst, f.quote)
}
