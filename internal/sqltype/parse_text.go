// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltype

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// Parser turns text into a value of one type.
type Parser func(text string) (any, error)

// The reasons for which text is no value of a type; use errors.Is.
var (
	// ErrSyntax: the text is not written as values of the type are.
	ErrSyntax = errors.New("wrong syntax")
	// ErrRange: the value is written well, and the type cannot hold it.
	ErrRange = errors.New("out of range")
)

// TextParser gives the parser of t. Blanks around anything but text do not
// count. zone is the one in which dates and times without a zone are read.
// ARRAY and MAP have no parser.
func TextParser(t Type, zone *time.Location) (Parser, error) {
	switch {
	case t.Kind == Boolean:
		return parseBoolean, nil
	case t.Kind.IsInteger():
		return integerParser(t.Kind), nil
	case t.Kind == Float || t.Kind == Double:
		return floatParser(t.Kind), nil
	case t.Kind == Decimal:
		return func(s string) (any, error) { return ParseDecimal(t, s) }, nil
	case t.Kind.IsText():
		return func(s string) (any, error) { return s, CheckText(t, s) }, nil
	case t.Kind.IsBinary():
		return func(s string) (any, error) { return []byte(s), CheckBytes(t, len(s)) }, nil
	case t.Kind.IsTemporal():
		return temporalParser(t, zone), nil
	}
	return nil, fmt.Errorf("type %s cannot be read from text", t)
}

func parseBoolean(s string) (any, error) {
	switch s = strings.TrimSpace(s); {
	case strings.EqualFold(s, "true") || s == "1":
		return true, nil
	case strings.EqualFold(s, "false") || s == "0":
		return false, nil
	}
	return nil, fmt.Errorf("%w: want true, false, 1 or 0", ErrSyntax)
}

var integerBits = map[Kind]int{TinyInt: 8, SmallInt: 16, Int: 32, BigInt: 64}

func integerParser(k Kind) Parser {
	bits := integerBits[k]
	return func(s string) (any, error) {
		n, err := strconv.ParseInt(strings.TrimSpace(s), 10, bits)
		if err != nil {
			return nil, numberError(err, k)
		}
		return integerOf(k, n), nil
	}
}

// integerOf is n as values of the kind are, which has room for it.
func integerOf(k Kind, n int64) any {
	switch k {
	case TinyInt:
		return int8(n)
	case SmallInt:
		return int16(n)
	case Int:
		return int32(n)
	}
	return n
}

func numberError(err error, k Kind) error {
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("%w of %s", ErrRange, k)
	}
	return fmt.Errorf("%w: want a number", ErrSyntax)
}

func floatParser(k Kind) Parser {
	bits := 64
	if k == Float {
		bits = 32
	}
	return func(s string) (any, error) {
		s = strings.TrimSpace(s)
		// Go reads more notations than SQL writes.
		if strings.ContainsAny(s, "xXpP_") {
			return nil, fmt.Errorf("%w: want a number", ErrSyntax)
		}
		f, err := strconv.ParseFloat(s, bits)
		if err != nil {
			return nil, numberError(err, k)
		}
		if k == Float {
			return float32(f), nil
		}
		return f, nil
	}
}

// maxDecimalText keeps a hostile exponent from being written out in memory.
const maxDecimalText, maxExponent = 256, 128

// ParseDecimal reads a number, rounds it half up to the scale of t, and refuses
// it if it has more digits than t. Text of more than 256 characters and
// exponents of more than 128 are out of range.
func ParseDecimal(t Type, s string) (decimal.Decimal, error) {
	s = strings.TrimSpace(s)
	if len(s) > maxDecimalText {
		return decimal.Decimal{}, fmt.Errorf("%w: %d characters", ErrRange, len(s))
	}
	d, err := decimal.NewFromString(s)
	if err != nil {
		return decimal.Decimal{}, fmt.Errorf("%w: want a number", ErrSyntax)
	}
	if d.Exponent() > maxExponent || d.Exponent() < -maxDecimalText-maxExponent {
		return decimal.Decimal{}, fmt.Errorf("%w of %s", ErrRange, t.root())
	}
	return FitDecimal(t, d)
}

// FitDecimal rounds d half up to the scale of t and refuses it if it has more
// digits than t.
func FitDecimal(t Type, d decimal.Decimal) (decimal.Decimal, error) {
	if -d.Exponent() > int32(t.Scale) {
		d = d.Round(int32(t.Scale))
	}
	if !d.IsZero() && d.NumDigits()+int(d.Exponent()) > t.Precision-t.Scale {
		return decimal.Decimal{}, fmt.Errorf("%w of %s", ErrRange, t.root())
	}
	return d, nil
}

// CheckText refuses text that is longer than t allows, or not UTF-8.
func CheckText(t Type, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%w: text that is not UTF-8", ErrSyntax)
	}
	if t.Length == MaxLength || len(s) <= t.Length {
		return nil
	}
	if n := utf8.RuneCountInString(s); n > t.Length {
		return fmt.Errorf("%w of %s: %d characters", ErrRange, t.root(), n)
	}
	return nil
}

// CheckBytes refuses n bytes if t does not allow as many.
func CheckBytes(t Type, n int) error {
	if n > t.Length {
		return fmt.Errorf("%w of %s: %d bytes", ErrRange, t.root(), n)
	}
	return nil
}
