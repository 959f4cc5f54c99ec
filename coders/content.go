// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package coders

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// What messages of both kinds carry beside scalars: keys, properties, a body.

// appendTexts appends a repeated text; an empty one counts.
func appendTexts(buf []byte, n protowire.Number, texts []string) []byte {
	for _, s := range texts {
		buf = protowire.AppendTag(buf, n, protowire.BytesType)
		buf = protowire.AppendString(buf, s)
	}
	return buf
}

// appendProperties appends a map in the order of its keys.
func appendProperties(buf []byte, n protowire.Number, properties map[string]string) []byte {
	if len(properties) == 0 {
		return buf
	}
	var few [8]string // keeps the usual case off the heap
	names := few[:0]
	for k := range properties {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		var at int
		buf, at = openNested(buf, n)
		buf = appendText(buf, 1, k)
		buf = appendText(buf, 2, properties[k])
		buf = closeNested(buf, at)
	}
	return buf
}

// appendBody appends a body unless it is nil, which is not the same as empty.
func appendBody(buf, body []byte) []byte {
	if body == nil {
		return buf
	}
	buf = protowire.AppendTag(buf, recordBody, protowire.BytesType)
	return protowire.AppendBytes(buf, body)
}

// sizeOfTexts is an upper bound of what keys and properties take.
func sizeOfTexts(keys []string, properties map[string]string) int {
	const perField = 6
	n := 0
	for _, k := range keys {
		n += perField + len(k)
	}
	for k, v := range properties {
		n += 3*perField + len(k) + len(v)
	}
	return n
}

// checkTexts refuses keys and properties that are not UTF-8.
func checkTexts(kind string, keys []string, properties map[string]string) error {
	for _, k := range keys {
		if err := checkText(kind, k); err != nil {
			return fmt.Errorf("%w in Keys", err)
		}
	}
	for k, v := range properties {
		if err := checkText(kind, k); err != nil {
			return fmt.Errorf("%w as the name of a property", err)
		}
		if err := checkText(kind, v); err != nil {
			return fmt.Errorf("%w in property %q", err, k)
		}
	}
	return nil
}

func (f field) appendText(texts []string) ([]string, error) {
	s, err := f.asText()
	if err != nil {
		return texts, err
	}
	return append(texts, s), nil
}

func (f field) addProperty(properties map[string]string) (map[string]string, error) {
	var name, value string
	err := f.nested("property", func(f field) (err error) {
		switch f.number {
		case 1:
			name, err = f.asText()
		case 2:
			value, err = f.asText()
		}
		return err
	})
	if err != nil {
		return properties, err
	}
	if properties == nil {
		properties = make(map[string]string)
	}
	properties[name] = value
	return properties, nil
}
