// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// Envelope is what a message that was read has beside its body.
type Envelope struct {
	Topic string
	// Ingestion is when the message was read, Event when the producer made it.
	Ingestion, Event time.Time
	QueueID          int32
	QueueOffset      int64
	MessageID        string
	// Keys have blanks between them.
	Keys, Tag  string
	Properties map[string]string
}

// Header is what a message that is written has beside its body.
type Header struct {
	Keys []string
	Tag  string
}

// Layout puts rows of a table together from bodies and envelopes, and takes them
// apart. It is safe for use by several goroutines.
type Layout struct {
	width int
	// body are the positions of the body's columns in the table's.
	body       []int
	attributes []attribute
	// keys and tag are the columns that options name; tag is -1 without one.
	keys []int
	tag  int
	// fixedTag is the tag of all messages.
	fixedTag string
	columns  sqltype.Schema
	zone     *time.Location
	// whole says that the body's columns are those of the table, in their order.
	whole bool
}

// attribute is a column that holds an attribute of messages.
type attribute struct {
	at   int
	key  string
	cast sqltype.Caster
}

// LayoutConfig is what a [Layout] needs of a [Config]. It can be part of a
// pipeline's graph: unlike the whole it holds no secret.
type LayoutConfig struct {
	Connector  string   `json:"connector"`
	Zone       string   `json:"zone,omitempty"`
	KeyColumns []string `json:"key_columns,omitempty"`
	Tag        string   `json:"tag,omitempty"`
	TagColumn  string   `json:"tag_column,omitempty"`
}

// LayoutConfig takes out what a layout needs.
func (c *Config) LayoutConfig() LayoutConfig {
	return LayoutConfig{c.Connector, c.Format.Zone, c.Sink.KeyColumns, c.Sink.Tag, c.Sink.TagColumn}
}

// NewLayout is the layout of a table with these columns, which [Parse] has
// checked together with the options.
func NewLayout(c LayoutConfig, columns sqltype.Schema) (*Layout, error) {
	zone, err := sqltype.LoadZone(c.Zone)
	if err != nil {
		return nil, err
	}
	l := &Layout{width: len(columns), tag: -1, fixedTag: c.Tag, columns: columns, zone: zone}
	_, l.body = columns.Body()
	l.whole = len(l.body) == l.width // the others would hold metadata
	known := Attributes(c.Connector)
	for i, column := range columns {
		if column.Metadata == "" {
			continue
		}
		j := slices.IndexFunc(known, func(a Attribute) bool { return a.Key == column.Metadata })
		if j < 0 {
			return nil, fmt.Errorf("column %s: there is no metadata %q", sqltype.Quote(column.Name), column.Metadata)
		}
		to := column.Type
		if to.Kind.IsText() {
			to = known[j].Type // a CAST would cut text off, see Join
		}
		cast, err := sqltype.CasterOf(known[j].Type, to, zone)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", sqltype.Quote(column.Name), err)
		}
		l.attributes = append(l.attributes, attribute{i, column.Metadata, cast})
	}
	for _, name := range c.KeyColumns {
		if i := columns.Index(name); i >= 0 {
			l.keys = append(l.keys, i)
		}
	}
	if c.TagColumn != "" {
		l.tag = columns.Index(c.TagColumn)
	}
	return l, nil
}

// Join makes a row of the table of a row of the body and what its message has
// beside it. The row may be body itself. The error names the column.
func (l *Layout) Join(body []any, e *Envelope) ([]any, error) {
	if l.whole {
		return body, nil
	}
	row := make([]any, l.width)
	for i, at := range l.body {
		row[at] = body[i]
	}
	for _, a := range l.attributes {
		v, err := a.cast(e.value(a.key))
		if err == nil {
			err = sqltype.Fits(l.columns[a.at].Type, v)
		}
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", sqltype.Quote(l.columns[a.at].Name), err)
		}
		row[a.at] = v
	}
	return row, nil
}

// value is the attribute as its column's type holds it.
func (e *Envelope) value(key string) any {
	switch key {
	case "topic":
		return e.Topic
	case "ingestion-time":
		return e.Ingestion.UTC().Truncate(time.Millisecond)
	case "event-time":
		return e.Event.UTC().Truncate(time.Millisecond)
	case "queue-id":
		return e.QueueID
	case "queue-offset":
		return e.QueueOffset
	case "msg-id":
		return e.MessageID
	case "keys":
		return e.Keys
	case "tags":
		return e.Tag
	}
	properties := make(map[any]any, len(e.Properties))
	for k, v := range e.Properties {
		properties[k] = v
	}
	return properties
}

// Split takes a row for the sink apart: into the values of the body, and what the
// message has beside them. NULL is no key and no tag. The body's values may be row
// itself.
func (l *Layout) Split(row []any) (body []any, h Header, err error) {
	body = row
	if !l.whole {
		body = make([]any, len(l.body))
		for i, at := range l.body {
			body[i] = row[at]
		}
	}
	h.Tag = l.fixedTag
	for _, a := range l.attributes {
		text, ok := row[a.at].(string)
		switch {
		case !ok || l.columns[a.at].Virtual:
		case a.key == "keys":
			h.Keys = append(h.Keys, strings.Fields(text)...)
		case a.key == "tags":
			h.Tag = text
		}
	}
	for _, at := range l.keys {
		if row[at] == nil {
			continue
		}
		key, err := l.text(at, row[at])
		if err == nil && strings.ContainsAny(key, " \t\r\n") {
			err = fmt.Errorf("key %q has a blank, at which brokers take keys apart", sqltype.Shorten(key))
		}
		if err != nil {
			return nil, Header{}, fmt.Errorf("column %s: %w", sqltype.Quote(l.columns[at].Name), err)
		}
		h.Keys = append(h.Keys, key)
	}
	if l.tag >= 0 && row[l.tag] != nil {
		if h.Tag, err = l.text(l.tag, row[l.tag]); err != nil {
			return nil, Header{}, fmt.Errorf("column %s: %w", sqltype.Quote(l.columns[l.tag].Name), err)
		}
	}
	return body, h, nil
}

func (l *Layout) text(at int, v any) (string, error) {
	text, err := sqltype.AppendText(nil, l.columns[at].Type, v, l.zone)
	return string(text), err
}
