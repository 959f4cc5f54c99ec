// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"strconv"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// addTable makes a table of a CREATE TABLE.
func (s *Script) addTable(ast *createTable) (faults []error) {
	at := positionOf(ast.Pos)
	t := &Table{Name: ast.Name.value(), At: at, Comment: unquoted(ast.Comment)}
	if s.table(t.Name) != nil {
		return []error{fault(positionOf(ast.Name.Pos), "table %s is created twice", sqltype.Quote(t.Name))}
	}
	for _, def := range ast.Columns {
		column, err := columnOf(def)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if t.Columns.Index(column.Name) >= 0 {
			faults = append(faults, fault(positionOf(def.Pos), "column %s is there twice", sqltype.Quote(column.Name)))
		}
		t.Columns = append(t.Columns, column)
	}
	if len(ast.With) == 0 {
		faults = append(faults, fault(at, "table %s has no WITH ('connector' = …)", sqltype.Quote(t.Name)))
	}
	seen := map[string]bool{}
	for _, o := range ast.With {
		option := Option{Key: unquote(o.Key), Value: unquote(o.Value), At: positionOf(o.Pos)}
		if seen[option.Key] {
			faults = append(faults, fault(option.At, "option %s is there twice", sqltype.QuoteText(option.Key)))
		}
		seen[option.Key] = true
		t.Options = append(t.Options, option)
	}
	if len(faults) == 0 {
		s.Tables = append(s.Tables, t)
	}
	return faults
}

func columnOf(def *columnDef) (sqltype.Column, error) {
	t, err := typeOf(&def.Type)
	if err != nil {
		return sqltype.Column{}, err
	}
	c := sqltype.Column{Name: def.Name.value(), Type: t, Comment: unquoted(def.Comment)}
	if m := def.Metadata; m != nil {
		c.Metadata, c.Virtual = c.Name, m.Virtual
		if m.From != nil {
			c.Metadata = unquote(*m.From)
		}
		if c.Metadata == "" {
			return sqltype.Column{}, fault(positionOf(def.Pos), "METADATA FROM '' names no key")
		}
	}
	return c, nil
}

// typeOf is the type that the words of a type stand for.
func typeOf(spec *typeSpec) (sqltype.Type, error) {
	at := positionOf(spec.Pos)
	t, err := rootOf(spec)
	if err != nil {
		return sqltype.Type{}, err
	}
	if t.Kind == sqltype.Null {
		return sqltype.Type{}, fault(at, "a column cannot be of type NULL")
	}
	t.NotNull = spec.NotNull
	return t, nil
}

func rootOf(spec *typeSpec) (sqltype.Type, error) {
	at := positionOf(spec.Pos)
	elements := make([]sqltype.Type, len(spec.Elements))
	for i, e := range spec.Elements {
		var err error
		if elements[i], err = typeOf(e); err != nil {
			return sqltype.Type{}, err
		}
	}
	words := append([]string{spec.Name}, spec.Zone...)
	if spec.More != "" {
		words = append(words, spec.More)
	}
	word := strings.ToUpper(strings.Join(words, " "))
	switch {
	case word == "ARRAY" && len(elements) == 1:
		return sqltype.ArrayOf(elements[0]), nil
	case word == "MAP" && len(elements) == 2:
		t, err := sqltype.MapOf(elements[0], elements[1])
		if err != nil {
			err = fault(at, "%v", err)
		}
		return t, err
	case word == "ARRAY" || word == "MAP" || len(elements) > 0 && word != "ROW" && word != "MULTISET":
		return sqltype.Type{}, fault(at, "type %s: want ARRAY<type> or MAP<type, type>", word)
	}
	args := make([]int, len(spec.Args))
	for i, a := range spec.Args {
		n, err := strconv.Atoi(a)
		if err != nil {
			return sqltype.Type{}, fault(at, "type %s(%s): want a whole number", word, a)
		}
		args[i] = n
	}
	t, err := sqltype.Named(word, args...)
	if err != nil {
		err = fault(at, "%v", err)
	}
	return t, err
}
