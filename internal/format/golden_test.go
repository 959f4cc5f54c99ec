// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden is a body with what must become of it.
type golden struct {
	what    string
	config  Config
	columns sqltype.Schema
	body    string
}

// checkGolden compares with testdata/NAME.golden what the bodies become.
func checkGolden(t *testing.T, name string, cases []golden) {
	t.Helper()
	var b strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&b, "# %s\n", c.what)
		render(&b, format(t, c.config, c.columns), c)
		b.WriteString("\n")
	}
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("%s differs (-want +got), go test -update writes it anew:\n%s", file, d)
	}
}

func render(b *strings.Builder, f Format, c golden) {
	if c.config != (Config{Kind: c.config.Kind}) {
		fmt.Fprintf(b, "config   %s\n", settings(c.config))
	}
	fmt.Fprintf(b, "body     %s\n", short(c.body))
	result := f.Decode([]byte(c.body))
	for _, row := range result.Rows {
		parts := make([]string, len(row))
		for i, v := range row {
			parts[i] = show(v)
		}
		fmt.Fprintf(b, "row      %s\n", strings.Join(parts, " "))
		body, err := f.Encode(row)
		switch {
		case err != nil:
			fmt.Fprintf(b, "written  error: %v\n", err)
		case string(body) != c.body:
			fmt.Fprintf(b, "written  %s\n", short(string(body)))
		}
	}
	if result.Skipped > 0 {
		fmt.Fprintf(b, "skipped  %d\n", result.Skipped)
	}
	for _, fault := range result.Faults {
		fmt.Fprintf(b, "fault    %v\n", fault)
	}
}

func settings(c Config) string { return strings.Trim(fmt.Sprintf("%+q", describe(c)), `"`) }

func describe(c Config) string {
	var parts []string
	for name, v := range map[string]string{"zone": c.Zone, "charset": c.Charset, "field": c.FieldDelimiter, "line": c.LineDelimiter,
		"check": string(c.LengthCheck), "quote": c.Quote, "null": c.NullLiteral, "timestamps": string(c.Timestamps)} {
		if v != "" {
			parts = append(parts, name+"="+v)
		}
	}
	if c.FailOnMissingField {
		parts = append(parts, "strict")
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

func short(s string) string {
	if len(s) > 400 {
		return fmt.Sprintf("%d bytes, SHA-256 %.8x", len(s), sha256.Sum256([]byte(s)))
	}
	return fmt.Sprintf("%+q", s)
}

func show(v any) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case string:
		if len(x) > 400 {
			return short(x)
		}
		return fmt.Sprintf("%q", x)
	case []byte:
		if len(x) > 400 {
			return short(string(x))
		}
		return fmt.Sprintf("x%q", x)
	case time.Time:
		return x.UTC().Format(time.RFC3339Nano)
	case decimal.Decimal:
		return x.String() + "d"
	case []any:
		parts := make([]string, len(x))
		for i, e := range x {
			parts[i] = show(e)
		}
		return "[" + strings.Join(parts, " ") + "]"
	case map[any]any:
		byKey := map[string]string{}
		for k, e := range x {
			byKey[show(k)] = show(e)
		}
		parts := make([]string, 0, len(x))
		for _, k := range slices.Sorted(maps.Keys(byKey)) {
			parts = append(parts, k+":"+byKey[k])
		}
		return "{" + strings.Join(parts, " ") + "}"
	}
	return fmt.Sprintf("%v(%T)", v, v)
}

func gbk(t testing.TB, s string) string {
	t.Helper()
	out, err := simplifiedchinese.GBK.NewEncoder().String(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// mebibyte is a field of 1 MiB.
var mebibyte = strings.Repeat("0123456789abcde\u00e9", 1<<20/17)

// W19: formats, and what becomes of rows that cannot be read.
func TestDelimitedGolden(t *testing.T) {
	p, w := people(t), wide(t)
	d := Config{Kind: Delimited}
	comma := Config{Kind: Delimited, FieldDelimiter: ","}
	with := func(change func(*Config)) Config { c := comma; change(&c); return c }
	check := func(l LengthCheck) Config { return with(func(c *Config) { c.LengthCheck = l }) }
	cases := []golden{
		{"the default delimiters", d, p, "1\x01Ann\x0130\n2\x01Bob\x0140"},
		{"a line feed at the end makes no row", comma, p, "1,Ann,30\n"},
		{"empty lines make no rows", comma, p, "\n\n1,Ann,30\n\n"},
		{"an empty body has no row", comma, p, ""},
		{"empty fields are NULL, and the empty string in text", comma, p, "1,,"},
		{"an empty field in a column that is NOT NULL", comma, p, ",Ann,30"},
		{"only delimiters", comma, p, ",,"},
		{"a carriage return stays with text, and does not hurt numbers", comma, p, "1,Ann,30\r\n"},
		{"blanks around numbers", comma, p, " 1 , Ann , 30 "},
		{"emoji and text from the right", comma, p, "1,\U0001F680\U0001F468\u200d\U0001F469\u200d\U0001F467 \u0627\u0644,3"},
		{"a number that is out of range beside a good line", comma, p, "1,Ann,2147483648\n2,Bob,40"},
		{"no number", comma, p, "1,Ann,thirty"},
		{"bytes that are not UTF-8", comma, p, "1,\xff,3"},
		{"a delimiter of several characters", with(func(c *Config) { c.FieldDelimiter = "||" }), p, "1||A|n||3"},
		{"a line delimiter of several characters", with(func(c *Config) { c.LineDelimiter = "<br>" }), p, "1,A\nn,3<br>2,B,4"},
		{"a tab", with(func(c *Config) { c.FieldDelimiter = "\t" }), p, "1\tAnn\t30"},
		{"1 MiB in a field", comma, p, "1," + mebibyte + ",3"},
		{"all types", with(func(c *Config) { c.Zone = "Asia/Shanghai" }), w,
			"true,-128,32767,7,-9,0.5,1e-9,123.456,text,a\u00e9\U0001F680,\x00\x7f,2024-02-29,01:02:03.5,2024-01-02 03:04:05.678,2024-01-02 03:04:05"},
		{"all types, as other programs write them", with(func(c *Config) { c.Zone = "Asia/Shanghai" }), w,
			"1,+1,-1,007,0,NaN,Infinity,1e2,,,,0001-01-01,1500,1704135845678,2024-01-02T03:04:05.25Z"},
		{"all types NULL", comma, w, ",,,,,,,,,,,,,,"},
		{"too long for VARCHAR(3)", comma, w, ",,,,,,,,,abcd,,,,,"},
		{"too many digits for DECIMAL(10, 2)", comma, w, ",,,,,,,123456789,,,,,,,"},
		{"one column: the line is the value, delimiters and all", comma, sqltype.Schema{column(t, "line", "STRING")}, "a,b,,\nc"},
		{"one column of binary beside lines", comma, sqltype.Schema{column(t, "line", "BYTES")}, "a,b\nc"},
		{"GBK, whose second bytes may look like the delimiter", with(func(c *Config) { c.Charset, c.FieldDelimiter = "GBK", "|" }), p, "1|\x81\x7c|30"},
		{"GBK with a broken character", with(func(c *Config) { c.Charset = "GBK" }), p, "1,\xd6,3"},
		{"GB18030 has emoji", with(func(c *Config) { c.Charset = "GB18030" }), p, "1,\x94\x39\xdf\x37,3"},
		{"ISO-8859-1", with(func(c *Config) { c.Charset = "ISO-8859-1" }), p, "1,\xe9\xff,3"},
		{"UTF-16", with(func(c *Config) { c.Charset = "UTF-16BE" }), p, "\x001\x00,\x4e\x2d\x00,\x003"},
	}
	for _, l := range []LengthCheck{CheckNone, CheckSkip, CheckException, CheckPad} {
		cases = append(cases,
			golden{"too few fields", check(l), p, "1,Ann\n2,Bob,40"},
			golden{"too many fields", check(l), p, "1,Ann,30,extra\n2,Bob,40"},
			golden{"a trailing delimiter", check(l), p, "1,Ann,30,"},
			golden{"no field for a column that is NOT NULL", check(l), sqltype.Schema{p[1], p[2], p[0]}, "Ann,30"},
		)
	}
	checkGolden(t, "delimited", cases)
}

func TestCSVGolden(t *testing.T) {
	p, w := people(t), wide(t)
	d := Config{Kind: CSV}
	with := func(change func(*Config)) Config { c := d; change(&c); return c }
	cases := []golden{
		{"records", d, p, "1,Ann,30\r\n2,\"Bob\",40\n"},
		{"quotes, delimiters and line breaks within quotes", d, p, "1,\"A \"\"n\"\", n\r\nx\",30"},
		{"an empty field and an empty string", d, p, "1,,\n2,\"\",\"\""},
		{"the null literal, and the same text in quotes", with(func(c *Config) { c.NullLiteral = "\\N" }), p, "1,\\N,\\N\n2,\"\\N\",3"},
		{"an empty body", d, p, ""},
		{"empty lines make no rows", d, p, "\n\r\n1,Ann,3\n\n"},
		{"an empty line of a table with one column", d, sqltype.Schema{column(t, "s", "STRING")}, "\n\"\"\nx"},
		{"a quote that is not closed", d, p, "1,Ann,3\n2,\"Bob,4"},
		{"text behind a quote", d, p, "1,\"Ann\"x,3"},
		{"a quote within a field", d, p, "1,A\"n,3"},
		{"too few fields", d, p, "1,Ann\n2,Bob,3"},
		{"too many fields", d, p, "1,Ann,3,\n2,Bob,3"},
		{"a field too few is NULL with PAD", with(func(c *Config) { c.LengthCheck = CheckPad }), p, "1\n2,Bob,3,x"},
		{"NONE skips and cuts", with(func(c *Config) { c.LengthCheck = CheckNone }), p, "1\n2,Bob,3,x"},
		{"a semicolon and single quotes", with(func(c *Config) { c.FieldDelimiter, c.Quote = ";", "'" }), p, "1;'A;''\"n';3"},
		{"a carriage return alone is text", d, p, "1,\"A\rn\",3"},
		{"a wrong number beside a good line", d, p, "1,Ann,x\n2,Bob,3"},
		{"emoji", d, p, "1,\U0001F680,3"},
		{"GBK", with(func(c *Config) { c.Charset = "GBK" }), p, gbk(t, "1,\"\u4e2d\u6587,\u4e28\",3")},
		{"1 MiB in quotes", d, p, "1,\"" + mebibyte + ",\",3"},
		{"all types", with(func(c *Config) { c.Zone = "+08:00" }), w,
			"true,-128,32767,7,-9,0.5,1e-9,123.45,\"te,xt\",abc,bytes,2024-02-29,01:02:03.500,2024-01-02 03:04:05.678,2024-01-02 03:04:05.000"},
	}
	checkGolden(t, "csv", cases)
}

func TestJSONGolden(t *testing.T) {
	p, w := people(t), wide(t)
	d := Config{Kind: JSON}
	with := func(change func(*Config)) Config { c := d; change(&c); return c }
	stringMap, err := sqltype.MapOf(sqltype.Of(sqltype.Varchar), sqltype.Of(sqltype.Int).Required())
	if err != nil {
		t.Fatal(err)
	}
	intMap, err := sqltype.MapOf(sqltype.Of(sqltype.BigInt), sqltype.Of(sqltype.Varchar))
	if err != nil {
		t.Fatal(err)
	}
	nested := sqltype.Schema{
		{Name: "list", Type: sqltype.ArrayOf(sqltype.Of(sqltype.Int))}, {Name: "map", Type: stringMap}, {Name: "ints", Type: intMap},
		{Name: "deep", Type: sqltype.ArrayOf(sqltype.ArrayOf(sqltype.Of(sqltype.Varchar)))},
	}
	cases := []golden{
		{"an object", d, p, `{"id":1,"name":"Ann","age":30}`},
		{"blanks, another order and keys that are no columns", d, p, " { \"age\" : 30 , \"x\" : [1,{}], \"id\" : 1 } \n"},
		{"keys count upper and lower case", d, p, `{"id":1,"Name":"Ann"}`},
		{"the last of two keys counts", d, p, `{"id":1,"id":2}`},
		{"null, and a column that is missing", d, p, `{"id":1,"name":null}`},
		{"a column that is missing is a fault if so wished", with(func(c *Config) { c.FailOnMissingField = true }), p, `{"id":1,"name":null}`},
		{"null in a column that is NOT NULL", d, p, `{"id":null}`},
		{"a column that is NOT NULL is missing", d, p, `{}`},
		{"an array of objects, one of them wrong", d, p, `[{"id":1},{"id":"x"},{"id":3}]`},
		{"an empty array", d, p, `[]`},
		{"an array within the array", d, p, `[[{"id":1}]]`},
		{"an empty body", d, p, ""},
		{"null alone", d, p, "null"},
		{"no object", d, p, `"id"`},
		{"two objects", d, p, `{"id":1}{"id":2}`},
		{"an object that is not closed", d, p, `{"id":1`},
		{"numbers in quotes", d, p, `{"id":"1","age":" 30 "}`},
		{"a fraction is no whole number", d, p, `{"id":1,"age":30.0}`},
		{"out of range", d, p, `{"id":1,"age":99999999999}`},
		{"an object in a number's place", d, p, `{"id":{"x":1}}`},
		{"text takes other values as they stand there", d, p, `{"id":1,"name":{"a": [1, 2.50 ]}}`},
		{"a number as text keeps its digits", d, p, `{"id":1,"name":1.50}`},
		{"escapes, also needless ones", d, p, `{"id":1,"name":"\u00e9\ud83d\ude80\/\"\\\n\u0001"}`},
		{"characters that HTML knows are not escaped", d, p, `{"id":1,"name":"<a&b>","age":null}`},
		{"emoji", d, p, "{\"id\":1,\"name\":\"\U0001F680\",\"age\":3}"},
		{"bytes that are not UTF-8", d, p, "{\"id\":1,\"name\":\"\xff\"}"},
		{"1 MiB in a field", d, p, `{"id":1,"name":"` + mebibyte + `","age":3}`},
		{"all types", with(func(c *Config) { c.Zone = "Asia/Shanghai" }), w,
			`{"b":true,"i1":-128,"i2":32767,"i4":7,"i8":9007199254740993,"f4":0.1,"f8":1e+300,"dec":12345678.90,"s":"text","v":"abc","x":"AP8=","d":"2024-02-29","t":"01:02:03.500","ts":"2024-01-02 03:04:05.678","lt":"2024-01-01 19:04:05.000Z"}`},
		{"all types as ISO 8601", with(func(c *Config) { c.Timestamps = StyleISO }), w,
			`{"b":false,"i1":0,"i2":0,"i4":0,"i8":0,"f4":0,"f8":0,"dec":0.00,"s":"","v":"","x":"","d":"0001-01-01","t":"00:00:00.000","ts":"2024-01-02T03:04:05.678","lt":"2024-01-01T19:04:05.000Z"}`},
		{"all types null", d, w, `{}`},
		{"a clock in the zone, and milliseconds, for an instant", with(func(c *Config) { c.Zone = "Asia/Shanghai" }), w, `[{"lt":"2024-01-02 03:04:05"},{"lt":1704135845678}]`},
		{"bytes that are no base64", d, w, `{"x":"?"}`},
		{"too long for VARCHAR(3)", d, w, `{"v":"abcd"}`},
		{"lists and maps", d, nested, `{"list":[1,null,3],"map":{"b":2,"a":1},"ints":{"-5":"x"},"deep":[["a"],[],null]}`},
		{"a list with a wrong element", d, nested, `{"list":[1,"x"]}`},
		{"a map with a null that is not allowed", d, nested, `{"map":{"a":null}}`},
		{"a map with a wrong key", d, nested, `{"ints":{"x":"y"}}`},
		{"a list that is none", d, nested, `{"list":{}}`},
	}
	checkGolden(t, "json", cases)
}

func TestRawGolden(t *testing.T) {
	d := Config{Kind: Raw}
	body, text := sqltype.Schema{column(t, "body", "VARBINARY")}, sqltype.Schema{column(t, "body", "STRING")}
	checkGolden(t, "raw", []golden{
		{"bytes", d, body, "\x00\xff\n\x01"},
		{"no bytes", d, body, ""},
		{"delimiters and encoding have no effect on bytes", Config{Kind: Raw, Charset: "GBK", FieldDelimiter: ",", LengthCheck: CheckPad}, body, "a,b\xff"},
		{"text", d, text, "a\n\U0001F680"},
		{"text that is not UTF-8", d, text, "\xff"},
		{"text in GBK", Config{Kind: Raw, Charset: "GBK"}, text, gbk(t, "\u4e2d\u6587")},
		{"too many bytes", d, sqltype.Schema{column(t, "body", "VARBINARY", 2)}, "abc"},
		{"1 MiB", d, body, string(bytes.Repeat([]byte{0}, 1<<20))},
	})
}
