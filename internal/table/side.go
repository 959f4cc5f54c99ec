// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"errors"
	"fmt"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/connector"
	"github.com/rocketmq-beam/rocketmq-beam/internal/format"
	"github.com/rocketmq-beam/rocketmq-beam/internal/script"
	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// Declared is a table and what its options come to for one use of it.
type Declared struct {
	*script.Table
	Config *connector.Config
}

// Declare reads a CREATE TABLE and its options for a use. The connector must be
// one of those given: each package reads and writes its own.
func Declare(statement string, use connector.Use, connectors ...string) (*Declared, error) {
	s, err := script.Parse("", statement)
	if err != nil {
		return nil, err
	}
	if len(s.Tables) != 1 || len(s.Inserts) != 0 {
		return nil, fmt.Errorf("want one CREATE TABLE, not %d tables and %d INSERT statements", len(s.Tables), len(s.Inserts))
	}
	d, err := Settle(s.Tables[0], use)
	if err != nil {
		return nil, err
	}
	for _, c := range connectors {
		if d.Config.Connector == c {
			return d, nil
		}
	}
	return nil, fmt.Errorf("table %s: 'connector' = '%s': want one of %q here", sqltype.Quote(d.Name), d.Config.Connector, connectors)
}

// Settle reads the options of a table for what is done with it. Its error names
// the table, and joins all faults.
func Settle(t *script.Table, use connector.Use) (*Declared, error) {
	c, err := connector.Parse(t.With(), use, t.Columns)
	if err != nil {
		return nil, &OptionError{Table: t, Err: err}
	}
	return &Declared{Table: t, Config: c}, nil
}

// OptionError is that options of a table are at fault.
type OptionError struct {
	Table *script.Table
	Err   error
}

// Error has a line for each fault, with the place of the option where there is
// one.
func (e *OptionError) Error() string {
	faults := []error{e.Err}
	if joined, ok := e.Err.(interface{ Unwrap() []error }); ok {
		faults = joined.Unwrap()
	}
	lines := make([]error, len(faults))
	for i, fault := range faults {
		at := e.place(fault)
		lines[i] = fmt.Errorf("line %d, column %d: table %s: %w", at.Line, at.Column, sqltype.Quote(e.Table.Name), fault)
	}
	return errors.Join(lines...).Error()
}

// Unwrap gives the faults.
func (e *OptionError) Unwrap() error { return e.Err }

func (e *OptionError) place(fault error) script.Position {
	var f *connector.Fault
	if errors.As(fault, &f) {
		for _, o := range e.Table.Options {
			if o.Key == f.Key {
				return o.At
			}
		}
	}
	return e.Table.At
}

// Side is one side of a transform, as it travels to workers: how messages of a
// table and its rows become each other.
type Side struct {
	// Table is the table's name, for errors.
	Table string `json:"table"`
	// Columns are as a CREATE TABLE has them.
	Columns string                 `json:"columns"`
	Layout  connector.LayoutConfig `json:"layout"`
	Format  format.Config          `json:"format"`
	// SkipErrors counts rows that cannot be read, instead of failing.
	SkipErrors bool `json:"skip_errors,omitempty"`
}

// Side takes out of a table what workers need.
func (d *Declared) Side() Side {
	return Side{
		Table: d.Name, Columns: d.Columns.String(), Layout: d.Config.LayoutConfig(), Format: d.Config.Format,
		SkipErrors: d.Config.OnDecodeError == connector.SkipErrors,
	}
}

// parts is a side as it works.
type parts struct {
	table   string
	columns sqltype.Schema
	format  format.Format
	layout  *connector.Layout
	zone    *time.Location
}

func (s *Side) open() (p parts, err error) {
	p.table = sqltype.Quote(s.Table)
	defer func() {
		if err != nil {
			err = fmt.Errorf("table %s: %w", p.table, err)
		}
	}()
	if p.columns, err = script.ParseColumns(s.Columns); err != nil {
		return p, err
	}
	if p.zone, err = sqltype.LoadZone(s.Layout.Zone); err != nil {
		return p, err
	}
	body, _ := p.columns.Body()
	if p.format, err = format.New(s.Format, body); err != nil {
		return p, err
	}
	p.layout, err = connector.NewLayout(s.Layout, p.columns)
	return p, err
}
