// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shopspring/decimal"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// checkDecode reads a body, whatever it is, and makes sure that each row that
// can be written is read back as it was.
func checkDecode(t *testing.T, f Format, columns sqltype.Schema, body []byte) {
	result := f.Decode(body)
	for _, row := range result.Rows {
		if len(row) != len(columns) {
			t.Fatalf("row of %d values, the table has %d columns", len(row), len(columns))
		}
		again, err := f.Encode(row)
		if err != nil {
			continue
		}
		back := f.Decode(again)
		if len(back.Rows) != 1 {
			t.Fatalf("%q is written as %q, which has %d rows: %v", body, again, len(back.Rows), back.Faults)
		}
		if _, ok := f.(*jsonObjects); !ok {
			row, back.Rows[0] = withoutNullText(columns, row), withoutNullText(columns, back.Rows[0])
		}
		if d := cmp.Diff(row, back.Rows[0], cmp.Comparer(decimal.Decimal.Equal), cmpopts.EquateNaNs()); d != "" {
			t.Fatalf("%q is written as %q (-want +got):\n%s", body, again, d)
		}
	}
	for _, fault := range result.Faults {
		if fault.Error() == "" || fault.Unwrap() == nil {
			t.Fatalf("a fault without a reason: %#v", fault)
		}
	}
}

func FuzzDelimited(f *testing.F) {
	columns := wide(f)
	for _, s := range []string{
		"", "\n", "true,-128,32767,7,-9,0.5,1e-9,123.456,text,abc,bytes,2024-02-29,01:02:03.5,2024-01-02 03:04:05.678,2024-01-02 03:04:05",
		",,,,,,,,,,,,,,", ",,,,,NaN,-Infinity,1e128,\U0001F680,\xff,,,1,1,1", "1\n2\n", ",,,,,,,,,,,,,,,,,,", ",,,,,,,,,,,,,253402300799999,-62135596800000,",
	} {
		for check := range Checks() {
			f.Add([]byte(s), uint8(check), false)
		}
		f.Add([]byte(s), uint8(0), true)
	}
	f.Fuzz(func(t *testing.T, body []byte, check uint8, gbk bool) {
		c := Config{Kind: Delimited, FieldDelimiter: ",", Zone: "Asia/Shanghai", LengthCheck: LengthCheck(Checks()[int(check)%len(Checks())])}
		if gbk {
			c.Charset = "GBK"
		}
		checkDecode(t, format(t, c, columns), columns, body)
	})
}

func FuzzCSV(f *testing.F) {
	columns := people(f)
	for _, s := range []string{"", "1,a,2", "1,\"a\"\"\r\n,\",2\r\n3,,", "\"", "1,\\N,\"\\N\"", "1,\"\",\"\"x", "\n\n", "\r\n1,a\r,3\r"} {
		f.Add([]byte(s), "", ",")
		f.Add([]byte(s), "\\N", ";")
	}
	f.Add([]byte("0,,"), "\x94", ",") // was taken, and rows with NULL could not be read back
	f.Fuzz(func(t *testing.T, body []byte, null, delimiter string) {
		csv, err := New(Config{Kind: CSV, NullLiteral: null, FieldDelimiter: delimiter}, columns)
		if err != nil {
			return
		}
		checkDecode(t, csv, columns, body)
	})
}

func FuzzJSON(f *testing.F) {
	columns := wide(f)
	columns = append(columns, sqltype.Column{Name: "list", Type: sqltype.ArrayOf(sqltype.Of(sqltype.Double))})
	for _, s := range []string{
		"", "null", "[]", "{}", "[{},null,[]]", " [ 1 , \"a\\\\\\\"]\" , {\"x\":[ ]} ] ", "{ \"\\u0062\" : true , \"list\" : [ 1 ] }", `{"b":true,"i1":-128,"i8":"9223372036854775807","f8":1e400,"dec":1e-200,"s":{"a":[1]},"v":1.50,"x":"AP8="}`,
		`{"ts":"2024-01-02T03:04:05","lt":1704135845678,"d":"2024-02-29","t":"23:59:59.999","list":[1,null,"2"]}`, "{\"s\":\"\xff\"}", `{"s":"\ud800"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if utf8.Valid(body) { // else it is refused before
			checkScan(t, body)
		}
		checkDecode(t, format(t, Config{Kind: JSON}, columns), columns, body)
	})
}

// checkScan compares what is cut out of JSON with what encoding/json finds.
func checkScan(t *testing.T, body []byte) {
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) == nil && object != nil {
		got := map[string]json.RawMessage{}
		members(body[blanks(body):], func(key, value []byte) { got[unquoteJSON(key)] = value })
		if d := cmp.Diff(object, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%q: members (-want +got):\n%s", body, d)
		}
	}
	var array []json.RawMessage
	if json.Unmarshal(body, &array) == nil && array != nil {
		var got []json.RawMessage
		elements(body[blanks(body):], func(value []byte) { got = append(got, value) })
		if d := cmp.Diff(array, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%q: elements (-want +got):\n%s", body, d)
		}
	}
}
