// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// Attribute is an attribute of messages that a column can hold by METADATA.
type Attribute struct {
	Key  string
	Type sqltype.Type
	// Writable says that an INSERT sets it.
	Writable bool
	Meaning  string
}

// Attributes are those that tables of a connector have.
func Attributes(connector string) []Attribute {
	if connector == GRPC {
		return nil
	}
	text := sqltype.Of(sqltype.Varchar).Required()
	instant := sqltype.Type{Kind: sqltype.TimestampLTZ, Precision: 3, NotNull: true}
	properties, err := sqltype.MapOf(sqltype.Of(sqltype.Varchar), sqltype.Of(sqltype.Varchar))
	if err != nil {
		panic(err) // text can be a key
	}
	return []Attribute{
		{"topic", text, false, "Topic."},
		{"ingestion-time", instant, false, "When the message was read."},
		{"event-time", instant, false, "When the producer made the message."},
		{"queue-id", sqltype.Of(sqltype.Int).Required(), false, "Queue, from 0."},
		{"queue-offset", sqltype.Of(sqltype.BigInt).Required(), false, "Position in the queue."},
		{"msg-id", text, false, "The message's id."},
		{"keys", text, true, "Keys, with blanks between them."},
		{"tags", text, true, "Tag."},
		{"properties", properties.Required(), false, "Properties that the producer set."},
	}
}

// checkColumns judges the columns by connector and options.
func (o *options) checkColumns(use Use, columns sqltype.Schema) {
	o.checkAttributes(columns)
	if use&Write != 0 {
		o.checkSinkColumns(columns)
	}
	o.settleFormat(columns)
}

func (o *options) checkAttributes(columns sqltype.Schema) {
	known := Attributes(o.config.Connector)
	for _, c := range columns {
		if c.Metadata == "" {
			continue
		}
		i := slices.IndexFunc(known, func(a Attribute) bool { return a.Key == c.Metadata })
		switch {
		case len(known) == 0:
			o.column(c, "connector %s reads values only: it has no metadata", o.config.Connector)
		case i < 0:
			o.column(c, "there is no metadata %s: want one of %s", sqltype.QuoteText(c.Metadata), strings.Join(attributeKeys(known), ", "))
		case !known[i].Writable && !c.Virtual:
			o.column(c, "metadata %s can only be read: declare the column VIRTUAL", sqltype.QuoteText(c.Metadata))
		case !sqltype.Implicit(known[i].Type, c.Type):
			o.column(c, "metadata %s is %s, which does not go into %s", sqltype.QuoteText(c.Metadata), known[i].Type, c.Type.Optional())
		}
	}
}

func attributeKeys(attributes []Attribute) []string {
	keys := make([]string, len(attributes))
	for i, a := range attributes {
		keys[i] = a.Key
	}
	return keys
}

func (o *options) column(c sqltype.Column, reason string, args ...any) {
	o.faults = append(o.faults, fmt.Errorf("column %s: %s", sqltype.Quote(c.Name), fmt.Sprintf(reason, args...)))
}

// checkSinkColumns finds the columns that options name.
func (o *options) checkSinkColumns(columns sqltype.Schema) {
	s := o.config.Sink
	for _, name := range s.KeyColumns {
		o.checkNamed("rocketmq.sink.key.columns", name, columns)
	}
	if s.TagColumn != "" {
		o.checkNamed(dynamicTagColumn, s.TagColumn, columns)
	}
	for _, c := range columns {
		if c.Virtual {
			continue
		}
		switch {
		case c.Metadata == "keys" && len(s.KeyColumns) > 0:
			o.column(c, "it sets the keys, and so does 'rocketmq.sink.key.columns': use one of both")
		case c.Metadata == "tags" && (s.TagColumn != "" || s.Tag != ""):
			o.column(c, "it sets the tag, and so does an option: use one of both")
		}
	}
}

func (o *options) checkNamed(key, name string, columns sqltype.Schema) {
	i := columns.Index(name)
	switch {
	case i < 0:
		o.fail(key, "the table has no column %s: it has %s", sqltype.Quote(name), strings.Join(columns.Names(), ", "))
	case columns[i].Virtual:
		o.fail(key, "column %s is VIRTUAL: it is read and not written", sqltype.Quote(name))
	case columns[i].Type.Kind == sqltype.Array || columns[i].Type.Kind == sqltype.Map || columns[i].Type.Kind.IsBinary():
		o.fail(key, "column %s is %s, which has no text", sqltype.Quote(name), columns[i].Type)
	}
}
