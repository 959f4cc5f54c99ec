// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
)

// charset turns bodies into text and back. A nil encoding is UTF-8.
type charset struct {
	name     string
	encoding encoding.Encoding
}

func newCharset(name string) (charset, error) {
	if name == "" || strings.EqualFold(name, "UTF-8") || strings.EqualFold(name, "UTF8") {
		return charset{name: "UTF-8"}, nil
	}
	e, err := ianaindex.IANA.Encoding(name)
	if err != nil || e == nil {
		return charset{}, fmt.Errorf("encoding %q: want an IANA name such as UTF-8, GBK, GB18030, ISO-8859-1, Shift_JIS", name)
	}
	return charset{name: name, encoding: e}, nil
}

// CheckCharset refuses encodings that [New] would refuse.
func CheckCharset(name string) error {
	_, err := newCharset(name)
	return err
}

// text reads a body. Bytes that are no text in the encoding are an error: the
// libraries would put U+FFFD in their place.
func (c charset) text(body []byte) (string, error) {
	if c.encoding == nil {
		if !utf8.Valid(body) {
			return "", fmt.Errorf("%w: the body is not %s", ErrCharset, c.name)
		}
		return string(body), nil
	}
	text, err := c.encoding.NewDecoder().Bytes(body)
	if err != nil {
		return "", fmt.Errorf("%w: the body is not %s: %w", ErrCharset, c.name, err)
	}
	if bytes.ContainsRune(text, utf8.RuneError) {
		return "", fmt.Errorf("%w: the body is not %s", ErrCharset, c.name)
	}
	return string(text), nil
}

// bytes writes text. Characters that the encoding lacks are an error.
func (c charset) bytes(text []byte) ([]byte, error) {
	if c.encoding == nil {
		return text, nil
	}
	body, err := c.encoding.NewEncoder().Bytes(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %s cannot write all of the text: %w", ErrCharset, c.name, err)
	}
	return body, nil
}
