// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"strings"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// Script is a script that can be run.
type Script struct {
	// Tables are in the order of their statements.
	Tables []*Table
	// Inserts are what runs, all in one pipeline.
	Inserts []*Insert
}

// Table is a CREATE TABLE.
type Table struct {
	Name    string
	At      Position
	Columns sqltype.Schema
	Comment string
	// Options are those behind WITH, in their order.
	Options []Option
}

// Option is one setting of a table.
type Option struct {
	Key, Value string
	At         Position
}

// With is the options as a map.
func (t *Table) With() map[string]string {
	m := make(map[string]string, len(t.Options))
	for _, o := range t.Options {
		m[o.Key] = o.Value
	}
	return m
}

// Statement is the table as a CREATE TABLE with all its options, secrets among
// them. [Parse] makes the same table of it.
func (t *Table) Statement() string {
	options := make([]string, len(t.Options))
	for i, o := range t.Options {
		options[i] = sqltype.QuoteText(o.Key) + " = " + sqltype.QuoteText(o.Value)
	}
	return "CREATE TABLE " + sqltype.Quote(t.Name) + " " + t.Columns.String() + " WITH (" + strings.Join(options, ", ") + ")"
}

// Insert is an INSERT INTO … SELECT.
type Insert struct {
	At           Position
	Source, Sink *Table

	// text is the statement as it was written.
	text string
	// targets are the positions in the sink's columns of the values selected.
	targets []int
	query   *selectFrom
}

// Text is the statement as it was written, without comments.
func (i *Insert) Text() string { return strings.TrimSpace(i.text) }

// Portable is a script of both tables' columns and the statement, without the
// tables' options and thus without secrets. [Parse] makes the same Insert of it,
// so that it can travel to workers.
func (i *Insert) Portable() string {
	var b strings.Builder
	b.WriteString(i.text + ";\n")
	tables := []*Table{i.Source}
	if i.Sink != i.Source {
		tables = append(tables, i.Sink)
	}
	for _, t := range tables {
		b.WriteString("CREATE TABLE " + sqltype.Quote(t.Name) + " " + t.Columns.String() + " WITH ('connector' = 'none');\n")
	}
	return b.String()
}

// Parse reads a script. Its error joins an [*Error] for each fault, in the order
// of the script. name is the file's name; it may be empty.
func Parse(name, text string) (*Script, error) {
	sentences, faults := split(name, text)
	s := &Script{}
	var inserts []parsed
	for _, sentence := range sentences {
		stmt, err := parseSentence(sentence)
		switch {
		case err != nil:
			faults = append(faults, err)
		case stmt.Create != nil:
			faults = append(faults, s.addTable(stmt.Create)...)
		default:
			inserts = append(inserts, parsed{stmt.Insert, sentence.text()})
		}
	}
	broken := len(faults) > 0
	for _, p := range inserts {
		insert, more := s.bind(p, broken)
		if len(more) == 0 && insert != nil {
			s.Inserts = append(s.Inserts, insert)
		}
		faults = append(faults, more...)
	}
	if err := joined(faults); err != nil {
		return nil, err
	}
	return s, nil
}

// ParseColumns reads columns as [sqltype.Schema.String] writes them, in which
// form they can be part of a pipeline's graph.
func ParseColumns(text string) (sqltype.Schema, error) {
	s, err := Parse("", "CREATE TABLE t "+text+" WITH ('connector' = 'none')")
	if err != nil {
		return nil, err
	}
	if len(s.Tables) != 1 {
		return nil, fault(Position{1, 1}, "want the columns of one table, in brackets")
	}
	return s.Tables[0].Columns, nil
}

// parsed is an INSERT whose tables are not looked up yet: they may be created
// behind it.
type parsed struct {
	ast  *insertInto
	text string
}

// table finds a table by its name.
func (s *Script) table(name string) *Table {
	for _, t := range s.Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// bind looks up the tables of an INSERT and checks its types.
func (s *Script) bind(p parsed, broken bool) (*Insert, []error) {
	at := positionOf(p.ast.Pos)
	insert := &Insert{At: at, text: p.text, query: &p.ast.Select}
	var faults []error
	insert.Sink, faults = s.lookUp(p.ast.Into, broken, faults)
	insert.Source, faults = s.lookUp(p.ast.Select.From, broken, faults)
	if insert.Sink == nil || insert.Source == nil {
		return nil, faults
	}
	var more []error
	if insert.targets, more = targetsOf(insert.Sink, p.ast.Columns); len(more) > 0 {
		return nil, append(faults, more...)
	}
	c := newCompiler(insert, time.UTC)
	c.insert()
	if len(c.faults) > 0 {
		return nil, append(faults, c.faults...)
	}
	if _, err := c.program(); err != nil {
		return nil, append(faults, fault(at, "%v", err))
	}
	return insert, faults
}

// lookUp finds a table; it does not complain when the statement that creates it
// may be one that could not be read.
func (s *Script) lookUp(n name, broken bool, faults []error) (*Table, []error) {
	t := s.table(n.value())
	if t == nil && !broken {
		faults = append(faults, fault(positionOf(n.Pos), "there is no table %s%s", sqltype.Quote(n.value()), s.known()))
	}
	return t, faults
}

func (s *Script) known() string {
	if len(s.Tables) == 0 {
		return ": the script creates none"
	}
	names := make([]string, len(s.Tables))
	for i, t := range s.Tables {
		names[i] = sqltype.Quote(t.Name)
	}
	return ": the script creates " + strings.Join(names, ", ")
}

// targetsOf is where the values of an INSERT go: to the columns that it names,
// or to all that can be written.
func targetsOf(sink *Table, names []*name) (targets []int, faults []error) {
	if len(names) == 0 {
		_, targets = sink.Columns.Writable()
		return targets, nil
	}
	given := map[int]bool{}
	for _, n := range names {
		at := positionOf(n.Pos)
		i := sink.Columns.Index(n.value())
		switch {
		case i < 0:
			faults = append(faults, fault(at, "table %s has no column %s: it has %s", sqltype.Quote(sink.Name), sqltype.Quote(n.value()), strings.Join(sink.Columns.Names(), ", ")))
		case sink.Columns[i].Virtual:
			faults = append(faults, fault(at, "column %s is VIRTUAL: it is read and cannot be written", sqltype.Quote(n.value())))
		case given[i]:
			faults = append(faults, fault(at, "column %s is named twice", sqltype.Quote(n.value())))
		}
		given[i] = true
		targets = append(targets, i)
	}
	for i, c := range sink.Columns {
		if !given[i] && !c.Virtual && c.Type.NotNull && len(faults) == 0 {
			faults = append(faults, fault(positionOf(names[0].Pos), "column %s is NOT NULL and not among those that are written", sqltype.Quote(c.Name)))
		}
	}
	return targets, faults
}
