// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// The reasons for which an expression has no value; use errors.Is.
var (
	// ErrDivision: something is divided by zero.
	ErrDivision = errors.New("division by zero")
	// ErrOverflow: a whole number is too large for its type.
	ErrOverflow = errors.New("overflow")
)

// arithmetic is a + b, a - b, a * b, a / b or a % b.
func (c *compiler) arithmetic(at Position, operator string, a, b term) term {
	t, ok := sqltype.Arithmetic(operator, a.typ, b.typ)
	if !ok {
		return c.fail(at, "%s %s %s: want numbers", a.typ.Optional(), operator, b.typ.Optional())
	}
	switch {
	case t.Kind == sqltype.Null:
		return broken(at)
	case t.Kind.IsInteger():
		return c.call(at, "integer", t, strict(func(args []any) (any, error) {
			n, err := integerArithmetic(operator, sqltype.ToInt(args[0]), sqltype.ToInt(args[1]))
			if err != nil {
				return nil, err
			}
			v, err := sqltype.IntegerOf(t, n)
			if err != nil {
				return nil, overflow(operator, args, t)
			}
			return v, nil
		}), a, b)
	case t.Kind == sqltype.Decimal:
		return c.decimalArithmetic(at, operator, t, a, b)
	}
	return c.call(at, "float", t, strict(func(args []any) (any, error) {
		f := floatArithmetic(operator, sqltype.ToFloat(args[0]), sqltype.ToFloat(args[1]))
		if t.Kind == sqltype.Float {
			return float32(f), nil
		}
		return f, nil
	}), a, b)
}

func overflow(operator string, args []any, t sqltype.Type) error {
	return fmt.Errorf("%v %s %v: %w of %s", args[0], operator, args[1], ErrOverflow, t.Optional())
}

func integerArithmetic(operator string, a, b int64) (int64, error) {
	bigint := sqltype.Of(sqltype.BigInt)
	switch operator {
	case "+":
		if sum := a + b; (sum > a) == (b > 0) {
			return sum, nil
		}
	case "-":
		if difference := a - b; (difference < a) == (b > 0) {
			return difference, nil
		}
	case "*":
		if a == 0 || b == 0 {
			return 0, nil
		}
		// The smallest number divided by -1 overflows back to itself.
		if p := a * b; p/b == a && !(b == -1 && a == math.MinInt64) {
			return p, nil
		}
	default:
		if b == 0 {
			return 0, fmt.Errorf("%d %s 0: %w", a, operator, ErrDivision)
		}
		if operator == "%" {
			return a % b, nil
		}
		if !(a == math.MinInt64 && b == -1) {
			return a / b, nil
		}
	}
	return 0, overflow(operator, []any{a, b}, bigint)
}

func floatArithmetic(operator string, a, b float64) float64 {
	switch operator {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	}
	return math.Mod(a, b)
}

func (c *compiler) decimalArithmetic(at Position, operator string, t sqltype.Type, a, b term) term {
	return c.call(at, "decimal", t, strict(func(args []any) (any, error) {
		x, y := sqltype.ToDecimal(args[0]), sqltype.ToDecimal(args[1])
		if y.IsZero() && (operator == "/" || operator == "%") {
			return nil, fmt.Errorf("%v %s 0: %w", args[0], operator, ErrDivision)
		}
		d, err := sqltype.FitDecimal(t, decimalArithmetic(operator, x, y, int32(t.Scale)))
		if err != nil {
			return nil, overflow(operator, args, t)
		}
		return d, nil
	}), a, b)
}

func decimalArithmetic(operator string, a, b decimal.Decimal, scale int32) decimal.Decimal {
	switch operator {
	case "+":
		return a.Add(b)
	case "-":
		return a.Sub(b)
	case "*":
		return a.Mul(b)
	case "/":
		return a.DivRound(b, scale)
	}
	return a.Mod(b)
}

func (c *compiler) negate(at Position, t term) term {
	zero := c.constant(at, sqltype.Of(sqltype.TinyInt), int8(0))
	if t.typ.Kind == sqltype.Null {
		return t
	}
	out := c.arithmetic(at, "-", zero, t)
	if t.typ.Kind == sqltype.Decimal { // no digit is added by a sign
		return c.convert(at, out, t.typ)
	}
	return out
}

// comparisons say what an order means for an operator.
var comparisons = map[string]func(order int) bool{
	"=":  func(o int) bool { return o == 0 },
	"<>": func(o int) bool { return o != 0 },
	"!=": func(o int) bool { return o != 0 },
	"<":  func(o int) bool { return o < 0 },
	"<=": func(o int) bool { return o <= 0 },
	">":  func(o int) bool { return o > 0 },
	">=": func(o int) bool { return o >= 0 },
}

func (c *compiler) compare(at Position, operator string, a, b term) term {
	terms, t := c.comparable(at, "comparison", []term{a, b})
	if terms == nil {
		return broken(at)
	}
	holds := comparisons[operator]
	return c.call(at, "compare", conditionOf(terms), strict(func(args []any) (any, error) {
		return holds(sqltype.Compare(t.Kind, args[0], args[1])), nil
	}), terms...)
}

// comparable turns terms into one type that has an order.
func (c *compiler) comparable(at Position, what string, terms []term) ([]term, sqltype.Type) {
	terms, t := c.common(at, what, terms)
	if t.Kind == sqltype.Array || t.Kind == sqltype.Map {
		c.fail(at, "%s: values of type %s have no order", what, t.Optional())
		return nil, t
	}
	return terms, t
}

// conditionOf is the type of a condition that is NULL if one of the terms is.
func conditionOf(terms []term) sqltype.Type {
	t := sqltype.Of(sqltype.Boolean)
	t.NotNull = !slices.ContainsFunc(terms, func(t term) bool { return !t.typ.NotNull })
	return t
}

// is is IS [NOT] NULL, TRUE, FALSE or UNKNOWN, which never is NULL itself.
func (c *compiler) is(at Position, is *isTest, t term) term {
	what := strings.ToUpper(is.What)
	var want any
	if what != "NULL" {
		t = c.boolean(t, "IS "+what)
	}
	if what == "TRUE" || what == "FALSE" {
		want = what == "TRUE"
	}
	return c.call(at, "is", sqltype.Of(sqltype.Boolean).Required(), func(args []any) (any, error) {
		// Not every value can be compared, so nil is asked for by itself.
		holds := args[0] == nil
		if want != nil {
			holds = args[0] == want
		}
		return holds != is.Not, nil
	}, t)
}

func (c *compiler) between(at Position, t term, b *betweenTest) term {
	terms, typ := c.comparable(at, "BETWEEN", []term{t, c.sum(b.Low), c.sum(b.High)})
	if terms == nil {
		return broken(at)
	}
	return c.call(at, "between", conditionOf(terms), func(args []any) (any, error) {
		v, low, high := args[0], args[1], args[2]
		within := betweenOf(typ.Kind, v, low, high)
		if !b.Symmetric {
			return within, nil
		}
		return junctionOf(within, betweenOf(typ.Kind, v, high, low), true), nil
	}, terms...)
}

func betweenOf(k sqltype.Kind, v, low, high any) any {
	var above, below any
	if v != nil && low != nil {
		above = sqltype.Compare(k, v, low) >= 0
	}
	if v != nil && high != nil {
		below = sqltype.Compare(k, v, high) <= 0
	}
	return junctionOf(above, below, false)
}

// in is a list of comparisons with OR between them: NULL in the list makes the
// result NULL unless another entry is equal.
func (c *compiler) in(at Position, t term, list []*orExpr) term {
	terms := []term{t}
	for _, e := range list {
		terms = append(terms, c.or(e))
	}
	terms, typ := c.comparable(at, "IN", terms)
	if terms == nil {
		return broken(at)
	}
	return c.call(at, "in", conditionOf(terms), func(args []any) (any, error) {
		if args[0] == nil {
			return nil, nil
		}
		var found any = false
		for _, entry := range args[1:] {
			if entry == nil {
				found = nil
			} else if sqltype.Compare(typ.Kind, args[0], entry) == 0 {
				return true, nil
			}
		}
		return found, nil
	}, terms...)
}

// concat joins texts; other values are written as CAST(… AS STRING) does.
func (c *compiler) concat(at Position, terms []term) term {
	text := sqltype.Of(sqltype.Varchar)
	text.NotNull = conditionOf(terms).NotNull
	for i, t := range terms {
		terms[i] = c.text(t, "||")
	}
	return c.call(at, "concat", text, strict(func(args []any) (any, error) {
		s := ""
		for _, a := range args {
			s += a.(string)
		}
		return s, nil
	}), terms...)
}

// text is a term as text.
func (c *compiler) text(t term, what string) term {
	if t.typ.Kind.IsText() || t.typ.Kind == sqltype.Null {
		return t
	}
	if t.typ.Kind.IsBinary() {
		return c.fail(t.at, "%s wants text, not %s: write CAST(… AS STRING)", what, t.typ.Optional())
	}
	return c.convert(t.at, t, sqltype.Of(sqltype.Varchar))
}
