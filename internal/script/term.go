// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"fmt"
	"strings"
	"time"

	"github.com/expr-lang/expr"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// term is an expression whose type is known, in the language of the engine.
type term struct {
	at   Position
	typ  sqltype.Type
	code string
	// column is its position in the source if the term is a column, else -1.
	column int
	// literal says that value is the term's value.
	literal bool
	value   any
}

// broken is the term of an expression that has a fault. It has the type of NULL,
// which goes with all others, so that one fault does not make further ones.
func broken(at Position) term { return term{at: at, code: "nil", column: -1} }

// compiler checks the types of one INSERT and writes its expressions in the
// language of the engine.
type compiler struct {
	stmt      *Insert
	zone      *time.Location
	functions []expr.Option
	variables int
	faults    []error
	items     []term // one for each target
	where     *term
}

func newCompiler(stmt *Insert, zone *time.Location) *compiler {
	c := &compiler{stmt: stmt, zone: zone}
	c.functions = append(c.functions,
		expr.Function("isTrue", func(args ...any) (any, error) { return args[0] == true, nil }, new(func(any) bool)),
		expr.Function("isFalse", func(args ...any) (any, error) { return args[0] == false, nil }, new(func(any) bool)))
	return c
}

func (c *compiler) fail(at Position, format string, args ...any) term {
	c.faults = append(c.faults, fault(at, format, args...))
	return broken(at)
}

// function is a Go function that the engine calls. Values are as package sqltype
// has them.
type function func(args []any) (any, error)

// strict makes a function give NULL if one of its arguments is NULL.
func strict(f function) function {
	return func(args []any) (any, error) {
		for _, a := range args {
			if a == nil {
				return nil, nil
			}
		}
		return f(args)
	}
}

// call is a term that calls f. The name is for people who look at the code.
func (c *compiler) call(at Position, name string, t sqltype.Type, f function, args ...term) term {
	codes := make([]string, len(args))
	for i, a := range args {
		codes[i] = a.code
	}
	return term{at: at, typ: t, column: -1, code: c.define(at, name, f) + "(" + strings.Join(codes, ", ") + ")"}
}

// define makes f known to the engine under a name of its own.
func (c *compiler) define(at Position, name string, f function) string {
	name = fmt.Sprintf("%s_%d", name, len(c.functions))
	c.functions = append(c.functions, expr.Function(name, func(args ...any) (any, error) {
		v, err := f(args)
		if err != nil {
			return nil, &EvalError{at, err}
		}
		return v, nil
	}))
	return name
}

// constant is a literal.
func (c *compiler) constant(at Position, t sqltype.Type, v any) term {
	if v == nil {
		return term{at: at, typ: t.Optional(), code: "nil", column: -1, literal: true}
	}
	out := c.call(at, "literal", t.Required(), func([]any) (any, error) { return v, nil })
	out.literal, out.value = true, v
	return out
}

// variable is a name for a value that is used more than once.
func (c *compiler) variable() string {
	c.variables++
	return fmt.Sprintf("v%d", c.variables)
}

// let evaluates a term once and gives it a name within body.
func let(name string, value term, body string) string {
	return "(let " + name + " = " + value.code + "; " + body + ")"
}

// column is a term that reads a column of the row.
func (c *compiler) column(at Position, i int) term {
	out := c.call(at, "column", c.stmt.Source.Columns[i].Type, func(args []any) (any, error) { return args[0].([]any)[i], nil },
		term{code: "$env"})
	out.column = i
	return out
}

// as turns a term into a type to which it goes without a CAST; why tells people
// where it stands.
func (c *compiler) as(t term, to sqltype.Type, why string) term {
	if t.typ.Kind == sqltype.Null {
		t.typ = to.Optional()
		return t
	}
	if t.typ.Same(to) {
		return t
	}
	if read, ok := c.literalAs(t, to); ok {
		return read
	}
	if !sqltype.Implicit(t.typ, to) {
		return c.fail(t.at, "%s is %s, want %s: write CAST(… AS %s)", why, t.typ.Optional(), to.Optional(), to.Optional())
	}
	return c.convert(t.at, t, to)
}

// literalAs reads a text literal as a date or time, as SQL allows where one is
// compared with one.
func (c *compiler) literalAs(t term, to sqltype.Type) (term, bool) {
	text, ok := t.value.(string)
	if !ok || !t.literal || !to.Kind.IsTemporal() {
		return term{}, false
	}
	parse, err := sqltype.TextParser(to, c.zone)
	if err != nil {
		return term{}, false
	}
	v, err := parse(text)
	if err != nil {
		return c.fail(t.at, "%s as %s: %v", sqltype.QuoteText(sqltype.Shorten(text)), to.Optional(), err), true
	}
	return c.constant(t.at, to, v), true
}

// convert is a CAST that the types allow.
func (c *compiler) convert(at Position, t term, to sqltype.Type) term {
	to.NotNull = t.typ.NotNull
	if t.typ.Kind.IsText() && to.Kind.IsText() || t.typ.Kind.IsBinary() && to.Kind.IsBinary() {
		t.typ = to // lengths are left to the values, and judged where they are stored
		return t
	}
	cast, err := sqltype.CasterOf(t.typ, to, c.zone)
	if err != nil {
		return c.fail(at, "%v", err)
	}
	if t.literal && t.value != nil {
		v, err := cast(t.value)
		if err != nil {
			return c.fail(at, "%v", err)
		}
		return c.constant(at, to, v)
	}
	return c.call(at, "convert", to, strict(func(args []any) (any, error) { return cast(args[0]) }), t)
}

// common turns terms into the type that all go to without a CAST.
func (c *compiler) common(at Position, what string, terms []term) ([]term, sqltype.Type) {
	t := terms[0].typ
	for _, other := range terms[1:] {
		next, ok := sqltype.Common(t, other.typ)
		if !ok {
			next, ok = c.temporalOf(t, other, terms)
		}
		if !ok {
			return nil, c.fail(at, "%s: %s and %s do not go together, use CAST", what, t.Optional(), other.typ.Optional()).typ
		}
		t = next
	}
	out := make([]term, len(terms))
	for i, each := range terms {
		out[i] = c.as(each, t, what)
	}
	return out, t
}

// temporalOf lets text literals stand beside dates and times.
func (c *compiler) temporalOf(t sqltype.Type, other term, terms []term) (sqltype.Type, bool) {
	for _, each := range terms {
		if each.typ.Kind.IsText() && !each.literal {
			return sqltype.Type{}, false
		}
	}
	switch {
	case t.Kind.IsTemporal() && other.typ.Kind.IsText():
		return t, true
	case t.Kind.IsText() && other.typ.Kind.IsTemporal():
		return other.typ, true
	}
	return sqltype.Type{}, false
}
