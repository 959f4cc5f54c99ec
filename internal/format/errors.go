// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// The reasons of a [DecodeError] or an [EncodeError] beside those of package
// sqltype; use errors.Is.
var (
	// ErrFieldCount: a line has more or fewer fields than the table has columns.
	ErrFieldCount = errors.New("wrong number of fields")
	// ErrMissingField: an object lacks a column.
	ErrMissingField = errors.New("missing field")
	// ErrNull: a column that is NOT NULL has no value.
	ErrNull = errors.New("NULL in a column that is NOT NULL")
	// ErrCharset: bytes that are no text in the encoding, or text that the
	// encoding cannot write.
	ErrCharset = errors.New("wrong encoding")
	// ErrStructure: the body as a whole is not written in the format.
	ErrStructure = errors.New("malformed body")
	// ErrDelimiter: a value holds a delimiter, so that it would be read back as
	// two.
	ErrDelimiter = errors.New("value holds a delimiter")
	// ErrEmpty: the row would be an empty line, which is not read back.
	ErrEmpty = errors.New("row is written as an empty line")
)

// DecodeError is one row that could not be read.
type DecodeError struct {
	Format Kind
	// Line counts from 1: lines of text, records of CSV, objects of JSON.
	Line int
	// Column is empty if the row as a whole is at fault; Type is then the zero
	// value.
	Column string
	Type   sqltype.Type
	// Value is the text at fault, shortened.
	Value string
	Err   error
}

// Error names line, column, type and value.
func (e *DecodeError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s body, line %d", e.Format, e.Line)
	if e.Column != "" {
		fmt.Fprintf(&b, ", column %s %s", sqltype.Quote(e.Column), e.Type)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	if e.Value != "" {
		fmt.Fprintf(&b, ": %q", e.Value)
	}
	return b.String()
}

// Unwrap gives the reason.
func (e *DecodeError) Unwrap() error { return e.Err }

// EncodeError is a row that cannot be written.
type EncodeError struct {
	Format Kind
	// Column is empty if the row as a whole is at fault.
	Column string
	Type   sqltype.Type
	Err    error
}

// Error names column and type.
func (e *EncodeError) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("%s body: %v", e.Format, e.Err)
	}
	return fmt.Sprintf("%s body, column %s %s: %v", e.Format, sqltype.Quote(e.Column), e.Type, e.Err)
}

// Unwrap gives the reason.
func (e *EncodeError) Unwrap() error { return e.Err }

func rowFault(kind Kind, line int, value string, err error) *DecodeError {
	return &DecodeError{Format: kind, Line: line, Value: sqltype.Shorten(value), Err: err}
}

func columnFault(kind Kind, line int, c sqltype.Column, value string, err error) *DecodeError {
	return &DecodeError{Format: kind, Line: line, Column: c.Name, Type: c.Type, Value: sqltype.Shorten(value), Err: err}
}

func encodeFault(kind Kind, c sqltype.Column, err error) *EncodeError {
	return &EncodeError{Format: kind, Column: c.Name, Type: c.Type, Err: err}
}
