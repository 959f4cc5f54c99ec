// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// calculator evaluates single expressions over one row.
type calculator struct {
	table *Table
	row   []any
}

func newCalculator(t testing.TB, columns string, row ...any) calculator {
	t.Helper()
	s, err := Parse("", "CREATE TABLE t ("+columns+") WITH ('k' = 'v')")
	if err != nil {
		t.Fatal(err)
	}
	return calculator{s.Tables[0], row}
}

// value gives an expression's type and value.
func (c calculator) value(expression string) (sqltype.Type, any, error) {
	sentences, faults := split("", "INSERT INTO t SELECT "+expression+" FROM t")
	if len(faults) > 0 {
		return sqltype.Type{}, nil, faults[0]
	}
	stmt, err := parseSentence(sentences[0])
	if err != nil {
		return sqltype.Type{}, nil, err
	}
	zone, err := sqltype.LoadZone("Asia/Shanghai")
	if err != nil {
		return sqltype.Type{}, nil, err
	}
	compiler := newCompiler(&Insert{Source: c.table, Sink: c.table, query: &stmt.Insert.Select}, zone)
	term := compiler.or(stmt.Insert.Select.Items[0].Expr)
	if err := joined(compiler.faults); err != nil {
		return sqltype.Type{}, nil, err
	}
	program, err := compiler.compile(term.code)
	if err != nil {
		return sqltype.Type{}, nil, fmt.Errorf("engine: %w in %s", err, term.code)
	}
	v, err := new(Program).run(program, c.row)
	return term.typ, v, err
}

func number(s string) decimal.Decimal { return decimal.RequireFromString(s) }

var equalDecimals = cmp.Comparer(func(a, b decimal.Decimal) bool { return a.Equal(b) })

func TestExpressions(t *testing.T) {
	noon := time.Date(2024, 1, 2, 12, 0, 0, 0, time.UTC)
	c := newCalculator(t, "i INT, l BIGINT NOT NULL, s STRING, f DOUBLE, d DECIMAL(10, 2), b BOOLEAN, n INT, m MAP<STRING, STRING>, a ARRAY<INT>, "+
		"ts TIMESTAMP(3), lt TIMESTAMP_LTZ(3), dt DATE, tm TIME(0), x BYTES, t TINYINT, r FLOAT, `from` STRING NOT NULL",
		int32(7), int64(40), "Hé🚀", 1.5, number("12.34"), true, nil, map[any]any{"k": "v"}, []any{int32(5), nil}, noon, noon,
		noon.Truncate(24*time.Hour), 90*time.Second, []byte("ab"), int8(100), float32(0.5), "from")
	for _, e := range []struct {
		expression string
		want       any
		typ        string
	}{
		// Literals and columns.
		{"1", int32(1), "INT NOT NULL"},
		{"2147483648", int64(2147483648), "BIGINT NOT NULL"},
		{"-9223372036854775808", int64(math.MinInt64), "BIGINT NOT NULL"},
		{"9223372036854775808", number("9223372036854775808"), "DECIMAL(19, 0) NOT NULL"},
		{"1.50", number("1.5"), "DECIMAL(3, 2) NOT NULL"},
		{"1.", number("1"), "DECIMAL(1, 0) NOT NULL"},
		{".5", number("0.5"), "DECIMAL(1, 1) NOT NULL"},
		{"1e3", 1000.0, "DOUBLE NOT NULL"},
		{"'it''s'", "it's", "STRING NOT NULL"},
		{"''", "", "STRING NOT NULL"},
		{"NULL", nil, "NULL"},
		{"true", true, "BOOLEAN NOT NULL"},
		{"DATE '2024-01-02'", noon.Truncate(24 * time.Hour), "DATE NOT NULL"},
		{"TIME '00:01:30'", 90 * time.Second, "TIME(0) NOT NULL"},
		{"TIMESTAMP '2024-01-02 12:00:00.5'", noon.Add(500 * time.Millisecond), "TIMESTAMP(1) NOT NULL"},
		{"i", int32(7), "INT"}, {"t.l", int64(40), "BIGINT NOT NULL"}, {"`from`", "from", "STRING NOT NULL"},
		// Arithmetic.
		{"i + l", int64(47), "BIGINT"}, {"l - 1", int64(39), "BIGINT NOT NULL"}, {"i * 2", int32(14), "INT"}, {"i / 2", int32(3), "INT"},
		{"-7 / 2", int32(-3), "INT NOT NULL"}, {"-7 % 2", int32(-1), "INT NOT NULL"}, {"MOD(i, 4)", int32(3), "INT"},
		{"2 + 3 * 4", int32(14), "INT NOT NULL"}, {"(2 + 3) * 4", int32(20), "INT NOT NULL"}, {"10 - 3 - 2", int32(5), "INT NOT NULL"},
		{"-i", int32(-7), "INT"}, {"- - i", int32(7), "INT"}, {"+i", int32(7), "INT"}, {"-(-l)", int64(40), "BIGINT NOT NULL"},
		{"f * 2", 3.0, "DOUBLE"}, {"f / 0", math.Inf(1), "DOUBLE"}, {"r + r", float32(1), "FLOAT"}, {"r + i", 7.5, "DOUBLE"},
		{"d + 1", number("13.34"), "DECIMAL(13, 2)"}, {"d * d", number("152.2756"), "DECIMAL(20, 4)"}, {"1 / 3.0", number("0.333333"), "DECIMAL(17, 6) NOT NULL"},
		{"-d", number("-12.34"), "DECIMAL(10, 2)"}, {"d % 5", number("2.34"), "DECIMAL(10, 2)"}, {"0.1 + 0.2", number("0.3"), "DECIMAL(3, 1) NOT NULL"},
		{"n + 1", nil, "INT"}, {"NULL + 1", nil, "INT"}, {"ABS(-i)", int32(7), "INT"}, {"ABS(d - 20)", number("7.66"), "DECIMAL(13, 2)"}, {"ABS(n)", nil, "INT"},
		// Comparison.
		{"i < l", true, "BOOLEAN"}, {"l = 40.0", true, "BOOLEAN NOT NULL"}, {"1 <> 1", false, "BOOLEAN NOT NULL"}, {"1 != 2", true, "BOOLEAN NOT NULL"},
		{"d >= 12.34", true, "BOOLEAN"}, {"d > f", true, "BOOLEAN"}, {"s > 'A'", true, "BOOLEAN"}, {"b = true", true, "BOOLEAN"}, {"n = n", nil, "BOOLEAN"},
		{"ts = '2024-01-02 12:00:00'", true, "BOOLEAN"}, {"'2024-01-02 11:59:59' < ts", true, "BOOLEAN"}, {"lt = '2024-01-02 20:00:00'", true, "BOOLEAN"},
		{"lt = '2024-01-02T12:00:00Z'", true, "BOOLEAN"}, {"dt <= '2024-01-02'", true, "BOOLEAN"}, {"dt < ts", true, "BOOLEAN"}, {"tm = '00:01:30'", true, "BOOLEAN"},
		{"x = x", true, "BOOLEAN"}, {"x < CAST('b' AS BYTES)", true, "BOOLEAN"}, {"lt > ts", true, "BOOLEAN"}, {"CAST(ts AS TIMESTAMP_LTZ(3)) = lt", false, "BOOLEAN"},
		{"i BETWEEN 7 AND 8", true, "BOOLEAN"}, {"i NOT BETWEEN 7 AND 8", false, "BOOLEAN"}, {"i BETWEEN 8 AND n", false, "BOOLEAN"}, {"i BETWEEN 7 AND n", nil, "BOOLEAN"},
		{"i BETWEEN SYMMETRIC 8 AND 7", true, "BOOLEAN"}, {"i BETWEEN 8 AND 7", false, "BOOLEAN"},
		{"i IN (1, 7)", true, "BOOLEAN"}, {"i IN (1, 2.5)", false, "BOOLEAN"}, {"i IN (1, n)", nil, "BOOLEAN"}, {"i IN (7, n)", true, "BOOLEAN"},
		{"n IN (1)", nil, "BOOLEAN"}, {"i NOT IN (1, n)", nil, "BOOLEAN"}, {"s NOT IN ('a', 'b')", true, "BOOLEAN"}, {"dt IN ('2024-01-02')", true, "BOOLEAN"},
		// LIKE.
		{"s LIKE 'H%'", true, "BOOLEAN"}, {"s LIKE '_é_'", true, "BOOLEAN"}, {"s LIKE '__'", false, "BOOLEAN"}, {"s NOT LIKE '%x%'", true, "BOOLEAN"},
		{"'50%' LIKE '50!%' ESCAPE '!'", true, "BOOLEAN NOT NULL"}, {"'500' LIKE '50!%' ESCAPE '!'", false, "BOOLEAN NOT NULL"}, {"n LIKE '%'", nil, "BOOLEAN"},
		{"'a.c' LIKE 'a.c'", true, "BOOLEAN NOT NULL"}, {"'abc' LIKE 'a.c'", false, "BOOLEAN NOT NULL"}, {"'' LIKE '%'", true, "BOOLEAN NOT NULL"}, {"'a' LIKE ''", false, "BOOLEAN NOT NULL"},
		{"'aXbXc' LIKE '%X%c'", true, "BOOLEAN NOT NULL"}, {"'line\nbreak' LIKE 'line%'", true, "BOOLEAN NOT NULL"}, {"s LIKE s", true, "BOOLEAN"},
		// IS.
		{"n IS NULL", true, "BOOLEAN NOT NULL"}, {"n is not null", false, "BOOLEAN NOT NULL"}, {"(n = 1) IS UNKNOWN", true, "BOOLEAN NOT NULL"},
		{"(n = 1) is not unknown", false, "BOOLEAN NOT NULL"}, {"b IS TRUE", true, "BOOLEAN NOT NULL"}, {"b is false", false, "BOOLEAN NOT NULL"}, {"(n = 1) IS NOT TRUE", true, "BOOLEAN NOT NULL"},
		// CASE.
		{"CASE WHEN i > 5 THEN 'big' ELSE 'small' END", "big", "STRING NOT NULL"}, {"CASE WHEN n > 5 THEN 1 END", nil, "INT"},
		{"CASE i WHEN 1 THEN 'a' WHEN 7 THEN 'b' END", "b", "STRING"}, {"CASE n WHEN NULL THEN 1 ELSE 2 END", int32(2), "INT NOT NULL"},
		{"CASE WHEN b THEN 1 ELSE 2.5 END", number("1"), "DECIMAL(11, 1) NOT NULL"}, {"CASE i WHEN 7 THEN 1 ELSE 1 / 0 END", int32(1), "INT NOT NULL"},
		// CAST.
		{"CAST(i AS STRING)", "7", "STRING"}, {"CAST('12' AS BIGINT)", int64(12), "BIGINT NOT NULL"}, {"cast(f as int)", int32(1), "INT"},
		{"CAST(d AS DECIMAL(5, 1))", number("12.3"), "DECIMAL(5, 1)"}, {"CAST(s AS VARCHAR(2))", "Hé", "VARCHAR(2)"}, {"CAST(lt AS STRING)", "2024-01-02 20:00:00.000", "STRING"},
		{"CAST(n AS STRING)", nil, "STRING"}, {"CAST(NULL AS INT)", nil, "INT"}, {"TRY_CAST('x' AS INT)", nil, "INT"}, {"CAST(x AS STRING)", "ab", "STRING"},
		{"CAST(lt AS DATE)", noon.Truncate(24 * time.Hour), "DATE"}, {"CAST(b AS INT)", int32(1), "INT"},
		// Text.
		{"s || '!' || i", "Hé🚀!7", "STRING"}, {"s || n", nil, "STRING"}, {"CONCAT('a', l)", "a40", "STRING NOT NULL"}, {"UPPER(s)", "HÉ🚀", "STRING"}, {"lower('ÄB')", "äb", "STRING NOT NULL"},
		{"CHAR_LENGTH(s)", int32(3), "INT"}, {"CHARACTER_LENGTH('')", int32(0), "INT NOT NULL"}, {"TRIM('  a ')", "a", "STRING NOT NULL"}, {"TRIM(LEADING FROM ' a ')", "a ", "STRING NOT NULL"},
		{"TRIM(TRAILING 'xy' FROM 'ayx')", "a", "STRING NOT NULL"}, {"TRIM(BOTH 'x' FROM 'xax')", "a", "STRING NOT NULL"}, {"TRIM('x' FROM 'xax')", "a", "STRING NOT NULL"}, {"LTRIM(' a')", "a", "STRING NOT NULL"},
		{"SUBSTRING(s, 2)", "é🚀", "STRING"}, {"SUBSTRING(s FROM 2 FOR 1)", "é", "STRING"}, {"SUBSTRING(s, -1)", "🚀", "STRING"}, {"SUBSTR('abc', 0, 2)", "ab", "STRING NOT NULL"},
		{"SUBSTRING('abc', 4)", "", "STRING NOT NULL"}, {"SUBSTRING('abc', 2, 0)", "", "STRING NOT NULL"}, {"SUBSTRING('abc', -9, 1)", "a", "STRING NOT NULL"}, {"SUBSTRING('abc', 2, 9223372036854775807)", "bc", "STRING NOT NULL"},
		{"REPLACE('aXa', 'X', '--')", "a--a", "STRING NOT NULL"},
		// NULL.
		{"COALESCE(n, NULL, 5)", int32(5), "INT NOT NULL"}, {"COALESCE(n, i)", int32(7), "INT"}, {"COALESCE(i, 1 / 0)", int32(7), "INT NOT NULL"}, {"IFNULL(n, l)", int64(40), "BIGINT NOT NULL"},
		{"NULLIF(i, 7)", nil, "INT"}, {"NULLIF(i, 8)", int32(7), "INT"}, {"NULLIF(i, n)", int32(7), "INT"},
		// Collections.
		{"m['k']", "v", "STRING"}, {"m['q']", nil, "STRING"}, {"a[1]", int32(5), "INT"}, {"a[2]", nil, "INT"}, {"a[3]", nil, "INT"}, {"a[0]", nil, "INT"}, {"m[CAST(n AS STRING)]", nil, "STRING"},
		// Order of operations.
		{"NOT b OR b", true, "BOOLEAN"}, {"NOT (b OR b)", false, "BOOLEAN"}, {"NOT NOT b", true, "BOOLEAN"}, {"b OR b AND n = 1", true, "BOOLEAN"}, {"NOT i = 7", false, "BOOLEAN"},
		{"i + 1 BETWEEN 8 AND 2 * 4 AND b", true, "BOOLEAN"}, {"'a' || 'b' = 'ab'", true, "BOOLEAN NOT NULL"},
	} {
		t.Run(e.expression, func(t *testing.T) {
			typ, got, err := c.value(e.expression)
			if err != nil {
				t.Fatal(err)
			}
			if typ.String() != e.typ {
				t.Errorf("type %s, want %s", typ, e.typ)
			}
			if !cmp.Equal(got, e.want, equalDecimals) {
				t.Errorf("got %#v, want %#v", got, e.want)
			}
			if got == nil && typ.NotNull {
				t.Error("NULL, and the type says NOT NULL")
			}
		})
	}
}

func TestErrorsOfRowsNameTheirPlace(t *testing.T) {
	c := newCalculator(t, "i INT, l BIGINT, s STRING, d DECIMAL(38, 0), p STRING", int32(math.MaxInt32), int64(math.MinInt64), "x", number(strings.Repeat("9", 38)), "a!")
	for _, e := range []struct {
		expression string
		want       error
		text       string
	}{
		{"i + 1", ErrOverflow, "line 1, column 24: 2147483647 + 1: overflow of INT"},
		{"l - 1", ErrOverflow, "line 1, column 24: -9223372036854775808 - 1: overflow of BIGINT"},
		{"-l", ErrOverflow, "line 1, column 22: 0 - -9223372036854775808: overflow of BIGINT"},
		{"l * -1", ErrOverflow, "line 1, column 24: -9223372036854775808 * -1: overflow of BIGINT"},
		{"l / -1", ErrOverflow, "line 1, column 24: -9223372036854775808 / -1: overflow of BIGINT"},
		{"1 / (i - 2147483647)", ErrDivision, "line 1, column 24: 1 / 0: division by zero"},
		{"l % 0", ErrDivision, "line 1, column 24: -9223372036854775808 % 0: division by zero"},
		{"1.5 / 0", ErrDivision, "line 1, column 26: 1.5 / 0: division by zero"},
		{"d * 10", ErrOverflow, "overflow of DECIMAL(38, 0)"},
		{"CAST(s AS INT)", sqltype.ErrSyntax, `line 1, column 22: "x" as INT: wrong syntax: want a number`},
		{"CAST(i AS TINYINT)", sqltype.ErrRange, "line 1, column 22: 2147483647: out of range of TINYINT"},
		{"CASE WHEN s = 'x' THEN 1 / 0 ELSE 2 END", ErrDivision, "line 1, column 47: 1 / 0"},
	} {
		t.Run(e.expression, func(t *testing.T) {
			_, v, err := c.value(e.expression)
			if !errors.Is(err, e.want) || !strings.Contains(err.Error(), e.text) {
				t.Errorf("got %v, %v, want %q", v, err, e.text)
			}
			var own *EvalError
			if !errors.As(err, &own) {
				t.Errorf("a %T, want an EvalError", err)
			}
		})
	}
	if _, _, err := c.value("s LIKE p ESCAPE '!'"); err == nil {
		t.Error("a pattern of the row that ends with its escape character is taken")
	}
}

// SQL's tables of AND, OR and NOT, both for columns that may be NULL and, where
// there is no NULL, for those that may not.
func TestThreeValuedLogic(t *testing.T) {
	and := map[[2]any]any{{true, true}: true, {true, nil}: nil, {true, false}: false, {nil, nil}: nil, {nil, false}: false, {false, false}: false}
	or := map[[2]any]any{{true, true}: true, {true, nil}: true, {true, false}: true, {nil, nil}: nil, {nil, false}: nil, {false, false}: false}
	not := map[any]any{true: false, false: true, nil: nil}
	look := func(table map[[2]any]any, a, b any) any {
		if v, ok := table[[2]any{a, b}]; ok {
			return v
		}
		return table[[2]any{b, a}]
	}
	for _, a := range []any{true, false, nil} {
		for _, b := range []any{true, false, nil} {
			columns := []string{"a BOOLEAN, b BOOLEAN"}
			if a != nil && b != nil {
				columns = append(columns, "a BOOLEAN NOT NULL, b BOOLEAN NOT NULL")
			}
			for _, types := range columns {
				c := newCalculator(t, types, a, b)
				for expression, want := range map[string]any{"a AND b": look(and, a, b), "a OR b": look(or, a, b), "NOT a": not[a]} {
					if _, got, err := c.value(expression); err != nil || got != want {
						t.Errorf("%s with a = %v, b = %v (%s): got %v, %v, want %v", expression, a, b, types, got, err, want)
					}
				}
			}
		}
	}
}

// What is decided is not evaluated further.
func TestDecidedConditionsGuardWhatFollows(t *testing.T) {
	for _, types := range []string{"i INT", "i INT NOT NULL"} {
		c := newCalculator(t, types, int32(0))
		for expression, want := range map[string]any{
			"i <> 0 AND 10 / i > 1": false, "i = 0 OR 10 / i > 1": true, "CASE WHEN i = 0 THEN false ELSE 10 / i > 1 END": false, "COALESCE(i = 0, 1 / i = 1)": true,
		} {
			if _, got, err := c.value(expression); err != nil || got != want {
				t.Errorf("%s (%s): got %v, %v, want %v", expression, types, got, err, want)
			}
		}
		if _, _, err := c.value("10 / i > 1 AND i <> 0"); !errors.Is(err, ErrDivision) {
			t.Errorf("the wrong order: got %v, want a division by zero", err)
		}
	}
}

// LIKE is what the naive definition says.
func TestLikeAgainstItsDefinition(t *testing.T) {
	var naive func(p, s []rune) bool
	naive = func(p, s []rune) bool {
		switch {
		case len(p) == 0:
			return len(s) == 0
		case p[0] == '%':
			return naive(p[1:], s) || len(s) > 0 && naive(p, s[1:])
		}
		return len(s) > 0 && (p[0] == '_' || p[0] == s[0]) && naive(p[1:], s[1:])
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("abé")), 0, 8, -1).Draw(t, "text")
		like := rapid.StringOfN(rapid.RuneFrom([]rune("abé%_")), 0, 6, -1).Draw(t, "pattern")
		p, err := patternOf(like, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.matches(text), naive([]rune(like), []rune(text)); got != want {
			t.Fatalf("%q LIKE %q: got %v, want %v", text, like, got, want)
		}
	})
}

// Whole numbers are what arithmetic with many digits gives, or overflow.
func TestIntegerArithmeticAgainstDecimals(t *testing.T) {
	edges := []int64{0, 1, -1, 2, -2, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1, 1 << 32, -(1 << 32)}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) int64 { return rapid.OneOf(rapid.SampledFrom(edges), rapid.Int64()).Draw(t, name) }
		a, b := draw("a"), draw("b")
		x, y := decimal.NewFromInt(a), decimal.NewFromInt(b)
		for operator, exact := range map[string]decimal.Decimal{"+": x.Add(y), "-": x.Sub(y), "*": x.Mul(y)} {
			got, err := integerArithmetic(operator, a, b)
			if fits := exact.BigInt().IsInt64(); fits != (err == nil) || fits && got != exact.IntPart() {
				t.Fatalf("%d %s %d: got %d, %v, want %s", a, operator, b, got, err, exact)
			}
		}
	})
}
