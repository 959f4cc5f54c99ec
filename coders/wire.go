// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package coders

import (
	"errors"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// ErrMalformed is wrapped by the error for bytes that are no record of this
// package, or only part of one.
var ErrMalformed = errors.New("malformed record")

// ErrVersion is wrapped by the error for a record of a version that this code
// does not know. Read it with the release that wrote it, or a later one.
var ErrVersion = errors.New("unknown record version")

// recordVersion is raised when a reader of the former version would
// misunderstand a record; new fields alone do not need that.
const recordVersion = 1

// The field numbers that all records share.
const (
	recordVersionField protowire.Number = 1
	recordBody         protowire.Number = 14
	recordEnd          protowire.Number = 15
)

func appendVersion(buf []byte) []byte {
	buf = protowire.AppendTag(buf, recordVersionField, protowire.VarintType)
	return protowire.AppendVarint(buf, recordVersion)
}

func appendEnd(buf []byte) []byte {
	buf = protowire.AppendTag(buf, recordEnd, protowire.VarintType)
	return protowire.AppendVarint(buf, 1)
}

func appendText(buf []byte, n protowire.Number, s string) []byte {
	if s == "" {
		return buf
	}
	buf = protowire.AppendTag(buf, n, protowire.BytesType)
	return protowire.AppendString(buf, s)
}

func appendInt(buf []byte, n protowire.Number, v int64) []byte {
	if v == 0 {
		return buf
	}
	buf = protowire.AppendTag(buf, n, protowire.VarintType)
	return protowire.AppendVarint(buf, uint64(v))
}

// appendInstant writes the nearest instant that fits: when a message was made is
// whatever its producer says, and none may keep a pipeline from going on.
func appendInstant(buf []byte, n protowire.Number, t time.Time) []byte {
	switch {
	case t.IsZero():
		return buf
	case t.Before(firstInstant):
		t = firstInstant
	case t.After(lastInstant):
		t = lastInstant
	}
	buf = protowire.AppendTag(buf, n, protowire.Fixed64Type)
	return protowire.AppendFixed64(buf, uint64(t.UnixNano()))
}

// openNested begins a message inside a message, written in place behind one
// byte for its length; closeNested fills the length in and moves the message
// only if the length needs more bytes. at is where the length stands.
func openNested(buf []byte, n protowire.Number) (out []byte, at int) {
	buf = protowire.AppendTag(buf, n, protowire.BytesType)
	return append(buf, 0), len(buf)
}

func closeNested(buf []byte, at int) []byte {
	size := len(buf) - at - 1
	if extra := protowire.SizeVarint(uint64(size)) - 1; extra > 0 {
		buf = append(buf, make([]byte, extra)...)
		copy(buf[at+1+extra:], buf[at+1:at+1+size])
	}
	protowire.AppendVarint(buf[:at], uint64(size))
	return buf
}

func checkText(name, s string) error {
	if utf8.ValidString(s) {
		return nil
	}
	return fmt.Errorf("coders: %s is not valid UTF-8: %q", name, s)
}

// The instants that fit in nanoseconds since 1970: from 1677 to 2262.
var (
	firstInstant = time.Unix(0, math.MinInt64)
	lastInstant  = time.Unix(0, math.MaxInt64)
)

// textBeforeBody copies what stands before the body into one string, of which
// all text fields become parts: one allocation instead of one a field, and the
// body is not copied.
func textBeforeBody(data []byte) string {
	rest := data
	for len(rest) > 0 {
		number, kind, n := protowire.ConsumeTag(rest)
		if n < 0 || number == recordBody {
			break
		}
		size := protowire.ConsumeFieldValue(number, kind, rest[n:])
		if size < 0 {
			break
		}
		rest = rest[n+size:]
	}
	return string(data[:len(data)-len(rest)])
}

// decodeRecord reads a whole record. text is a copy of the beginning of data.
func decodeRecord(kind string, data []byte, text string, set func(field) error) error {
	var env envelope
	d := decoder{kind: kind, data: data, text: text}
	err := d.fields(func(f field) error {
		if handled, err := env.take(kind, f); handled || err != nil {
			return err
		}
		return set(f)
	})
	if err != nil {
		return err
	}
	return env.check(kind)
}

// decoder walks the fields of one message.
type decoder struct {
	kind string // for errors
	data []byte
	text string // a copy of the beginning of data, or nothing
}

// field is one field as it stands in the bytes; the asX methods give it its
// type, or an error if it has another.
type field struct {
	kind   string
	number protowire.Number
	wire   protowire.Type
	scalar uint64 // the value, if it is no bytes
	bytes  []byte // the value, if it is bytes
	text   string // a copy of bytes, if the decoder had one
}

func (d *decoder) fields(visit func(field) error) error {
	at := 0
	for at < len(d.data) {
		number, wire, n := protowire.ConsumeTag(d.data[at:])
		if n < 0 {
			return fmt.Errorf("coders: %s, byte %d: %w: %w", d.kind, at, ErrMalformed, protowire.ParseError(n))
		}
		f := field{kind: d.kind, number: number, wire: wire}
		size := f.consume(d.data[at+n:])
		if size < 0 {
			return fmt.Errorf("coders: %s, field %d at byte %d: %w: %w", d.kind, number, at, ErrMalformed, protowire.ParseError(size))
		}
		at += n + size
		if wire == protowire.BytesType && at <= len(d.text) {
			f.text = d.text[at-len(f.bytes) : at]
		}
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

func (f *field) consume(b []byte) (n int) {
	switch f.wire {
	case protowire.VarintType:
		f.scalar, n = protowire.ConsumeVarint(b)
	case protowire.Fixed64Type:
		f.scalar, n = protowire.ConsumeFixed64(b)
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(b)
	default: // a type that no known field has: skipped
		n = protowire.ConsumeFieldValue(f.number, f.wire, b)
	}
	return n
}

func (f field) is(wire protowire.Type) error {
	if f.wire == wire {
		return nil
	}
	return fmt.Errorf("coders: %s, field %d has wire type %d, not %d: %w", f.kind, f.number, f.wire, wire, ErrMalformed)
}

func (f field) asBytes() ([]byte, error) {
	if err := f.is(protowire.BytesType); err != nil {
		return nil, err
	}
	return f.bytes[:len(f.bytes):len(f.bytes)], nil // appending must not write into data
}

func (f field) asText() (string, error) {
	if err := f.is(protowire.BytesType); err != nil {
		return "", err
	}
	s := f.text
	if len(s) != len(f.bytes) {
		s = string(f.bytes)
	}
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("coders: %s, field %d is not valid UTF-8: %w", f.kind, f.number, ErrMalformed)
	}
	return s, nil
}

func (f field) asInt() (int64, error) {
	return int64(f.scalar), f.is(protowire.VarintType)
}

func (f field) asInt32() (int32, error) {
	v, err := f.asInt()
	if err == nil && (v < math.MinInt32 || v > math.MaxInt32) {
		err = fmt.Errorf("coders: %s, field %d is %d, more than 32 bits: %w", f.kind, f.number, v, ErrMalformed)
	}
	return int32(v), err
}

func (f field) asInstant() (time.Time, error) {
	if err := f.is(protowire.Fixed64Type); err != nil {
		return time.Time{}, err
	}
	return time.Unix(0, int64(f.scalar)).UTC(), nil
}

// nested visits the fields of a message inside a message.
func (f field) nested(kind string, visit func(field) error) error {
	if err := f.is(protowire.BytesType); err != nil {
		return err
	}
	d := decoder{kind: kind, data: f.bytes, text: f.text}
	return d.fields(visit)
}

// envelope is what stands around the fields of a whole record.
type envelope struct {
	version uint64
	end     bool
}

func (e *envelope) take(kind string, f field) (bool, error) {
	switch f.number {
	case recordVersionField:
		e.version = f.scalar
		return true, f.is(protowire.VarintType)
	case recordEnd:
		e.end = f.scalar == 1
		return true, f.is(protowire.VarintType)
	}
	if e.version != recordVersion {
		return true, e.check(kind) // foreign from its first field on
	}
	return false, nil
}

func (e *envelope) check(kind string) error {
	switch {
	case e.version == 0:
		return fmt.Errorf("coders: %s: no version at the front: %w", kind, ErrMalformed)
	case e.version != recordVersion:
		return fmt.Errorf("coders: %s has version %d, this release reads %d: %w", kind, e.version, recordVersion, ErrVersion)
	case !e.end:
		return fmt.Errorf("coders: %s is cut short: %w", kind, ErrMalformed)
	}
	return nil
}
