// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltype

// integerDigits is how many decimal digits hold every value of a kind.
var integerDigits = map[Kind]int{TinyInt: 3, SmallInt: 5, Int: 10, BigInt: 19}

// AsDecimal is the DECIMAL that holds every value of an integer type; a DECIMAL
// is itself.
func (t Type) AsDecimal() Type {
	if n, ok := integerDigits[t.Kind]; ok {
		d := DecimalOf(n, 0)
		d.NotNull = t.NotNull
		return d
	}
	return t
}

// Implicit says that a value of one type may stand where another type is wanted
// without a CAST, because nothing can be lost but precision of a fraction.
// Lengths of text and binary are left to the values.
func Implicit(from, to Type) bool {
	f, t := from.Kind, to.Kind
	switch {
	case f == Null:
		return true
	case f.IsText() && t.IsText(), f.IsBinary() && t.IsBinary():
		return true
	case f.IsInteger() && t.IsInteger():
		return f <= t
	case f.IsNumeric() && (t == Double || t == Float):
		return !(f == Double && t == Float)
	case (f.IsInteger() || f == Decimal) && t == Decimal:
		d := from.AsDecimal()
		return d.Precision-d.Scale <= to.Precision-to.Scale && d.Scale <= to.Scale
	case f == Date && (t == Timestamp || t == TimestampLTZ):
		return true
	case (f == Timestamp || f == TimestampLTZ) && (t == Timestamp || t == TimestampLTZ):
		return true
	case f == Time && t == Time:
		return true
	case f == Array && t == Array:
		return from.Element.Same(*to.Element)
	case f == Map && t == Map:
		return from.Key.Same(*to.Key) && from.Element.Same(*to.Element)
	}
	return f == t
}

// Common is the type to which both types go without a CAST, as in comparisons
// and in the branches of a CASE; false if there is none.
func Common(a, b Type) (Type, bool) {
	t, ok := common(a, b)
	t.NotNull = a.NotNull && b.NotNull
	return t, ok
}

func common(a, b Type) (Type, bool) {
	switch {
	case a.Kind == Null:
		return b, true
	case b.Kind == Null:
		return a, true
	case a.Kind.IsNumeric() && b.Kind.IsNumeric():
		return commonNumber(a, b), true
	case a.Kind.IsText() && b.Kind.IsText():
		return Type{Kind: Varchar, Length: max(a.Length, b.Length)}, true
	case a.Kind.IsBinary() && b.Kind.IsBinary():
		return Type{Kind: Varbinary, Length: max(a.Length, b.Length)}, true
	case a.Kind == b.Kind && a.Kind.IsTemporal():
		a.Precision = max(a.Precision, b.Precision)
		return a, true
	case Implicit(a, b):
		return b, true
	case Implicit(b, a):
		return a, true
	}
	return Type{}, false
}

func commonNumber(a, b Type) Type {
	switch {
	case a.Kind == Double || b.Kind == Double:
		return Of(Double)
	case a.Kind == Float && b.Kind == Float:
		return Of(Float)
	case a.Kind == Float || b.Kind == Float:
		return Of(Double)
	case a.Kind == Decimal || b.Kind == Decimal:
		a, b = a.AsDecimal(), b.AsDecimal()
		scale := max(a.Scale, b.Scale)
		return capped(max(a.Precision-a.Scale, b.Precision-b.Scale)+scale, scale)
	}
	return Of(max(a.Kind, b.Kind))
}

// capped is the DECIMAL of a result; where it needs more digits than there are,
// the fraction gives way, down to six digits.
func capped(precision, scale int) Type {
	if precision > maxPrecision {
		whole := precision - scale
		scale = max(maxPrecision-whole, min(scale, 6))
		precision = maxPrecision
	}
	return DecimalOf(precision, scale)
}

// Arithmetic is the type of a + b, a - b, a * b, a / b or a % b; false if one
// cannot calculate with them. Whole numbers stay whole, so 1 / 2 is 0.
func Arithmetic(operator string, a, b Type) (Type, bool) {
	numeric := func(t Type) bool { return t.Kind.IsNumeric() || t.Kind == Null }
	if !numeric(a) || !numeric(b) {
		return Type{}, false
	}
	t, _ := common(a, b)
	if t.Kind == Decimal {
		t = decimalResult(operator, a.AsDecimal(), b.AsDecimal())
	}
	t.NotNull = a.NotNull && b.NotNull
	return t, true
}

func decimalResult(operator string, a, b Type) Type {
	if a.Kind == Null {
		return b
	}
	if b.Kind == Null {
		return a
	}
	scale := max(a.Scale, b.Scale)
	switch operator {
	case "*":
		return capped(a.Precision+b.Precision, a.Scale+b.Scale)
	case "/":
		scale = max(6, a.Scale+b.Precision+1)
		return capped(a.Precision-a.Scale+b.Scale+scale, scale)
	case "%":
		return capped(min(a.Precision-a.Scale, b.Precision-b.Scale)+scale, scale)
	}
	return capped(max(a.Precision-a.Scale, b.Precision-b.Scale)+scale+1, scale)
}
