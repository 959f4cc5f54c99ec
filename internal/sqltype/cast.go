// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltype

import (
	"bytes"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// Caster turns a value that is not NULL into one of another type.
type Caster func(v any) (any, error)

// CasterOf is what CAST(… AS to) does, or an error if there is no such CAST.
// Numbers that the new type cannot hold are out of range; fractions are cut off
// for whole numbers and rounded for DECIMAL; text and binary are cut to the
// length. zone is that of instants when they become clocks or text.
func CasterOf(from, to Type, zone *time.Location) (Caster, error) {
	f, t := from.Kind, to.Kind
	switch {
	case f == Null || from.Same(to):
		return keep, nil
	case f.IsNumeric() && t.IsNumeric():
		return numberCaster(to), nil
	case f == Boolean && t.IsInteger():
		return func(v any) (any, error) { return integerOf(t, map[bool]int64{true: 1}[v.(bool)]), nil }, nil
	case f.IsInteger() && t == Boolean:
		return func(v any) (any, error) { return ToInt(v) != 0, nil }, nil
	case f.IsTemporal() && t.IsTemporal():
		return temporalCaster(from, to, zone)
	case t.IsText() && f != Array && f != Map:
		return textCaster(from, to, zone), nil
	case f.IsBinary() && t.IsBinary():
		return func(v any) (any, error) { return cutBytes(v.([]byte), to.Length), nil }, nil
	case f.IsText() && t.IsBinary():
		return func(v any) (any, error) { return cutBytes([]byte(v.(string)), to.Length), nil }, nil
	case f.IsText() && t != Array && t != Map:
		return parseCaster(to, zone)
	}
	return nil, fmt.Errorf("there is no CAST from %s to %s", from.Optional(), to.Optional())
}

func keep(v any) (any, error) { return v, nil }

func parseCaster(to Type, zone *time.Location) (Caster, error) {
	parse, err := TextParser(to, zone)
	if err != nil {
		return nil, err
	}
	return func(v any) (any, error) {
		out, err := parse(v.(string))
		if err != nil {
			return nil, fmt.Errorf("%q as %s: %w", Shorten(v.(string)), to.root(), err)
		}
		return out, nil
	}, nil
}

func textCaster(from, to Type, zone *time.Location) Caster {
	if from.Kind.IsText() {
		return func(v any) (any, error) { return cutText(v.(string), to.Length), nil }
	}
	return func(v any) (any, error) {
		text, err := AppendText(nil, from, v, zone)
		if err == nil && !utf8.Valid(text) {
			err = fmt.Errorf("%w: binary that is not UTF-8 as text", ErrSyntax)
		}
		return cutText(string(text), to.Length), err
	}
}

func cutText(s string, length int) string {
	if len(s) <= length {
		return s
	}
	n := 0
	for i := range s {
		if n == length {
			return s[:i]
		}
		n++
	}
	return s
}

func cutBytes(b []byte, length int) []byte { return b[:min(len(b), length):min(len(b), length)] }

// ToInt is the value of an integer type.
func ToInt(v any) int64 {
	switch x := v.(type) {
	case int8:
		return int64(x)
	case int16:
		return int64(x)
	case int32:
		return int64(x)
	}
	return v.(int64)
}

func numberCaster(to Type) Caster {
	switch {
	case to.Kind.IsInteger():
		return func(v any) (any, error) { return toInteger(to, v) }
	case to.Kind == Float:
		return func(v any) (any, error) {
			f := ToFloat(v)
			if math.Abs(f) > math.MaxFloat32 && !math.IsInf(f, 0) {
				return nil, outOfRange(v, to)
			}
			return float32(f), nil
		}
	case to.Kind == Double:
		return func(v any) (any, error) { return ToFloat(v), nil }
	}
	return func(v any) (any, error) {
		d, err := anyDecimal(v, to)
		if err != nil {
			return nil, err
		}
		d, err = FitDecimal(to, d)
		if err != nil {
			return nil, outOfRange(v, to)
		}
		return d, nil
	}
}

func outOfRange(v any, to Type) error { return fmt.Errorf("%v: %w of %s", v, ErrRange, to.root()) }

// ToFloat is a number as DOUBLE.
func ToFloat(v any) float64 {
	switch x := v.(type) {
	case float64:
		return x
	case float32:
		return float64(x)
	case decimal.Decimal:
		return x.InexactFloat64()
	}
	return float64(ToInt(v))
}

func toInteger(to Type, v any) (any, error) {
	var n int64
	switch x := v.(type) {
	case float32, float64:
		f := math.Trunc(ToFloat(x))
		// The bound is the first float beyond the range; the largest int64 is none.
		if math.IsNaN(f) || f < -(1<<63) || f >= 1<<63 {
			return nil, outOfRange(v, to)
		}
		n = int64(f)
	case decimal.Decimal:
		whole := x.Truncate(0)
		if !whole.BigInt().IsInt64() {
			return nil, outOfRange(v, to)
		}
		n = whole.IntPart()
	default:
		n = ToInt(v)
	}
	return IntegerOf(to, n)
}

// IntegerOf is n as a value of an integer type, if it has room for it.
func IntegerOf(t Type, n int64) (any, error) {
	if high := n >> (integerBits[t.Kind] - 1); high != 0 && high != -1 {
		return nil, outOfRange(n, t)
	}
	return integerOf(t.Kind, n), nil
}

// ToDecimal is a number of an integer type or DECIMAL as DECIMAL.
func ToDecimal(v any) decimal.Decimal {
	if d, ok := v.(decimal.Decimal); ok {
		return d
	}
	return decimal.NewFromInt(ToInt(v))
}

// anyDecimal is a number as DECIMAL, with all of its digits.
func anyDecimal(v any, to Type) (decimal.Decimal, error) {
	switch x := v.(type) {
	case float32:
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return decimal.Decimal{}, outOfRange(v, to)
		}
		return decimal.NewFromFloat32(x), nil
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return decimal.Decimal{}, outOfRange(v, to)
		}
		return decimal.NewFromFloat(x), nil
	}
	return ToDecimal(v), nil
}

func temporalCaster(from, to Type, zone *time.Location) (Caster, error) {
	clock := keep // what from shows, as a TIMESTAMP
	if from.Kind == TimestampLTZ {
		clock = func(v any) (any, error) { return ClockIn(v.(time.Time), zone), nil }
	}
	with := func(f func(at time.Time) any) (Caster, error) {
		return func(v any) (any, error) {
			c, _ := clock(v)
			return f(c.(time.Time)), nil
		}, nil
	}
	step := fraction(to)
	switch {
	case from.Kind == Time && to.Kind == Time:
		return func(v any) (any, error) { return v.(time.Duration).Truncate(step), nil }, nil
	case from.Kind == Time || from.Kind == Date && to.Kind == Time:
		return nil, fmt.Errorf("there is no CAST from %s to %s", from.Optional(), to.Optional())
	case to.Kind == Date:
		return with(func(at time.Time) any { return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC) })
	case to.Kind == Time:
		return with(func(at time.Time) any { return sinceMidnight(at).Truncate(step) })
	case from.Kind == TimestampLTZ && to.Kind == TimestampLTZ:
		return func(v any) (any, error) { return v.(time.Time).Truncate(step), nil }, nil
	case to.Kind == TimestampLTZ:
		return with(func(at time.Time) any { return InstantOf(at, zone).Truncate(step) })
	}
	return with(func(at time.Time) any { return at.Truncate(step) })
}

// Shorten cuts a value for a message.
func Shorten(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", string(bytes.ToValidUTF8([]byte(s[:most]), nil)), len(s))
}

// Fits refuses a value that a column cannot hold, though its type goes there
// without a CAST: NULL in a NOT NULL column, and text or binary that is too
// long.
func Fits(t Type, v any) error {
	switch x := v.(type) {
	case nil:
		if t.NotNull {
			return fmt.Errorf("%w: NULL in a column that is NOT NULL", ErrRange)
		}
	case string:
		return CheckText(t, x)
	case []byte:
		return CheckBytes(t, len(x))
	}
	return nil
}
