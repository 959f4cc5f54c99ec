// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltype

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"
)

func TestCasts(t *testing.T) {
	noon := time.Date(2024, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		what     string
		from, to Type
		v, want  any
		err      error
	}{
		{"a fraction is cut off", Of(Double), Of(Int), -1.9, int32(-1), nil},
		{"a double beyond BIGINT", Of(Double), Of(BigInt), 9.3e18, nil, ErrRange},
		{"a double that only just is beyond BIGINT", Of(Double), Of(BigInt), 0x1p63, nil, ErrRange},
		{"not-a-number is no INT", Of(Double), Of(Int), math.NaN(), nil, ErrRange},
		{"not-a-number is no DECIMAL", Of(Double), DecimalOf(5, 2), math.NaN(), nil, ErrRange},
		{"a double that is no FLOAT", Of(Double), Of(Float), 1e300, nil, ErrRange},
		{"an INT that is no TINYINT", Of(Int), Of(TinyInt), int32(200), nil, ErrRange},
		{"an INT as DECIMAL", Of(Int), DecimalOf(5, 2), int32(999), decimal.NewFromInt(999), nil},
		{"an INT with too many digits for DECIMAL", Of(Int), DecimalOf(5, 2), int32(1000), nil, ErrRange},
		{"a DECIMAL is rounded", DecimalOf(5, 3), DecimalOf(5, 2), decimal.RequireFromString("1.005"), decimal.RequireFromString("1.01"), nil},
		{"a DECIMAL as BIGINT", DecimalOf(38, 1), Of(BigInt), decimal.RequireFromString("-7.9"), int64(-7), nil},
		{"a DECIMAL that is no BIGINT", DecimalOf(38, 0), Of(BigInt), decimal.RequireFromString("9223372036854775808"), nil, ErrRange},
		{"text as a number", Of(Varchar), Of(BigInt), " 7", int64(7), nil},
		{"text that is no number", Of(Varchar), Of(BigInt), "seven", nil, ErrSyntax},
		{"text is cut to the length", Of(Varchar), named(t, "VARCHAR", 2), "é🚀!", "é🚀", nil},
		{"bytes are cut to the length", Of(Varbinary), named(t, "BINARY", 1), []byte("ab"), []byte("a"), nil},
		{"bytes as text", Of(Varbinary), Of(Varchar), []byte("é"), "é", nil},
		{"bytes that are no text", Of(Varbinary), Of(Varchar), []byte{0xff}, nil, ErrSyntax},
		{"a boolean as a number", Of(Boolean), Of(Int), true, int32(1), nil},
		{"a number as a boolean", Of(Int), Of(Boolean), int32(2), true, nil},
		{"an instant as a clock", named(t, "TIMESTAMP_LTZ", 3), named(t, "TIMESTAMP", 0), noon, noon.Add(8 * time.Hour), nil},
		{"a clock as an instant", named(t, "TIMESTAMP", 3), named(t, "TIMESTAMP_LTZ", 3), noon, noon.Add(-8 * time.Hour), nil},
		{"an instant as the zone's day", named(t, "TIMESTAMP_LTZ", 3), Of(Date), noon.Add(5 * time.Hour), noon.Add(12 * time.Hour), nil},
		{"a clock as a time of day", named(t, "TIMESTAMP", 3), Of(Time), noon, 12 * time.Hour, nil},
		{"an instant as text in the zone", named(t, "TIMESTAMP_LTZ", 0), Of(Varchar), noon, "2024-01-02 20:00:00", nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			cast, err := CasterOf(c.from, c.to, shanghai(t))
			if err != nil {
				t.Fatal(err)
			}
			got, err := cast(c.v)
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if err == nil && !cmp.Equal(got, c.want, equalDecimals) {
				t.Errorf("got %#v, want %#v", got, c.want)
			}
		})
	}
}

func TestCastsThatAreNone(t *testing.T) {
	for _, c := range []struct{ from, to Type }{
		{Of(Boolean), Of(Date)}, {Of(Int), Of(Timestamp)}, {Of(Time), Of(Date)}, {Of(Date), Of(Time)}, {ArrayOf(Of(Int)), Of(Varchar)}, {Of(Double), Of(Boolean)},
	} {
		if _, err := CasterOf(c.from, c.to, time.UTC); err == nil {
			t.Errorf("%s as %s is taken", c.from, c.to)
		}
	}
}

// scalars are types with a value of each, for properties that hold for all.
func scalars(t testing.TB) map[string]Type {
	return map[string]Type{
		"TINYINT": Of(TinyInt), "INT": Of(Int), "BIGINT": Of(BigInt), "FLOAT": Of(Float), "DOUBLE": Of(Double), "DECIMAL(20,5)": DecimalOf(20, 5),
		"STRING": Of(Varchar), "BYTES": Of(Varbinary), "DATE": Of(Date), "TIME": Of(Time), "TIMESTAMP(3)": named(t, "TIMESTAMP", 3), "BOOLEAN": Of(Boolean),
	}
}

// What goes without a CAST can be cast, and two types have the same common type
// whichever comes first.
func TestImplicitCastsAreCastsAndCommonTypesHaveNoOrder(t *testing.T) {
	for _, a := range scalars(t) {
		for _, b := range scalars(t) {
			if Implicit(a, b) {
				if _, err := CasterOf(a, b, time.UTC); err != nil {
					t.Errorf("%s goes to %s without a CAST, and there is none: %v", a, b, err)
				}
			}
			x, okX := Common(a, b)
			y, okY := Common(b, a)
			if okX != okY || okX && !x.Same(y) {
				t.Errorf("common type of %s and %s: %s %v, the other way round %s %v", a, b, x, okX, y, okY)
			}
		}
	}
}

func TestDecimalResultsFitTheirTypes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := func(name string) Type {
			p := rapid.IntRange(1, maxPrecision).Draw(t, name+" precision")
			return DecimalOf(p, rapid.IntRange(0, p).Draw(t, name+" scale"))
		}
		a, b := typ("a"), typ("b")
		for _, operator := range []string{"+", "-", "*", "/", "%"} {
			r, ok := Arithmetic(operator, a, b)
			if !ok || r.Precision < 1 || r.Precision > maxPrecision || r.Scale < 0 || r.Scale > r.Precision {
				t.Fatalf("%s %s %s is %s", a, operator, b, r)
			}
		}
	})
}

func TestTypesOfArithmetic(t *testing.T) {
	for _, c := range []struct {
		a        Type
		operator string
		b        Type
		want     string
	}{
		{Of(Int), "/", Of(Int), "INT"},
		{Of(Int), "+", Of(BigInt), "BIGINT"},
		{Of(Int).Required(), "+", Of(BigInt).Required(), "BIGINT NOT NULL"},
		{Of(Float), "*", Of(Float), "FLOAT"},
		{Of(Float), "*", Of(Int), "DOUBLE"},
		{Of(Double), "+", DecimalOf(5, 2), "DOUBLE"},
		{DecimalOf(5, 2), "+", DecimalOf(4, 3), "DECIMAL(7, 3)"},
		{DecimalOf(5, 2), "*", DecimalOf(4, 3), "DECIMAL(9, 5)"},
		{DecimalOf(10, 2), "+", Of(Int), "DECIMAL(13, 2)"},
		{DecimalOf(38, 10), "*", DecimalOf(38, 10), "DECIMAL(38, 6)"},
		{Type{}, "+", Of(Int), "INT"},
	} {
		got, ok := Arithmetic(c.operator, c.a, c.b)
		if !ok || got.String() != c.want {
			t.Errorf("%s %s %s: got %s, %v, want %s", c.a, c.operator, c.b, got, ok, c.want)
		}
	}
	if _, ok := Arithmetic("+", Of(Varchar), Of(Int)); ok {
		t.Error("text is added")
	}
}

func TestNamesOfTypes(t *testing.T) {
	for _, c := range []struct {
		name string
		args []int
		want string
	}{
		{"integer", nil, "INT"}, {"varbinary", nil, "BYTES"}, {"varchar", []int{10}, "VARCHAR(10)"}, {"string", nil, "STRING"},
		{"numeric", []int{5}, "DECIMAL(5, 0)"}, {"decimal", nil, "DECIMAL(10, 0)"}, {"timestamp with local time zone", []int{3}, "TIMESTAMP_LTZ(3)"},
		{"timestamp", nil, "TIMESTAMP(6)"}, {"double precision", nil, "DOUBLE"},
	} {
		if got, err := Named(c.name, c.args...); err != nil || got.String() != c.want {
			t.Errorf("%s%v: got %s, %v, want %s", c.name, c.args, got, err, c.want)
		}
	}
	for _, c := range []struct {
		name string
		args []int
	}{{"row", nil}, {"text", nil}, {"int", []int{4}}, {"decimal", []int{39}}, {"decimal", []int{5, 6}}, {"timestamp", []int{10}}, {"varchar", []int{0}}, {"string", []int{5}}} {
		if got, err := Named(c.name, c.args...); err == nil {
			t.Errorf("%s%v is taken as %s", c.name, c.args, got)
		}
	}
}
