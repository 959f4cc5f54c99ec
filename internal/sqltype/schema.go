// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltype

import (
	"fmt"
	"strings"
)

// Column is one column of a table.
type Column struct {
	Name string
	Type Type
	// Metadata is the key of the message's attribute that the column holds;
	// empty for a column of the message's body.
	Metadata string
	// Virtual says that the column is read and not written.
	Virtual bool
	// Comment is for people.
	Comment string
}

// Schema is the columns of a table in their order.
type Schema []Column

// Index is the column's position, or -1. Names count upper and lower case.
func (s Schema) Index(name string) int {
	for i, c := range s {
		if c.Name == name {
			return i
		}
	}
	return -1
}

// Body is the columns of the message's body, with their positions in s.
func (s Schema) Body() (Schema, []int) {
	return s.filter(func(c Column) bool { return c.Metadata == "" })
}

// Attributes is the metadata columns, with their positions in s.
func (s Schema) Attributes() (Schema, []int) {
	return s.filter(func(c Column) bool { return c.Metadata != "" })
}

// Writable is the columns that an INSERT fills, with their positions in s.
func (s Schema) Writable() (Schema, []int) {
	return s.filter(func(c Column) bool { return !c.Virtual })
}

func (s Schema) filter(keep func(Column) bool) (out Schema, positions []int) {
	for i, c := range s {
		if keep(c) {
			out, positions = append(out, c), append(positions, i)
		}
	}
	return out, positions
}

// Names is the columns' names, for messages.
func (s Schema) Names() []string {
	names := make([]string, len(s))
	for i, c := range s {
		names[i] = c.Name
	}
	return names
}

// Quote is an identifier in back quotes.
func Quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// QuoteText is a literal in single quotes.
func QuoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// String is the column as a CREATE TABLE has it.
func (c Column) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", Quote(c.Name), c.Type)
	if c.Metadata != "" {
		b.WriteString(" METADATA")
		if c.Metadata != c.Name {
			fmt.Fprintf(&b, " FROM %s", QuoteText(c.Metadata))
		}
	}
	if c.Virtual {
		b.WriteString(" VIRTUAL")
	}
	if c.Comment != "" {
		fmt.Fprintf(&b, " COMMENT %s", QuoteText(c.Comment))
	}
	return b.String()
}

// String is the columns as a CREATE TABLE has them, in brackets.
func (s Schema) String() string {
	parts := make([]string, len(s))
	for i, c := range s {
		parts[i] = c.String()
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
