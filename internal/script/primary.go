// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

func (c *compiler) primary(p *primary) term {
	at := positionOf(p.Pos)
	switch {
	case p.Case != nil:
		return c.caseOf(at, p.Case)
	case p.Cast != nil:
		return c.cast(at, p.Cast)
	case p.Null:
		return c.constant(at, sqltype.Type{}, nil)
	case p.Boolean != "":
		v := strings.EqualFold(p.Boolean, "TRUE")
		t := term{at: at, typ: sqltype.Of(sqltype.Boolean).Required(), column: -1, literal: true, value: v, code: strconv.FormatBool(v)}
		return t
	case p.Number != "":
		return c.number(at, p.Number)
	case p.String != nil:
		return c.constant(at, sqltype.Of(sqltype.Varchar), unquote(*p.String))
	case p.Instant != nil:
		return c.instant(at, p.Instant)
	case p.Call != nil:
		return c.function(at, p.Call)
	case p.Column != nil:
		return c.columnRef(p.Column)
	}
	return c.or(p.Inner)
}

// number is a literal: INT or BIGINT without a point, DECIMAL with one, DOUBLE
// with an exponent.
func (c *compiler) number(at Position, text string) term {
	if strings.ContainsAny(text, "eE") {
		return c.parsed(at, sqltype.Of(sqltype.Double), text)
	}
	whole, fraction, point := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	if !point {
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err == nil && int64(int32(n)) == n:
			return c.constant(at, sqltype.Of(sqltype.Int), int32(n))
		case err == nil:
			return c.constant(at, sqltype.Of(sqltype.BigInt), n)
		}
	}
	precision := max(len(whole)+len(fraction), 1)
	t, err := sqltype.Named("DECIMAL", precision, len(fraction))
	if err != nil {
		return c.fail(at, "number %s has too many digits", sqltype.Shorten(text))
	}
	return c.parsed(at, t, text)
}

// parsed is a literal that is read as its type reads text.
func (c *compiler) parsed(at Position, t sqltype.Type, text string) term {
	parse, err := sqltype.TextParser(t, c.zone)
	if err != nil {
		return c.fail(at, "%v", err)
	}
	v, err := parse(text)
	if err != nil {
		return c.fail(at, "%s as %s: %v", sqltype.Shorten(text), t, err)
	}
	return c.constant(at, t, v)
}

// instant is DATE '…', TIME '…' or TIMESTAMP '…'.
func (c *compiler) instant(at Position, i *instant) term {
	kind := strings.ToUpper(i.Kind)
	t, err := sqltype.Named(kind)
	if err != nil {
		return c.fail(at, "%v", err)
	}
	text := unquote(i.Text)
	if _, fraction, ok := strings.Cut(text, "."); ok && t.Kind != sqltype.Date {
		t.Precision = min(len(fraction), 9)
	} else if !ok {
		t.Precision = 0
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return c.fail(at, "%s %s: want a date or time as SQL writes it", kind, sqltype.QuoteText(text))
	}
	return c.parsed(at, t, text)
}

func (c *compiler) columnRef(ref *columnRef) term {
	at := positionOf(ref.Name.Pos)
	if ref.Table != nil {
		at = positionOf(ref.Table.Pos)
	}
	if !c.isSource(ref.Table) {
		return broken(at)
	}
	name := ref.Name.value()
	i := c.stmt.Source.Columns.Index(name)
	if i < 0 {
		return c.fail(at, "table %s has no column %s%s", sqltype.Quote(c.stmt.Source.Name), sqltype.Quote(name), c.nearest(name))
	}
	return c.column(at, i)
}

// nearest is a hint at the column that was perhaps meant.
func (c *compiler) nearest(name string) string {
	best, distance := "", 3
	for _, column := range c.stmt.Source.Columns {
		if d := levenshtein.ComputeDistance(strings.ToLower(column.Name), strings.ToLower(name)); d < distance {
			best, distance = column.Name, d
		}
	}
	if best == "" {
		return ": it has " + strings.Join(c.stmt.Source.Columns.Names(), ", ")
	}
	return ": do you mean " + sqltype.Quote(best) + "?"
}

// caseOf is CASE. The arms are looked at from top to bottom, and no further than
// to the one that is taken.
func (c *compiler) caseOf(at Position, e *caseExpr) term {
	results := make([]term, 0, len(e.Arms)+1)
	for _, arm := range e.Arms {
		results = append(results, c.or(arm.Then))
	}
	if e.Else != nil {
		results = append(results, c.or(e.Else))
	} else {
		results = append(results, c.constant(at, sqltype.Type{}, nil))
	}
	results, t := c.common(at, "results of CASE", results)
	if results == nil {
		return broken(at)
	}
	value, operand := c.operand(e)
	code := results[len(e.Arms)].code
	for i := len(e.Arms) - 1; i >= 0; i-- {
		when := c.or(e.Arms[i].When)
		if e.Operand != nil {
			when = c.compare(when.at, "=", operand, when)
		}
		when = c.boolean(when, "WHEN")
		code = "(isTrue(" + when.code + ") ? " + results[i].code + " : " + code + ")"
	}
	out := term{at: at, typ: t, column: -1, code: code}
	if e.Operand != nil {
		out.code = let(operand.code, value, code)
	}
	return out
}

// operand is the value behind CASE, if there is one, and the name by which the
// arms know it.
func (c *compiler) operand(e *caseExpr) (value, operand term) {
	if e.Operand == nil {
		return term{}, term{}
	}
	value = c.or(e.Operand)
	operand = value
	operand.code, operand.column, operand.literal = c.variable(), -1, false
	return value, operand
}

func (c *compiler) cast(at Position, e *castExpr) term {
	t := c.or(e.Of)
	to, err := typeOf(&e.Type)
	if err != nil {
		c.faults = append(c.faults, err)
		return broken(at)
	}
	to.NotNull = t.typ.NotNull
	cast, err := sqltype.CasterOf(t.typ, to, c.zone)
	if err != nil {
		return c.fail(at, "%v", err)
	}
	if !e.Try {
		return c.call(at, "cast", to, strict(func(args []any) (any, error) { return cast(args[0]) }), t)
	}
	return c.call(at, "tryCast", to.Optional(), strict(func(args []any) (any, error) {
		v, err := cast(args[0])
		if err != nil {
			return nil, nil
		}
		return v, nil
	}), t)
}
