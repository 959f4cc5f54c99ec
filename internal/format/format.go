// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// Kind names a format.
type Kind string

// The formats.
const (
	// Delimited is text with delimiters between fields and between lines, without
	// quotes: what the connectors for Flink write.
	Delimited Kind = "delimited"
	// CSV is text as in RFC 4180.
	CSV Kind = "csv"
	// JSON is an object for each row, with the columns' names as keys.
	JSON Kind = "json"
	// Raw is the body as it is, in one column.
	Raw Kind = "raw"
)

// LengthCheck says what becomes of a line with more or fewer fields than the
// table has columns.
type LengthCheck string

// The length checks.
const (
	// CheckNone leaves out fields that are too many; a line with too few is
	// skipped.
	CheckNone LengthCheck = "NONE"
	// CheckSkip skips the line in both cases.
	CheckSkip LengthCheck = "SKIP"
	// CheckException makes a [DecodeError] of both cases.
	CheckException LengthCheck = "EXCEPTION"
	// CheckPad leaves out fields that are too many and fills in NULL for those
	// that are missing.
	CheckPad LengthCheck = "PAD"
)

// TimestampStyle is how JSON writes a TIMESTAMP; both are read always.
type TimestampStyle string

// The styles of timestamps.
const (
	// StyleSQL is 2020-12-12 12:13:14.123, with a Z behind an instant.
	StyleSQL TimestampStyle = "SQL"
	// StyleISO is 2020-12-12T12:13:14.123, likewise.
	StyleISO TimestampStyle = "ISO-8601"
)

// Config says which format and how. The zero value of a field stands for its
// default.
type Config struct {
	Kind Kind `json:"kind"`
	// Zone is the time zone of dates and times that name none; default UTC.
	Zone string `json:"zone,omitempty"`
	// Charset is the encoding of text by its IANA name; default UTF-8, which
	// JSON always has.
	Charset string `json:"charset,omitempty"`
	// FieldDelimiter stands between fields; default U+0001, and a comma for CSV,
	// which takes one character.
	FieldDelimiter string `json:"field_delimiter,omitempty"`
	// LineDelimiter stands between the lines of delimited text; default a line
	// feed.
	LineDelimiter string `json:"line_delimiter,omitempty"`
	// LengthCheck is for delimited text, default [CheckNone], and for CSV,
	// default [CheckException].
	LengthCheck LengthCheck `json:"length_check,omitempty"`
	// Quote is the character around the fields of CSV that need it; default ".
	Quote string `json:"quote,omitempty"`
	// NullLiteral stands for NULL in CSV. Default: an empty field without quotes
	// is NULL, in text columns it is the empty string.
	NullLiteral string `json:"null_literal,omitempty"`
	// FailOnMissingField makes a [DecodeError] of a JSON object that lacks a
	// column; by default that column is NULL.
	FailOnMissingField bool `json:"fail_on_missing_field,omitempty"`
	// Timestamps is how JSON writes timestamps; default [StyleSQL].
	Timestamps TimestampStyle `json:"timestamps,omitempty"`
}

// Format reads and writes the body columns of one table. It is safe for use by
// several goroutines.
type Format interface {
	// Decode reads the rows of a body. Rows may share memory with the body,
	// which must not change any more.
	Decode(body []byte) Result
	// Encode writes a row as a body. Its error is an *[EncodeError].
	Encode(row []any) ([]byte, error)
}

// Result is what a body held.
type Result struct {
	// Rows have a value for each body column.
	Rows [][]any
	// Skipped counts the lines that the length check left out.
	Skipped int
	// Faults are the rows that could not be read.
	Faults []*DecodeError
}

// New makes the format for the body columns of a table. It refuses types that
// the format does not have.
func New(c Config, columns sqltype.Schema) (Format, error) {
	if len(columns) == 0 {
		return nil, fmt.Errorf("format %s: the table has no column for the body, only metadata", c.Kind)
	}
	zone, err := sqltype.LoadZone(c.Zone)
	if err != nil {
		return nil, err
	}
	switch c.Kind {
	case Delimited:
		return newDelimited(c, columns, zone)
	case CSV:
		return newCSV(c, columns, zone)
	case JSON:
		return newJSON(c, columns, zone)
	case Raw:
		return newRaw(c, columns)
	}
	return nil, fmt.Errorf("format %q: want %s", c.Kind, strings.Join(Kinds(), ", "))
}

// Kinds is the names of all formats.
func Kinds() []string { return []string{string(Delimited), string(CSV), string(JSON), string(Raw)} }

// Checks is the names of all length checks.
func Checks() []string {
	return []string{string(CheckNone), string(CheckSkip), string(CheckException), string(CheckPad)}
}

func (c LengthCheck) valid() error {
	if !slices.Contains(Checks(), string(c)) {
		return fmt.Errorf("length check %q: want %s", c, strings.Join(Checks(), ", "))
	}
	return nil
}
