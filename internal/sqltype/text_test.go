// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltype

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
)

func shanghai(t testing.TB) *time.Location {
	t.Helper()
	zone, err := LoadZone("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func named(t testing.TB, name string, args ...int) Type {
	t.Helper()
	typ, err := Named(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

var equalDecimals = cmp.Comparer(func(a, b decimal.Decimal) bool { return a.Equal(b) })

func TestTextAsValues(t *testing.T) {
	utc := func(s string) time.Time {
		at, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, c := range []struct {
		what string
		typ  Type
		text string
		want any
		err  error
	}{
		{"a boolean in any case", Of(Boolean), "TRUE", true, nil},
		{"a boolean as a digit", Of(Boolean), "0", false, nil},
		{"no boolean", Of(Boolean), "yes", nil, ErrSyntax},
		{"blanks around a number", Of(Int), " 42 ", int32(42), nil},
		{"the smallest TINYINT", Of(TinyInt), "-128", int8(-128), nil},
		{"too large for TINYINT", Of(TinyInt), "128", nil, ErrRange},
		{"too large for SMALLINT", Of(SmallInt), "-32769", nil, ErrRange},
		{"too large for INT", Of(Int), "2147483648", nil, ErrRange},
		{"the largest BIGINT", Of(BigInt), "9223372036854775807", int64(math.MaxInt64), nil},
		{"too large for BIGINT", Of(BigInt), "9223372036854775808", nil, ErrRange},
		{"a fraction is no INT", Of(Int), "1.0", nil, ErrSyntax},
		{"nothing is no INT", Of(Int), "", nil, ErrSyntax},
		{"a double with exponent", Of(Double), "-1.5e300", -1.5e300, nil},
		{"too large for DOUBLE", Of(Double), "1e309", nil, ErrRange},
		{"too large for FLOAT", Of(Float), "1e39", nil, ErrRange},
		{"infinity as Java writes it", Of(Double), "-Infinity", math.Inf(-1), nil},
		{"no hexadecimal numbers", Of(Double), "0x1p4", nil, ErrSyntax},
		{"a decimal", DecimalOf(10, 2), "12345678.90", decimal.RequireFromString("12345678.9"), nil},
		{"a decimal is rounded half up", DecimalOf(10, 2), "-0.005", decimal.RequireFromString("-0.01"), nil},
		{"a decimal with too many digits", DecimalOf(4, 2), "100", nil, ErrRange},
		{"a decimal that rounding makes too large", DecimalOf(3, 1), "99.96", nil, ErrRange},
		{"a decimal with all 38 digits", DecimalOf(38, 0), strings.Repeat("9", 38), decimal.RequireFromString(strings.Repeat("9", 38)), nil},
		{"a decimal with a large exponent", DecimalOf(38, 0), "1e5000", nil, ErrRange},
		{"a decimal with a hostile exponent", DecimalOf(38, 0), "1e999999999", nil, ErrSyntax},
		{"a decimal with a hostile negative exponent", DecimalOf(38, 0), "1e-999999999", nil, ErrSyntax},
		{"no decimal", DecimalOf(38, 0), "1,5", nil, ErrSyntax},
		{"blanks count in text", Of(Varchar), " é🚀 ", " é🚀 ", nil},
		{"characters count, not bytes", named(t, "VARCHAR", 2), "é🚀", "é🚀", nil},
		{"text that is too long", named(t, "VARCHAR", 2), "é🚀!", nil, ErrRange},
		{"text that is not UTF-8", Of(Varchar), "\xff", nil, ErrSyntax},
		{"bytes", Of(Varbinary), "\xff\x00", []byte{0xff, 0}, nil},
		{"bytes that are too many", named(t, "VARBINARY", 1), "ab", nil, ErrRange},
		{"a date", Of(Date), "2024-02-29", utc("2024-02-29T00:00:00Z"), nil},
		{"a day that is not there", Of(Date), "2023-02-29", nil, ErrSyntax},
		{"a time of day", Of(Time), "23:59:59.9", 23*time.Hour + 59*time.Minute + 59*time.Second, nil},
		{"milliseconds of a day", named(t, "TIME", 3), "1001", 1001 * time.Millisecond, nil},
		{"milliseconds of the next day", Of(Time), "86400000", nil, ErrRange},
		{"a timestamp keeps its digits", named(t, "TIMESTAMP", 3), "2024-01-02 03:04:05.6789", utc("2024-01-02T03:04:05.678Z"), nil},
		{"a timestamp with a T", named(t, "TIMESTAMP", 3), "2024-01-02T03:04:05", utc("2024-01-02T03:04:05Z"), nil},
		{"a timestamp as milliseconds is read off the zone's clock", named(t, "TIMESTAMP", 3), "0", utc("1970-01-01T08:00:00Z"), nil},
		{"a timestamp with a zone is none", named(t, "TIMESTAMP", 3), "2024-01-02 03:04:05Z", nil, ErrSyntax},
		{"an instant by the zone's clock", named(t, "TIMESTAMP_LTZ", 3), "2024-01-02 03:04:05", utc("2024-01-01T19:04:05Z"), nil},
		{"an instant with its own offset", named(t, "TIMESTAMP_LTZ", 3), "2024-01-02 03:04:05.25+01:00", utc("2024-01-02T02:04:05.25Z"), nil},
		{"an instant with Z", named(t, "TIMESTAMP_LTZ", 3), "2024-01-02T03:04:05Z", utc("2024-01-02T03:04:05Z"), nil},
		{"an instant as milliseconds", named(t, "TIMESTAMP_LTZ", 3), "1500", utc("1970-01-01T00:00:01.5Z"), nil},
		{"the year 0", Of(Date), "0000-01-01", nil, ErrRange},
		{"a clock that is in the year 10000 in the zone only", named(t, "TIMESTAMP", 3), "253402300799999", nil, ErrRange},
		{"the last second of the zone", named(t, "TIMESTAMP_LTZ", 0), "9999-12-31 23:59:59", utc("9999-12-31T15:59:59Z"), nil},
		{"an instant beyond the year 9999", named(t, "TIMESTAMP_LTZ", 3), "9223372036854775807", nil, ErrRange},
	} {
		t.Run(c.what, func(t *testing.T) {
			parse, err := TextParser(c.typ, shanghai(t))
			if err != nil {
				t.Fatal(err)
			}
			got, err := parse(c.text)
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if err == nil && !cmp.Equal(got, c.want, equalDecimals) {
				t.Errorf("got %#v, want %#v", got, c.want)
			}
		})
	}
}

func TestValuesAreWrittenSoThatTheyAreReadBack(t *testing.T) {
	zone := shanghai(t)
	for _, c := range []struct {
		typ  Type
		v    any
		want string
	}{
		{Of(Boolean), false, "false"},
		{Of(TinyInt), int8(-1), "-1"},
		{Of(Float), float32(0.1), "0.1"},
		{Of(Double), 1e300, "1e+300"},
		{Of(Double), math.Inf(1), "Infinity"},
		{Of(Double), 1234567890.125, "1234567890.125"},
		{DecimalOf(10, 3), decimal.RequireFromString("1.5"), "1.500"},
		{DecimalOf(38, 0), decimal.RequireFromString("-" + strings.Repeat("9", 38)), "-" + strings.Repeat("9", 38)},
		{Of(Varchar), "é\n", "é\n"},
		{Of(Varbinary), []byte{0, 0xff}, "\x00\xff"},
		{Of(Date), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), "0001-01-01"},
		{named(t, "TIME", 3), 1500 * time.Millisecond, "00:00:01.500"},
		{named(t, "TIMESTAMP", 0), time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC), "2024-01-02 03:04:05"},
		{named(t, "TIMESTAMP_LTZ", 9), time.Date(2024, 1, 2, 3, 4, 5, 1, time.UTC), "2024-01-02 11:04:05.000000001"},
	} {
		t.Run(c.typ.String()+" "+c.want, func(t *testing.T) {
			got, err := AppendText(nil, c.typ, c.v, zone)
			if err != nil || string(got) != c.want {
				t.Fatalf("got %q, %v, want %q", got, err, c.want)
			}
			parse, err := TextParser(c.typ, zone)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := parse(string(got)); err != nil || !cmp.Equal(back, c.v, equalDecimals) {
				t.Errorf("read back %#v, %v, want %#v", back, err, c.v)
			}
		})
	}
}

func TestYearsThatSQLCannotWrite(t *testing.T) {
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	lt := named(t, "TIMESTAMP_LTZ", 0)
	if got, err := AppendText(nil, lt, last, shanghai(t)); !errors.Is(err, ErrRange) {
		t.Errorf("in Shanghai: got %q, %v", got, err)
	}
	if got, err := AppendText(nil, lt, last, time.UTC); err != nil || string(got) != "9999-12-31 23:59:59" {
		t.Errorf("in UTC: got %q, %v", got, err)
	}
}

func TestZones(t *testing.T) {
	at := time.Date(2024, 7, 1, 0, 0, 0, 0, time.UTC)
	for name, want := range map[string]string{
		"": "00:00", "UTC": "00:00", "Asia/Shanghai": "08:00", "America/New_York": "20:00", "+08:00": "08:00", "GMT+8": "08:00",
		"UTC-03:30": "20:30", "GMT+08:00": "08:00",
	} {
		zone, err := LoadZone(name)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if got := at.In(zone).Format("15:04"); got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"Local", "local", "Mars/Olympus", "+25:00", "../etc/passwd"} {
		if _, err := LoadZone(name); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
}
