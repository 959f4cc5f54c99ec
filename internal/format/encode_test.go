// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

func TestRowsThatCannotBeWritten(t *testing.T) {
	p := people(t)
	comma := Config{Kind: Delimited, FieldDelimiter: ","}
	one := sqltype.Schema{column(t, "s", "STRING")}
	f8 := sqltype.Schema{column(t, "f", "DOUBLE")}
	for _, c := range []struct {
		what    string
		config  Config
		columns sqltype.Schema
		row     []any
		want    error
		text    string
	}{
		{"too few values", comma, p, []any{int64(1)}, ErrFieldCount, "1 values, the table has 3 columns"},
		{"NULL in a column that is NOT NULL", comma, p, []any{nil, "x", nil}, ErrNull, "column `id` BIGINT NOT NULL"},
		{"a field delimiter in text", comma, p, []any{int64(1), "a,b", nil}, ErrDelimiter, "column `name` STRING"},
		{"a field delimiter in the last text", comma, sqltype.Schema{p[0], p[1]}, []any{int64(1), "a,b"}, ErrDelimiter, "column `name` STRING"},
		{"a line delimiter in text", comma, p, []any{int64(1), "a\nb", nil}, ErrDelimiter, "column `name` STRING"},
		{"a line delimiter in the only column", comma, one, []any{"a\nb"}, ErrDelimiter, "column `s` STRING"},
		{"a value that makes a delimiter with the one behind it", Config{Kind: Delimited, FieldDelimiter: "||"}, p, []any{int64(1), "a|", nil}, ErrDelimiter, "column `name`"},
		{"a value and a field delimiter that make a line delimiter", Config{Kind: Delimited, FieldDelimiter: ",-", LineDelimiter: "-x"}, p, []any{int64(1), "x", nil}, ErrDelimiter, "line delimiter"},
		{"a row that is an empty line", comma, one, []any{""}, ErrEmpty, "empty line"},
		{"text that GBK lacks", Config{Kind: Delimited, FieldDelimiter: ",", Charset: "GBK"}, p, []any{int64(1), "🚀", nil}, ErrCharset, "GBK cannot write"},
		{"CSV: text that GBK lacks", Config{Kind: CSV, Charset: "GBK"}, p, []any{int64(1), "🚀", nil}, ErrCharset, "GBK cannot write"},
		{"CSV: a row that is an empty line", Config{Kind: CSV}, one, []any{nil}, ErrEmpty, "empty line"},
		{"JSON: not-a-number", Config{Kind: JSON}, f8, []any{math.NaN()}, sqltype.ErrRange, "column `f` DOUBLE"},
		{"JSON: infinity", Config{Kind: JSON}, f8, []any{math.Inf(1)}, sqltype.ErrRange, "JSON number"},
		{"raw: NULL", Config{Kind: Raw}, one, []any{nil}, nil, "NULL has no bytes"},
		{"raw: a wrong value", Config{Kind: Raw}, one, []any{1}, nil, "a int is no value"},
		{"JSON: a wrong value", Config{Kind: JSON}, one, []any{struct{}{}}, nil, "is no value of STRING"},
	} {
		t.Run(c.what, func(t *testing.T) {
			body, err := format(t, c.config, c.columns).Encode(c.row)
			var fault *EncodeError
			if !errors.As(err, &fault) || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %q, %v, want %v with %q", body, err, c.want, c.text)
			}
		})
	}
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	p := people(t)
	list := sqltype.Schema{{Name: "l", Type: sqltype.ArrayOf(sqltype.Of(sqltype.Int))}}
	for _, c := range []struct {
		what    string
		config  Config
		columns sqltype.Schema
		text    string
	}{
		{"an unknown format", Config{Kind: "avro"}, p, "want delimited, csv, json, raw"},
		{"no column for the body", Config{Kind: JSON}, nil, "no column for the body"},
		{"an unknown encoding", Config{Kind: Delimited, Charset: "EBCDIC-XX"}, p, `encoding "EBCDIC-XX"`},
		{"an unknown zone", Config{Kind: Delimited, Zone: "Mars"}, p, `time zone "Mars"`},
		{"an unknown length check", Config{Kind: Delimited, LengthCheck: "MAYBE"}, p, `length check "MAYBE"`},
		{"the same delimiter for fields and lines", Config{Kind: Delimited, FieldDelimiter: "\n"}, p, "one holds the other"},
		{"a delimiter within the other", Config{Kind: Delimited, FieldDelimiter: "a\n"}, p, "one holds the other"},
		{"CSV with two characters", Config{Kind: CSV, FieldDelimiter: "||"}, p, "want one ASCII character"},
		{"CSV with the quote as delimiter", Config{Kind: CSV, FieldDelimiter: `"`}, p, "are both"},
		{"CSV with a null literal that cannot be read", Config{Kind: CSV, NullLiteral: "a,b"}, p, "holds a delimiter"},
		{"CSV with a null literal that is not UTF-8", Config{Kind: CSV, NullLiteral: "\x94"}, p, "cannot be written in UTF-8"},
		{"CSV with a null literal that the encoding lacks", Config{Kind: CSV, NullLiteral: "🚀", Charset: "GBK"}, p, "cannot be written in GBK"},
		{"a delimiter that is not UTF-8", Config{Kind: Delimited, FieldDelimiter: "\xff"}, p, "cannot be written in UTF-8"},
		{"a delimiter that the encoding lacks", Config{Kind: Delimited, LineDelimiter: "🚀", Charset: "GBK"}, p, "cannot be written in GBK"},
		{"JSON in another encoding", Config{Kind: JSON, Charset: "GBK"}, p, "UTF-8, not GBK"},
		{"JSON with unknown timestamps", Config{Kind: JSON, Timestamps: "RFC"}, p, `timestamp format "RFC"`},
		{"raw with several columns", Config{Kind: Raw}, p, "want one column"},
		{"raw with a number", Config{Kind: Raw}, sqltype.Schema{column(t, "i", "INT")}, "want one column"},
		{"a list in delimited text", Config{Kind: Delimited}, list, "format json has it"},
		{"a list in CSV", Config{Kind: CSV}, list, "format json has it"},
	} {
		if _, err := New(c.config, c.columns); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v, want %q", c.what, err, c.text)
		}
	}
}

// rowOf draws a row of the table wide.
func rowOf(t *rapid.T, columns sqltype.Schema) []any {
	row := make([]any, len(columns))
	for i, c := range columns {
		if rapid.IntRange(0, 5).Draw(t, "null") > 0 {
			row[i] = valueOf(t, c.Type)
		}
	}
	return row
}

func valueOf(t *rapid.T, typ sqltype.Type) any {
	at := time.UnixMilli(rapid.Int64Range(-62135596800000, 253402300799999).Draw(t, "at")).UTC()
	switch typ.Kind {
	case sqltype.Boolean:
		return rapid.Bool().Draw(t, "b")
	case sqltype.TinyInt:
		return rapid.Int8().Draw(t, "i1")
	case sqltype.SmallInt:
		return rapid.Int16().Draw(t, "i2")
	case sqltype.Int:
		return rapid.Int32().Draw(t, "i4")
	case sqltype.BigInt:
		return rapid.Int64().Draw(t, "i8")
	case sqltype.Float:
		return rapid.Float32().Draw(t, "f4")
	case sqltype.Double:
		return rapid.Float64().Draw(t, "f8")
	case sqltype.Decimal:
		return decimal.New(rapid.Int64Range(-9999999999, 9999999999).Draw(t, "dec"), -2)
	case sqltype.Varchar:
		return rapid.StringOfN(rapid.RuneFrom([]rune("ab,\"\r\n|\x01 é中🚀\\N")), 0, min(typ.Length, 8), -1).Draw(t, "s")
	case sqltype.Varbinary:
		return rapid.SliceOfN(rapid.ByteRange(0, 127), 0, 8).Draw(t, "x")
	case sqltype.Date:
		return at.Truncate(24 * time.Hour)
	case sqltype.Time:
		return time.Duration(rapid.Int64Range(0, 86399999).Draw(t, "t")) * time.Millisecond
	}
	return at
}

// What can be written is read back as it was; the formats that have no NULL for
// text read the empty string.
func TestWhatIsWrittenIsReadBack(t *testing.T) {
	columns := wide(t)
	for what, c := range map[string]Config{
		"delimited": {Kind: Delimited}, "delimited by commas": {Kind: Delimited, FieldDelimiter: ",", LineDelimiter: "\r\n"}, "delimited by bars": {Kind: Delimited, FieldDelimiter: "||"},
		"csv": {Kind: CSV}, "csv with a null literal": {Kind: CSV, NullLiteral: "\\N"}, "json": {Kind: JSON}, "json as ISO 8601": {Kind: JSON, Timestamps: StyleISO},
		"delimited in GB18030": {Kind: Delimited, Charset: "GB18030"},
	} {
		t.Run(what, func(t *testing.T) {
			f := format(t, c, columns)
			rapid.Check(t, func(t *rapid.T) {
				row := rowOf(t, columns)
				body, err := f.Encode(row)
				if errors.Is(err, ErrDelimiter) {
					return // another test says when
				}
				if err != nil {
					t.Fatalf("%v: %v", row, err)
				}
				got := f.Decode(body)
				if len(got.Rows) != 1 || len(got.Faults) > 0 || got.Skipped > 0 {
					t.Fatalf("%q: got %d rows, skipped %d, %v", body, len(got.Rows), got.Skipped, got.Faults)
				}
				if c.Kind != JSON && c.NullLiteral == "" {
					row = withoutNullText(columns, row)
				}
				if d := cmp.Diff(row, got.Rows[0], cmp.Comparer(decimal.Decimal.Equal)); d != "" {
					t.Fatalf("%q (-want +got):\n%s", body, d)
				}
			})
		})
	}
}

func withoutNullText(columns sqltype.Schema, row []any) []any {
	out := append([]any(nil), row...)
	for i, c := range columns {
		if out[i] == nil && c.Type.Kind.IsText() {
			out[i] = ""
		}
		if out[i] == nil && c.Type.Kind.IsBinary() {
			out[i] = []byte{}
		}
	}
	return out
}
