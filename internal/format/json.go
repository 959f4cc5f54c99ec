// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// jsonObjects is an object for each row. A body is one object, or an array of
// them when it is read. Keys that are no columns are ignored; null, and a column
// that is missing, are NULL. Binary is base64, text takes any value: of numbers,
// objects and arrays the JSON that stands there.
type jsonObjects struct {
	columns sqltype.Schema
	readers []jsonReader
	keys    [][]byte // "name":
	write   jsonWriter
	strict  bool
}

func newJSON(c Config, columns sqltype.Schema, zone *time.Location) (Format, error) {
	if set, err := newCharset(c.Charset); err != nil || set.encoding != nil {
		return nil, fmt.Errorf("format json has the encoding UTF-8, not %s", c.Charset)
	}
	style := c.Timestamps
	if style == "" {
		style = StyleSQL
	}
	if style != StyleSQL && style != StyleISO {
		return nil, fmt.Errorf("timestamp format %q: want %s or %s", style, StyleSQL, StyleISO)
	}
	f := &jsonObjects{columns: columns, strict: c.FailOnMissingField, write: jsonWriter{style: style}}
	for _, column := range columns {
		read, err := jsonReaderOf(column.Type, zone)
		if err != nil {
			return nil, fmt.Errorf("format json, column %s: %w", sqltype.Quote(column.Name), err)
		}
		f.readers = append(f.readers, read)
		f.keys = append(f.keys, append(appendJSONString(nil, column.Name), ':'))
	}
	return f, nil
}

// Decode implements [Format].
func (f *jsonObjects) Decode(body []byte) (out Result) {
	if !utf8.Valid(body) {
		out.Faults = append(out.Faults, rowFault(JSON, 1, "", fmt.Errorf("%w: the body is not UTF-8", ErrCharset)))
		return out
	}
	objects := []json.RawMessage{body}
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '[' {
		if err := json.Unmarshal(body, &objects); err != nil {
			out.Faults = append(out.Faults, rowFault(JSON, 1, string(body), fmt.Errorf("%w: %w", ErrStructure, err)))
			return out
		}
	}
	for i, object := range objects {
		row, fault := f.decodeObject(i+1, object)
		if fault != nil {
			out.Faults = append(out.Faults, fault)
			continue
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

func (f *jsonObjects) decodeObject(number int, object json.RawMessage) ([]any, *DecodeError) {
	var fields map[string]json.RawMessage
	var other *json.UnmarshalTypeError // its text names types of Go
	switch err := json.Unmarshal(object, &fields); {
	case err == nil && fields == nil, errors.As(err, &other):
		return nil, rowFault(JSON, number, string(object), fmt.Errorf("%w: want an object", ErrStructure))
	case err != nil:
		return nil, rowFault(JSON, number, string(object), fmt.Errorf("%w: %w", ErrStructure, err))
	}
	row := make([]any, len(f.columns))
	for i, column := range f.columns {
		text, ok := fields[column.Name]
		if !ok && f.strict {
			return nil, columnFault(JSON, number, column, "", ErrMissingField)
		}
		if !ok || string(text) == "null" {
			if column.Type.NotNull {
				return nil, columnFault(JSON, number, column, "", ErrNull)
			}
			continue
		}
		v, err := f.readers[i](text)
		if err != nil {
			return nil, columnFault(JSON, number, column, string(text), err)
		}
		row[i] = v
	}
	return row, nil
}

// Encode implements [Format].
func (f *jsonObjects) Encode(row []any) ([]byte, error) {
	if err := checkRow(JSON, f.columns, row); err != nil {
		return nil, err
	}
	body := []byte{'{'}
	for i, v := range row {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, f.keys[i]...)
		var err error
		if body, err = f.write.value(body, f.columns[i].Type, v); err != nil {
			return nil, encodeFault(JSON, f.columns[i], err)
		}
	}
	return append(body, '}'), nil
}

// jsonReader reads a value that is not null.
type jsonReader func(text json.RawMessage) (any, error)

func jsonReaderOf(t sqltype.Type, zone *time.Location) (jsonReader, error) {
	switch {
	case t.Kind == sqltype.Array:
		return jsonArrayReader(t, zone)
	case t.Kind == sqltype.Map:
		return jsonMapReader(t, zone)
	case t.Kind.IsBinary():
		return func(text json.RawMessage) (any, error) { return jsonBinary(t, text) }, nil
	case t.Kind.IsText():
		return func(text json.RawMessage) (any, error) { return jsonText(t, text) }, nil
	}
	parse, err := sqltype.TextParser(t, zone)
	if err != nil {
		return nil, err
	}
	return func(text json.RawMessage) (any, error) {
		switch text[0] {
		case '"':
			var s string
			if err := json.Unmarshal(text, &s); err != nil {
				return nil, err
			}
			return parse(s)
		case '{', '[':
			return nil, fmt.Errorf("%w: want one value", sqltype.ErrSyntax)
		}
		return parse(string(text))
	}, nil
}

func jsonBinary(t sqltype.Type, text json.RawMessage) (any, error) {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%w: want base64 in quotes", sqltype.ErrSyntax)
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("%w: want base64: %w", sqltype.ErrSyntax, err)
	}
	return b, sqltype.CheckBytes(t, len(b))
}

func jsonText(t sqltype.Type, text json.RawMessage) (any, error) {
	var s string
	switch text[0] {
	case '"':
		if err := json.Unmarshal(text, &s); err != nil {
			return nil, err
		}
	case '{', '[':
		var b bytes.Buffer
		if err := json.Compact(&b, text); err != nil {
			return nil, err
		}
		s = b.String()
	default:
		s = string(text)
	}
	return s, sqltype.CheckText(t, s)
}

func jsonArrayReader(t sqltype.Type, zone *time.Location) (jsonReader, error) {
	read, err := jsonReaderOf(*t.Element, zone)
	if err != nil {
		return nil, err
	}
	return func(text json.RawMessage) (any, error) {
		var parts []json.RawMessage
		if err := json.Unmarshal(text, &parts); err != nil {
			return nil, fmt.Errorf("%w: want an array", sqltype.ErrSyntax)
		}
		values := make([]any, len(parts))
		for i, part := range parts {
			if values[i], err = jsonElement(*t.Element, read, part); err != nil {
				return nil, fmt.Errorf("element %d: %w", i+1, err)
			}
		}
		return values, nil
	}, nil
}

func jsonMapReader(t sqltype.Type, zone *time.Location) (jsonReader, error) {
	parseKey, err := sqltype.TextParser(*t.Key, zone)
	if err != nil {
		return nil, err
	}
	read, err := jsonReaderOf(*t.Element, zone)
	if err != nil {
		return nil, err
	}
	return func(text json.RawMessage) (any, error) {
		var parts map[string]json.RawMessage
		if err := json.Unmarshal(text, &parts); err != nil {
			return nil, fmt.Errorf("%w: want an object", sqltype.ErrSyntax)
		}
		values := make(map[any]any, len(parts))
		for name, part := range parts {
			key, err := parseKey(name)
			if err != nil {
				return nil, fmt.Errorf("key %q: %w", sqltype.Shorten(name), err)
			}
			if values[key], err = jsonElement(*t.Element, read, part); err != nil {
				return nil, fmt.Errorf("key %q: %w", sqltype.Shorten(name), err)
			}
		}
		return values, nil
	}, nil
}

func jsonElement(t sqltype.Type, read jsonReader, text json.RawMessage) (any, error) {
	if string(text) == "null" {
		if t.NotNull {
			return nil, ErrNull
		}
		return nil, nil
	}
	return read(text)
}
