// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltype

import (
	"fmt"
	"strings"
)

// typeName is what a name in SQL stands for.
type typeName struct {
	kind Kind
	args int // how many numbers may follow in brackets
	// unlimited is for STRING and BYTES, which take no length.
	unlimited bool
}

var typeNames = map[string]typeName{
	"BOOLEAN": {kind: Boolean},
	"TINYINT": {kind: TinyInt}, "SMALLINT": {kind: SmallInt}, "INT": {kind: Int}, "INTEGER": {kind: Int}, "BIGINT": {kind: BigInt},
	"FLOAT": {kind: Float}, "DOUBLE": {kind: Double}, "DOUBLE PRECISION": {kind: Double},
	"DECIMAL": {kind: Decimal, args: 2}, "DEC": {kind: Decimal, args: 2}, "NUMERIC": {kind: Decimal, args: 2},
	"CHAR": {kind: Char, args: 1}, "VARCHAR": {kind: Varchar, args: 1}, "STRING": {kind: Varchar, unlimited: true},
	"BINARY": {kind: Binary, args: 1}, "VARBINARY": {kind: Varbinary, args: 1}, "BYTES": {kind: Varbinary, unlimited: true},
	"DATE": {kind: Date}, "TIME": {kind: Time, args: 1}, "TIMESTAMP": {kind: Timestamp, args: 1},
	"TIMESTAMP_LTZ":                  {kind: TimestampLTZ, args: 1},
	"TIMESTAMP WITH LOCAL TIME ZONE": {kind: TimestampLTZ, args: 1}, "TIMESTAMP WITHOUT TIME ZONE": {kind: Timestamp, args: 1},
	"TIME WITHOUT TIME ZONE": {kind: Time, args: 1},
}

// otherTypes are types of Flink SQL that tables here do not have, with what to
// use instead.
var otherTypes = map[string]string{
	"ROW":                      "declare the column STRING, which holds a nested object as JSON text",
	"MULTISET":                 "use ARRAY",
	"RAW":                      "use BYTES",
	"INTERVAL":                 "use BIGINT with a unit of your choice",
	"VARIANT":                  "use STRING",
	"TIMESTAMP WITH TIME ZONE": "use TIMESTAMP_LTZ",
}

// Named is the type that SQL calls name, with the numbers that stand in
// brackets behind it. Lower case will do, and several words have one blank
// between them. VARCHAR and VARBINARY without a length have no limit: the
// documents of the connectors declare a body VARBINARY.
func Named(name string, args ...int) (Type, error) {
	name = strings.ToUpper(name)
	n, ok := typeNames[name]
	if !ok {
		if instead, ok := otherTypes[name]; ok {
			return Type{}, fmt.Errorf("type %s is not supported: %s", name, instead)
		}
		return Type{}, fmt.Errorf("unknown type %s", name)
	}
	if len(args) > n.args {
		return Type{}, fmt.Errorf("type %s takes %d numbers in brackets, not %d", name, n.args, len(args))
	}
	return n.with(name, args)
}

func (n typeName) with(name string, args []int) (Type, error) {
	t := Of(n.kind)
	if len(args) == 0 {
		return t, nil
	}
	first := args[0]
	switch n.kind {
	case Decimal:
		t.Precision = first
		if len(args) == 2 {
			t.Scale = args[1]
		}
		if first < 1 || first > maxPrecision || t.Scale < 0 || t.Scale > first {
			return Type{}, fmt.Errorf("%s(%d, %d): want a precision of 1 to %d and a scale from 0 to the precision", name, first, t.Scale, maxPrecision)
		}
	case Time, Timestamp, TimestampLTZ:
		t.Precision = first
		if first < 0 || first > maxFraction {
			return Type{}, fmt.Errorf("%s(%d): want 0 to %d digits of a second", name, first, maxFraction)
		}
	default:
		t.Length = first
		if first < 1 || first > MaxLength {
			return Type{}, fmt.Errorf("%s(%d): want a length of 1 to %d", name, first, MaxLength)
		}
	}
	return t, nil
}

// ArrayOf is ARRAY<element>.
func ArrayOf(element Type) Type { return Type{Kind: Array, Element: &element} }

// MapOf is MAP<key, element>.
func MapOf(key, element Type) (Type, error) {
	if !key.Kind.IsText() && !key.Kind.IsInteger() {
		return Type{}, fmt.Errorf("MAP with keys of type %s: want text or whole numbers", key)
	}
	return Type{Kind: Map, Key: &key, Element: &element}, nil
}
