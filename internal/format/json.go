// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
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
	index   map[string]int
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
	f := &jsonObjects{columns: columns, index: make(map[string]int, len(columns)), strict: c.FailOnMissingField, write: jsonWriter{style: style}}
	for i, column := range columns {
		f.index[column.Name] = i
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
	if !json.Valid(body) {
		var raw json.RawMessage
		out.Faults = append(out.Faults, rowFault(JSON, 1, string(body), fmt.Errorf("%w: %w", ErrStructure, json.Unmarshal(body, &raw))))
		return out
	}
	body = body[blanks(body):]
	if body[0] != '[' {
		f.decodeObject(1, body, &out)
		return out
	}
	number := 0
	elements(body, func(value []byte) {
		number++
		f.decodeObject(number, value, &out)
	})
	return out
}

func (f *jsonObjects) decodeObject(number int, object []byte, out *Result) {
	row, fault := f.row(number, object)
	if fault != nil {
		out.Faults = append(out.Faults, fault)
		return
	}
	out.Rows = append(out.Rows, row)
}

func (f *jsonObjects) row(number int, object []byte) ([]any, *DecodeError) {
	if object[0] != '{' {
		return nil, rowFault(JSON, number, string(object), fmt.Errorf("%w: want an object", ErrStructure))
	}
	texts := make([][]byte, len(f.columns))
	members(object, func(key, value []byte) {
		if i, ok := f.column(key); ok {
			texts[i] = value // the last one of equal keys counts
		}
	})
	row := make([]any, len(f.columns))
	for i, column := range f.columns {
		text := texts[i]
		if text == nil && f.strict {
			return nil, columnFault(JSON, number, column, "", ErrMissingField)
		}
		if text == nil || string(text) == "null" {
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

// column is the column of a key in quotes.
func (f *jsonObjects) column(key []byte) (i int, ok bool) {
	if bytes.IndexByte(key, '\\') >= 0 {
		i, ok = f.index[unquoteJSON(key)]
		return i, ok
	}
	i, ok = f.index[string(key[1:len(key)-1])]
	return i, ok
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
type jsonReader func(text []byte) (any, error)

func jsonReaderOf(t sqltype.Type, zone *time.Location) (jsonReader, error) {
	switch {
	case t.Kind == sqltype.Array:
		return jsonArrayReader(t, zone)
	case t.Kind == sqltype.Map:
		return jsonMapReader(t, zone)
	case t.Kind.IsBinary():
		return func(text []byte) (any, error) { return jsonBinary(t, text) }, nil
	case t.Kind.IsText():
		return func(text []byte) (any, error) { return jsonText(t, text) }, nil
	}
	parse, err := sqltype.TextParser(t, zone)
	if err != nil {
		return nil, err
	}
	return func(text []byte) (any, error) {
		switch text[0] {
		case '"':
			return parse(unquoteJSON(text))
		case '{', '[':
			return nil, fmt.Errorf("%w: want one value", sqltype.ErrSyntax)
		}
		return parse(string(text))
	}, nil
}

func jsonBinary(t sqltype.Type, text []byte) (any, error) {
	if text[0] != '"' {
		return nil, fmt.Errorf("%w: want base64 in quotes", sqltype.ErrSyntax)
	}
	b, err := base64.StdEncoding.DecodeString(unquoteJSON(text))
	if err != nil {
		return nil, fmt.Errorf("%w: want base64: %w", sqltype.ErrSyntax, err)
	}
	return b, sqltype.CheckBytes(t, len(b))
}

func jsonText(t sqltype.Type, text []byte) (any, error) {
	var s string
	switch text[0] {
	case '"':
		s = unquoteJSON(text)
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
	return func(text []byte) (any, error) {
		if text[0] != '[' {
			return nil, fmt.Errorf("%w: want an array", sqltype.ErrSyntax)
		}
		values, number := []any{}, 0
		var fault error
		elements(text, func(part []byte) {
			number++
			v, err := jsonElement(*t.Element, read, part)
			if err != nil && fault == nil {
				fault = fmt.Errorf("element %d: %w", number, err)
			}
			values = append(values, v)
		})
		return values, fault
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
	return func(text []byte) (any, error) {
		if text[0] != '{' {
			return nil, fmt.Errorf("%w: want an object", sqltype.ErrSyntax)
		}
		values := map[any]any{}
		var fault error
		members(text, func(name, part []byte) {
			key, err := parseKey(unquoteJSON(name))
			if err == nil {
				values[key], err = jsonElement(*t.Element, read, part)
			}
			if err != nil && fault == nil {
				fault = fmt.Errorf("key %s: %w", sqltype.Shorten(string(name)), err)
			}
		})
		return values, fault
	}, nil
}

func jsonElement(t sqltype.Type, read jsonReader, text []byte) (any, error) {
	if string(text) == "null" {
		if t.NotNull {
			return nil, ErrNull
		}
		return nil, nil
	}
	return read(text)
}
