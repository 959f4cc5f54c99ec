// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rowtype

import (
	"encoding/binary"
	"io"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/coder"
)

const secondsADay = 24 * 60 * 60

// Date is a day, counted from 1970-01-01.
type Date int64

// DateOf is the day of t in its own zone.
func DateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date(floorDiv(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix(), secondsADay))
}

// Midnight is the beginning of the day in UTC.
func (d Date) Midnight() time.Time { return time.Unix(int64(d)*secondsADay, 0).UTC() }

// String is the day as in 2024-01-31.
func (d Date) String() string { return d.Midnight().Format(time.DateOnly) }

// Time is a time of day, in nanoseconds from midnight.
type Time int64

// Since is the time from midnight.
func (t Time) Since() time.Duration { return time.Duration(t) }

// String is the time as in 15:04:05.000000001, without needless zeros.
func (t Time) String() string {
	return time.Time{}.Add(time.Duration(t)).Format("15:04:05.999999999")
}

// DateTime is a day and a time of day without a zone.
type DateTime struct {
	Date Date
	Time Time
}

// DateTimeOf is what calendar and clock show at t in its own zone.
func DateTimeOf(t time.Time) DateTime {
	hour, minute, second := t.Clock()
	since := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second + time.Duration(t.Nanosecond())
	return DateTime{DateOf(t), Time(since)}
}

// UTC is the instant at which calendar and clock in UTC show it.
func (d DateTime) UTC() time.Time { return d.Date.Midnight().Add(d.Time.Since()) }

// String has a blank between day and time.
func (d DateTime) String() string { return d.Date.String() + " " + d.Time.String() }

// Instant is a point in time, to the millisecond.
type Instant struct{ time.Time }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func encodeDate(v any, w io.Writer) error { return coder.EncodeVarInt(int64(v.(Date)), w) }

func decodeDate(r io.Reader) (any, error) {
	n, err := coder.DecodeVarInt(r)
	return Date(n), err
}

func encodeTime(v any, w io.Writer) error { return coder.EncodeVarInt(int64(v.(Time)), w) }

func decodeTime(r io.Reader) (any, error) {
	n, err := coder.DecodeVarInt(r)
	return Time(n), err
}

// dateTimeRow is how Beam has a DateTime inside.
type dateTimeRow struct{ EpochDay, NanoOfDay int64 }

// A row of two fields, none of them null.
func encodeDateTime(v any, w io.Writer) error {
	d := v.(DateTime)
	for _, n := range []int64{2, 0, int64(d.Date), int64(d.Time)} {
		if err := coder.EncodeVarInt(n, w); err != nil {
			return err
		}
	}
	return nil
}

func decodeDateTime(r io.Reader) (any, error) {
	if _, _, err := coder.ReadRowHeader(r); err != nil {
		return nil, err
	}
	day, err := coder.DecodeVarInt(r)
	if err != nil {
		return nil, err
	}
	nanos, err := coder.DecodeVarInt(r)
	return DateTime{Date(day), Time(nanos)}, err
}

// bias makes instants sort as their bytes do.
const bias = 1 << 63

func encodeInstant(v any, w io.Writer) error {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(v.(Instant).UnixMilli())^bias)
	_, err := w.Write(b[:])
	return err
}

func decodeInstant(r io.Reader) (any, error) {
	var b [8]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return nil, err
	}
	return Instant{time.UnixMilli(int64(binary.BigEndian.Uint64(b[:]) ^ bias)).UTC()}, nil
}
