// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bytes"
	"encoding/json"
)

// The functions of this file find their way through JSON that json.Valid has
// found to be valid, and therefore need no checks. They cut values out without
// copying them: by way of json.Unmarshal's maps and copies a small object took
// seven times as long.

// blanks is how many of JSON's blanks text begins with.
func blanks(text []byte) int {
	for i, c := range text {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return i
		}
	}
	return len(text)
}

// valueEnd is where the value that text begins with ends.
func valueEnd(text []byte) int {
	switch text[0] {
	case '"':
		return stringEnd(text)
	case '{', '[':
		return nestedEnd(text)
	}
	n := bytes.IndexAny(text, " \t\r\n,]}")
	if n < 0 {
		return len(text)
	}
	return n
}

// stringEnd is where the string that text begins with ends.
func stringEnd(text []byte) int {
	for i := 1; ; {
		i += bytes.IndexByte(text[i:], '"')
		escapes := 0
		for text[i-1-escapes] == '\\' {
			escapes++
		}
		i++
		if escapes%2 == 0 {
			return i
		}
	}
}

// nestedEnd is where the object or array that text begins with ends.
func nestedEnd(text []byte) int {
	depth := 0
	for i := 0; ; {
		switch text[i] {
		case '"':
			i += stringEnd(text[i:])
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
}

// elements visits the elements of an array.
func elements(array []byte, visit func(value []byte)) {
	rest := array[1:]
	for {
		rest = rest[blanks(rest):]
		if rest[0] == ']' {
			return
		}
		n := valueEnd(rest)
		visit(rest[:n])
		rest = rest[n:]
		if rest = rest[blanks(rest):]; rest[0] == ',' {
			rest = rest[1:]
		}
	}
}

// members visits the members of an object; keys are in quotes.
func members(object []byte, visit func(key, value []byte)) {
	rest := object[1:]
	for {
		rest = rest[blanks(rest):]
		if rest[0] == '}' {
			return
		}
		n := stringEnd(rest)
		key := rest[:n]
		rest = rest[n:]
		rest = rest[blanks(rest)+1:] // the colon
		rest = rest[blanks(rest):]
		n = valueEnd(rest)
		visit(key, rest[:n])
		rest = rest[n:]
		if rest = rest[blanks(rest):]; rest[0] == ',' {
			rest = rest[1:]
		}
	}
}

// unquoteJSON is the text of a string in quotes. Surrogates without a partner
// become U+FFFD, as in encoding/json.
func unquoteJSON(quoted []byte) string {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // cannot fail: the string is valid
	return s
}
