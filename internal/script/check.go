// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// insert checks the whole statement.
func (c *compiler) insert() {
	var terms []term
	for _, item := range c.stmt.query.Items {
		terms = append(terms, c.item(item)...)
	}
	if w := c.stmt.query.Where; w != nil {
		t := c.boolean(c.or(w), "WHERE")
		c.where = &t
	}
	if len(c.faults) > 0 {
		return
	}
	if len(terms) != len(c.stmt.targets) {
		at := positionOf(c.stmt.query.Pos)
		c.fail(at, "SELECT gives %d values, INSERT INTO %s takes %d: %s", len(terms), sqltype.Quote(c.stmt.Sink.Name), len(c.stmt.targets), c.targetNames())
		return
	}
	for i, t := range terms {
		c.items = append(c.items, c.stored(t, c.stmt.Sink.Columns[c.stmt.targets[i]]))
	}
}

func (c *compiler) targetNames() string {
	names := make([]string, len(c.stmt.targets))
	for i, target := range c.stmt.targets {
		names[i] = c.stmt.Sink.Columns[target].Name
	}
	return strings.Join(names, ", ")
}

// stored is a term as its column holds it.
func (c *compiler) stored(t term, column sqltype.Column) term {
	from := t.typ
	t = c.as(t, column.Type, "column "+sqltype.Quote(column.Name))
	if !mayNotFit(from, column.Type) {
		return t
	}
	name := sqltype.Quote(column.Name)
	return c.call(t.at, "store", column.Type, func(args []any) (any, error) {
		if err := sqltype.Fits(column.Type, args[0]); err != nil {
			return nil, &StoreError{Column: name, Err: err}
		}
		return args[0], nil
	}, t)
}

// mayNotFit says that values of one type must be looked at before a column takes
// them.
func mayNotFit(from, column sqltype.Type) bool {
	if column.NotNull && !from.NotNull {
		return true
	}
	bounded := column.Kind.IsText() || column.Kind.IsBinary()
	return bounded && column.Length < from.Length
}

// item is one entry of the SELECT list; a star is several.
func (c *compiler) item(item *selectItem) (terms []term) {
	if item.Star == nil {
		return []term{c.or(item.Expr)}
	}
	at := positionOf(item.Pos)
	if item.Alias != nil {
		c.fail(positionOf(item.Alias.Pos), "* stands for several columns and takes no alias")
	}
	if !c.isSource(item.Star.Table) {
		return nil
	}
	for i := range c.stmt.Source.Columns {
		terms = append(terms, c.column(at, i))
	}
	return terms
}

// isSource checks the name before the point of t.x.
func (c *compiler) isSource(table *name) bool {
	if table == nil {
		return true
	}
	want := c.stmt.Source.Name
	if alias := c.stmt.query.Alias; alias != nil {
		want = alias.value()
	}
	if table.value() == want {
		return true
	}
	c.fail(positionOf(table.Pos), "there is no table %s in this statement: it reads from %s", sqltype.Quote(table.value()), sqltype.Quote(want))
	return false
}

func (c *compiler) or(e *orExpr) term {
	terms := make([]term, len(e.Terms))
	for i, each := range e.Terms {
		terms[i] = c.and(each)
	}
	return c.junction("OR", terms)
}

func (c *compiler) and(e *andExpr) term {
	terms := make([]term, len(e.Terms))
	for i, each := range e.Terms {
		terms[i] = c.not(each)
	}
	return c.junction("AND", terms)
}

// junction is AND or OR over terms from left to right. A side that decides keeps
// the others from being evaluated, so that WHERE a <> 0 AND b / a > 1 works.
func (c *compiler) junction(word string, terms []term) term {
	if len(terms) == 1 {
		return terms[0]
	}
	all := c.boolean(terms[0], word)
	for _, next := range terms[1:] {
		all = c.pair(word, all, c.boolean(next, word))
	}
	return all
}

func (c *compiler) pair(word string, a, b term) term {
	t := term{at: a.at, typ: sqltype.Of(sqltype.Boolean), column: -1}
	if a.typ.NotNull && b.typ.NotNull {
		t.typ.NotNull = true
		t.code = "(" + a.code + map[string]string{"AND": " && ", "OR": " || "}[word] + b.code + ")"
		return t
	}
	name := c.variable()
	decides, test := false, "isFalse"
	if word == "OR" {
		decides, test = true, "isTrue"
	}
	rest := c.call(a.at, strings.ToLower(word), t.typ, func(args []any) (any, error) { return junctionOf(args[0], args[1], decides), nil },
		term{code: name}, b)
	t.code = let(name, a, test+"("+name+") ? "+strconv.FormatBool(decides)+" : "+rest.code)
	return t
}

// junctionOf is AND of a and b if decides is false, OR if it is true: a side
// that equals decides is the result, else NULL if there is one.
func junctionOf(a, b any, decides bool) any {
	switch {
	case a == decides || b == decides:
		return decides
	case a == nil || b == nil:
		return nil
	}
	return !decides
}

// boolean checks that a term is a condition.
func (c *compiler) boolean(t term, word string) term {
	switch t.typ.Kind {
	case sqltype.Boolean:
		return t
	case sqltype.Null:
		t.typ = sqltype.Of(sqltype.Boolean)
		return t
	}
	return c.fail(t.at, "%s wants a condition, not a value of type %s", word, t.typ.Optional())
}

func (c *compiler) not(e *notExpr) term {
	t := c.predicate(e.Of)
	if len(e.Not) == 0 {
		return t
	}
	t = c.boolean(t, "NOT")
	if len(e.Not)%2 == 0 {
		return t
	}
	return c.call(positionOf(e.Pos), "not", t.typ, strict(func(args []any) (any, error) { return !args[0].(bool), nil }), t)
}

func (c *compiler) predicate(p *predicate) term {
	left := c.sum(p.Left)
	if p.Test == nil {
		return left
	}
	at, t := positionOf(p.Test.Pos), p.Test
	var out term
	switch {
	case t.Compare != nil:
		out = c.compare(at, t.Compare.Operator, left, c.sum(t.Compare.Right))
	case t.Is != nil:
		return c.is(at, t.Is, left)
	case t.Like != nil:
		out = c.like(at, left, t.Like)
	case t.Between != nil:
		out = c.between(at, left, t.Between)
	default:
		out = c.in(at, left, t.In)
	}
	if t.Not {
		return c.call(at, "not", out.typ, strict(func(args []any) (any, error) { return !args[0].(bool), nil }), out)
	}
	return out
}

func (c *compiler) sum(e *sumExpr) term {
	t := c.product(e.Left)
	for _, tail := range e.Rest {
		t = c.operator(tail.Pos, tail.Operator, t, c.product(tail.Right))
	}
	return t
}

func (c *compiler) product(e *productExpr) term {
	t := c.signed(e.Left)
	for _, tail := range e.Rest {
		t = c.operator(tail.Pos, tail.Operator, t, c.signed(tail.Right))
	}
	return t
}

func (c *compiler) operator(pos lexer.Position, operator string, a, b term) term {
	at := positionOf(pos)
	if operator == "||" {
		return c.concat(at, []term{a, b})
	}
	return c.arithmetic(at, operator, a, b)
}

func (c *compiler) signed(e *signedExpr) term {
	minus := strings.Count(strings.Join(e.Signs, ""), "-")%2 == 1
	if number := e.Of.Of.Number; number != "" && len(e.Of.Index) == 0 && minus {
		// As one literal, so that the smallest BIGINT can be written.
		return c.number(positionOf(e.Pos), "-"+number)
	}
	t := c.index(e.Of)
	if len(e.Signs) == 0 {
		return t
	}
	if !t.typ.Kind.IsNumeric() && t.typ.Kind != sqltype.Null {
		return c.fail(t.at, "a sign stands before a value of type %s, which is no number", t.typ.Optional())
	}
	if !minus {
		return t
	}
	return c.negate(positionOf(e.Pos), t)
}

func (c *compiler) index(e *indexExpr) term {
	t := c.primary(e.Of)
	for _, key := range e.Index {
		t = c.element(t, c.or(key))
	}
	return t
}

// element is map[key] or array[position]; what is not there is NULL.
func (c *compiler) element(of, key term) term {
	switch of.typ.Kind {
	case sqltype.Null:
		return of
	case sqltype.Map:
		key = c.as(key, of.typ.Key.Required(), "key of "+of.typ.Optional().String())
		return c.call(key.at, "entry", of.typ.Element.Optional(), strict(func(args []any) (any, error) { return args[0].(map[any]any)[args[1]], nil }), of, key)
	case sqltype.Array:
		key = c.as(key, sqltype.Of(sqltype.BigInt), "position in "+of.typ.Optional().String())
		return c.call(key.at, "element", of.typ.Element.Optional(), strict(func(args []any) (any, error) {
			values, n := args[0].([]any), args[1].(int64)
			if n < 1 || n > int64(len(values)) {
				return nil, nil
			}
			return values[n-1], nil
		}), of, key)
	}
	return c.fail(of.at, "[…] stands behind a value of type %s: want ARRAY or MAP", of.typ.Optional())
}
