// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// builtin is a function of SQL.
type builtin struct {
	min, max int
	make     func(c *compiler, at Position, name string, args []term) term
}

const anyNumber = math.MaxInt32

var builtins map[string]builtin

func init() { // an initialiser would refer to itself
	builtins = map[string]builtin{
		"UPPER": {1, 1, textFunction(strings.ToUpper)}, "LOWER": {1, 1, textFunction(strings.ToLower)},
		"CHAR_LENGTH": {1, 1, charLength}, "CHARACTER_LENGTH": {1, 1, charLength},
		"SUBSTRING": {2, 3, substring}, "SUBSTR": {2, 3, substring},
		"TRIM": {1, 1, trim("")}, "LTRIM": {1, 2, trim("LEADING")}, "RTRIM": {1, 2, trim("TRAILING")},
		"CONCAT":  {1, anyNumber, func(c *compiler, at Position, _ string, args []term) term { return c.concat(at, args) }},
		"REPLACE": {3, 3, replace}, "COALESCE": {1, anyNumber, coalesce}, "IFNULL": {2, 2, coalesce}, "NULLIF": {2, 2, nullIf},
		"ABS": {1, 1, abs}, "MOD": {2, 2, func(c *compiler, at Position, _ string, args []term) term {
			return c.arithmetic(at, "%", args[0], args[1])
		}},
	}
}

// aggregates are functions over many rows.
var aggregates = []string{"AVG", "COLLECT", "COUNT", "FIRST_VALUE", "LAST_VALUE", "LISTAGG", "MAX", "MIN", "RANK", "ROW_NUMBER", "STDDEV_POP", "SUM",
	"VAR_POP"}

// windows are table functions.
var windows = []string{"TUMBLE", "HOP", "SESSION", "CUMULATE"}

// clocks are functions whose value depends on when they are asked.
var clocks = []string{"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP", "NOW", "PROCTIME", "RAND", "UUID"}

func (c *compiler) function(at Position, f *call) term {
	name := strings.ToUpper(f.Name)
	if slices.Contains(aggregates, name) || f.Star {
		return c.fail(at, "%s needs many rows: aggregates are not supported, write a Beam pipeline with a window and a combiner", name)
	}
	if slices.Contains(windows, name) {
		return c.fail(at, "%s: windows are not supported, write a Beam pipeline with a window", name)
	}
	if slices.Contains(clocks, name) {
		return c.fail(at, "%s gives another value each time, so that a bundle that is processed again has other rows: use the metadata column ingestion-time", name)
	}
	b, ok := builtins[name]
	if !ok {
		return c.fail(at, "there is no function %s: there are %s", name, strings.Join(slices.Sorted(maps.Keys(builtins)), ", "))
	}
	var args []term
	if f.Args != nil {
		for _, a := range f.Args.List {
			args = append(args, c.or(a))
		}
		if f.Args.Side != "" || f.Args.From != nil {
			return c.wordy(at, name, f.Args, args)
		}
	}
	if len(args) < b.min || len(args) > b.max {
		return c.fail(at, "%s has %d arguments: want %s", name, len(args), counts(b))
	}
	return b.make(c, at, name, args)
}

// wordy is a call with words between its arguments.
func (c *compiler) wordy(at Position, name string, a *callArgs, args []term) term {
	switch {
	case name == "TRIM" && a.From != nil && a.For == nil && len(args) <= 1:
		if a.Char != nil {
			args = []term{c.or(a.Char)}
		}
		return trim(strings.ToUpper(a.Side))(c, at, name, append([]term{c.or(a.From)}, args...))
	case (name == "SUBSTRING" || name == "SUBSTR") && a.Side == "" && len(args) == 1:
		args = append(args, c.or(a.From))
		if a.For != nil {
			args = append(args, c.or(a.For))
		}
		return substring(c, at, name, args)
	}
	return c.fail(at, "%s is not written so: FROM and FOR belong to TRIM([BOTH | LEADING | TRAILING] [chars] FROM text) and SUBSTRING(text FROM start [FOR length])", name)
}

func counts(b builtin) string {
	digits := func(n int) string { return string(rune('0' + n)) }
	switch {
	case b.max == anyNumber:
		return digits(b.min) + " or more"
	case b.min == b.max:
		return digits(b.min)
	}
	return digits(b.min) + " or " + digits(b.max)
}

// textType is STRING, NOT NULL if all terms are.
func textType(terms ...term) sqltype.Type {
	t := sqltype.Of(sqltype.Varchar)
	t.NotNull = conditionOf(terms).NotNull
	return t
}

func textFunction(f func(string) string) func(*compiler, Position, string, []term) term {
	return func(c *compiler, at Position, name string, args []term) term {
		text := c.text(args[0], name)
		return c.call(at, strings.ToLower(name), textType(text), strict(func(args []any) (any, error) { return f(args[0].(string)), nil }), text)
	}
}

func charLength(c *compiler, at Position, name string, args []term) term {
	text := c.text(args[0], name)
	t := sqltype.Of(sqltype.Int)
	t.NotNull = text.typ.NotNull
	return c.call(at, "charLength", t, strict(func(args []any) (any, error) { return int32(utf8.RuneCountInString(args[0].(string))), nil }), text)
}

// substring counts characters from 1; from 0 it begins at the first one, and
// from a negative number that many before the end.
func substring(c *compiler, at Position, name string, args []term) term {
	bigint := sqltype.Of(sqltype.BigInt)
	args[0] = c.text(args[0], name)
	for i := range args[1:] {
		args[i+1] = c.as(args[i+1], bigint, "argument of "+name)
	}
	return c.call(at, "substring", textType(args...), strict(func(args []any) (any, error) {
		length := int64(math.MaxInt64)
		if len(args) == 3 {
			length = args[2].(int64)
		}
		return substringOf(args[0].(string), args[1].(int64), length), nil
	}), args...)
}

func substringOf(s string, start, length int64) string {
	chars := []rune(s)
	n := int64(len(chars))
	switch {
	case start > 0:
		start--
	case start < 0:
		start = max(0, n+start)
	}
	if start >= n || length <= 0 {
		return ""
	}
	return string(chars[start : start+min(length, n-start)])
}

// trim takes blanks, or each of the characters of the second argument, from the
// sides of the first.
func trim(side string) func(*compiler, Position, string, []term) term {
	cut := strings.Trim
	switch side {
	case "LEADING":
		cut = strings.TrimLeft
	case "TRAILING":
		cut = strings.TrimRight
	}
	return func(c *compiler, at Position, name string, args []term) term {
		for i := range args {
			args[i] = c.text(args[i], name)
		}
		return c.call(at, "trim", textType(args...), strict(func(args []any) (any, error) {
			chars := " "
			if len(args) == 2 {
				chars = args[1].(string)
			}
			return cut(args[0].(string), chars), nil
		}), args...)
	}
}

func replace(c *compiler, at Position, name string, args []term) term {
	for i := range args {
		args[i] = c.text(args[i], name)
	}
	return c.call(at, "replace", textType(args...), strict(func(args []any) (any, error) {
		return strings.ReplaceAll(args[0].(string), args[1].(string), args[2].(string)), nil
	}), args...)
}

// coalesce is the first argument that is not NULL; those behind it are not
// evaluated.
func coalesce(c *compiler, at Position, name string, args []term) term {
	terms, t := c.common(at, "arguments of "+name, args)
	if terms == nil {
		return broken(at)
	}
	codes := make([]string, len(terms))
	for i, each := range terms {
		codes[i] = each.code
		t.NotNull = t.NotNull || each.typ.NotNull
	}
	return term{at: at, typ: t, column: -1, code: "(" + strings.Join(codes, " ?? ") + ")"}
}

func nullIf(c *compiler, at Position, name string, args []term) term {
	value := args[0]
	terms, t := c.comparable(at, "arguments of "+name, args)
	if terms == nil {
		return broken(at)
	}
	return c.call(at, "nullIf", value.typ.Optional(), func(args []any) (any, error) {
		if args[1] != nil && args[2] != nil && sqltype.Compare(t.Kind, args[1], args[2]) == 0 {
			return nil, nil
		}
		return args[0], nil
	}, value, terms[0], terms[1])
}

func abs(c *compiler, at Position, name string, args []term) term {
	t := args[0]
	if !t.typ.Kind.IsNumeric() {
		return c.fail(t.at, "%s wants a number, not %s", name, t.typ.Optional())
	}
	variable := t
	variable.code, variable.column, variable.literal = c.variable(), -1, false
	zero := c.constant(at, sqltype.Of(sqltype.TinyInt), int8(0))
	below := c.compare(at, "<", variable, zero)
	out := term{at: at, typ: t.typ, column: -1}
	out.code = let(variable.code, t, "isTrue("+below.code+") ? "+c.negate(at, variable).code+" : "+variable.code)
	return out
}
