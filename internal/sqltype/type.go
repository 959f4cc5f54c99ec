// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltype

import (
	"fmt"
	"math"
	"strings"
)

// Kind is the root of a type.
type Kind uint8

// The kinds of types.
const (
	Null Kind = iota // of the literal NULL only
	Boolean
	TinyInt
	SmallInt
	Int
	BigInt
	Float
	Double
	Decimal
	Char
	Varchar
	Binary
	Varbinary
	Date
	Time
	Timestamp
	TimestampLTZ
	Array
	Map
)

var kindNames = [...]string{"NULL", "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL",
	"CHAR", "VARCHAR", "BINARY", "VARBINARY", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "ARRAY", "MAP"}

// String is the kind's name in SQL.
func (k Kind) String() string { return kindNames[k] }

// IsInteger says that values are whole numbers of a fixed size.
func (k Kind) IsInteger() bool { return k >= TinyInt && k <= BigInt }

// IsNumeric says that one can calculate with values.
func (k Kind) IsNumeric() bool { return k >= TinyInt && k <= Decimal }

// IsText says that values are strings.
func (k Kind) IsText() bool { return k == Char || k == Varchar }

// IsBinary says that values are bytes.
func (k Kind) IsBinary() bool { return k == Binary || k == Varbinary }

// IsTemporal says that values are days, times of day or instants.
func (k Kind) IsTemporal() bool { return k >= Date && k <= TimestampLTZ }

// The bounds of types, which are those of Flink SQL.
const (
	// MaxLength is the length of STRING and BYTES: no limit.
	MaxLength    = math.MaxInt32
	maxPrecision = 38 // DECIMAL
	maxFraction  = 9  // TIME and TIMESTAMP
)

// Type is the type of a column or an expression. The zero value is the type of
// NULL.
type Type struct {
	Kind Kind
	// Length bounds CHAR and VARCHAR in characters, BINARY and VARBINARY in
	// bytes; [MaxLength] means no limit.
	Length int
	// Precision is the number of digits of DECIMAL, and of the fraction of a
	// second in TIME and TIMESTAMP; Scale is how many of DECIMAL's digits are
	// behind the point.
	Precision, Scale int
	// NotNull says that values are never NULL.
	NotNull bool
	// Key is the type of a MAP's keys, Element of its values, or of an ARRAY's.
	Key, Element *Type
}

// Of is the type of a kind without arguments; text and binary have no limit,
// DECIMAL is DECIMAL(10, 0), TIMESTAMP has six digits.
func Of(k Kind) Type {
	t := Type{Kind: k}
	switch k {
	case Varchar, Varbinary:
		t.Length = MaxLength
	case Char, Binary:
		t.Length = 1
	case Decimal:
		t.Precision = 10
	case Timestamp, TimestampLTZ:
		t.Precision = 6
	}
	return t
}

// DecimalOf is DECIMAL(precision, scale).
func DecimalOf(precision, scale int) Type {
	return Type{Kind: Decimal, Precision: precision, Scale: scale}
}

// Required is t without NULL.
func (t Type) Required() Type { t.NotNull = true; return t }

// Optional is t with NULL.
func (t Type) Optional() Type { t.NotNull = false; return t }

// Same says that values of both types are alike, whatever NOT NULL says.
func (t Type) Same(o Type) bool { return t.Optional().String() == o.Optional().String() }

// String is the type as SQL writes it, and as a script can read it.
func (t Type) String() string {
	var b strings.Builder
	b.WriteString(t.root())
	if t.NotNull {
		b.WriteString(" NOT NULL")
	}
	return b.String()
}

func (t Type) root() string {
	switch t.Kind {
	case Varchar, Varbinary:
		if t.Length == MaxLength {
			return map[Kind]string{Varchar: "STRING", Varbinary: "BYTES"}[t.Kind]
		}
		return fmt.Sprintf("%s(%d)", t.Kind, t.Length)
	case Char, Binary:
		return fmt.Sprintf("%s(%d)", t.Kind, t.Length)
	case Decimal:
		return fmt.Sprintf("DECIMAL(%d, %d)", t.Precision, t.Scale)
	case Time, Timestamp, TimestampLTZ:
		return fmt.Sprintf("%s(%d)", t.Kind, t.Precision)
	case Array:
		return fmt.Sprintf("ARRAY<%s>", t.Element)
	case Map:
		return fmt.Sprintf("MAP<%s, %s>", t.Key, t.Element)
	}
	return t.Kind.String()
}
