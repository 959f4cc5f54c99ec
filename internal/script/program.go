// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
)

// StoreError is a value that a column of the sink cannot hold, though its type
// goes there.
type StoreError struct {
	// Column is the column's name in back quotes.
	Column string
	Err    error
}

// Error names the column.
func (e *StoreError) Error() string { return fmt.Sprintf("column %s: %v", e.Column, e.Err) }

// Unwrap gives the reason.
func (e *StoreError) Unwrap() error { return e.Err }

// Program works on the rows of one INSERT. It is for one goroutine.
type Program struct {
	machine vm.VM
	where   *vm.Program
	values  *vm.Program
	// sources says for each of the sink's columns where its value comes from.
	sources []source
	// whole says that they are the first columns of the row, in their order.
	whole bool
}

// source is where a value comes from: from a column of the row, from a value
// that the engine gave, or it is NULL.
type source struct {
	from  origin
	index int
}

type origin uint8

const (
	fromNowhere origin = iota
	fromColumn
	fromValue
)

// Program makes a program that works on rows. zone is the one in which instants
// become clocks and text, and back; nil is UTC.
func (i *Insert) Program(zone *time.Location) (*Program, error) {
	if zone == nil {
		zone = time.UTC
	}
	c := newCompiler(i, zone)
	c.insert()
	if err := joined(c.faults); err != nil {
		return nil, err
	}
	return c.program()
}

func (c *compiler) program() (*Program, error) {
	p := &Program{sources: make([]source, len(c.stmt.Sink.Columns))}
	var codes []string
	for i, t := range c.items {
		target := c.stmt.targets[i]
		if t.column >= 0 {
			p.sources[target] = source{fromColumn, t.column}
			continue
		}
		p.sources[target] = source{fromValue, len(codes)}
		codes = append(codes, t.code)
	}
	p.whole = len(codes) == 0
	for i, s := range p.sources {
		p.whole = p.whole && s == source{fromColumn, i}
	}
	var err error
	if len(codes) > 0 {
		if p.values, err = c.compile("[" + strings.Join(codes, ", ") + "]"); err != nil {
			return nil, err
		}
	}
	if c.where != nil {
		if p.where, err = c.compile(c.where.code); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// compile hands code to the engine. The number of its nodes is bounded by the
// number of the statement's tokens already.
func (c *compiler) compile(code string) (*vm.Program, error) {
	return expr.Compile(code, append([]expr.Option{expr.MaxNodes(0), expr.DisableAllBuiltins()}, c.functions...)...)
}

// Eval gives the row for the sink, in the order of all of its columns, those
// that are virtual being NULL; keep is false if WHERE does not hold. It may be part
// of the row that was given. The error
// is an *[EvalError] that names the place in the script.
func (p *Program) Eval(row []any) (out []any, keep bool, err error) {
	if p.where != nil {
		holds, err := p.run(p.where, row)
		if err != nil || holds != true {
			return nil, false, err
		}
	}
	if p.whole {
		return row[:len(p.sources):len(p.sources)], true, nil
	}
	var values []any
	if p.values != nil {
		v, err := p.run(p.values, row)
		if err != nil {
			return nil, false, err
		}
		values = v.([]any)
	}
	out = make([]any, len(p.sources))
	for i, s := range p.sources {
		switch s.from {
		case fromColumn:
			out[i] = row[s.index]
		case fromValue:
			out[i] = values[s.index]
		}
	}
	return out, true, nil
}

func (p *Program) run(program *vm.Program, row []any) (any, error) {
	v, err := p.machine.Run(program, row)
	var own *EvalError
	if errors.As(err, &own) {
		return nil, own // the engine's own error shows its code, which nobody wrote
	}
	return v, err
}
