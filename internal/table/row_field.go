// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/shopspring/decimal"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
	"github.com/rocketmq-beam/rocketmq-beam/rowtype"
)

// field is what a column is in a Beam row.
type field struct {
	is reflect.Type
	// set puts a value into a field, nil leaves it as it is.
	set func(to reflect.Value, v any)
	// get takes it out; nil is NULL.
	get func(from reflect.Value) (any, error)
}

// instantDigits are the digits of a second that Beam's instants have.
const instantDigits = 3

// fieldOf is the field for a column of a type.
func fieldOf(t sqltype.Type) (field, error) {
	f, err := requiredField(t)
	if err != nil || t.NotNull {
		return f, err
	}
	return field{
		is: reflect.PointerTo(f.is),
		set: func(to reflect.Value, v any) {
			if v != nil {
				p := reflect.New(f.is)
				f.set(p.Elem(), v)
				to.Set(p)
			}
		},
		get: func(from reflect.Value) (any, error) {
			if from.IsNil() {
				return nil, nil
			}
			return f.get(from.Elem())
		},
	}, nil
}

func requiredField(t sqltype.Type) (field, error) {
	switch t.Kind {
	case sqltype.Array:
		return arrayField(t)
	case sqltype.Map:
		return mapField(t)
	case sqltype.TinyInt, sqltype.SmallInt, sqltype.Int:
		return as(func(v any) int32 { return int32(sqltype.ToInt(v)) }, func(n int32) (any, error) { return sqltype.IntegerOf(t, int64(n)) }), nil
	case sqltype.BigInt:
		return same[int64](), nil
	case sqltype.Boolean:
		return same[bool](), nil
	case sqltype.Float:
		return same[float32](), nil
	case sqltype.Double:
		return same[float64](), nil
	case sqltype.Char, sqltype.Varchar:
		return same[string](), nil
	case sqltype.Binary, sqltype.Varbinary:
		return binaryField(), nil
	case sqltype.Decimal:
		return as(func(v any) rowtype.Decimal { return rowtype.Decimal{Decimal: v.(decimal.Decimal)} }, func(d rowtype.Decimal) (any, error) {
			return sqltype.FitDecimal(t, d.Decimal)
		}), nil
	}
	return temporalField(t)
}

func temporalField(t sqltype.Type) (field, error) {
	switch {
	case t.Kind == sqltype.Date:
		return as(func(v any) rowtype.Date { return rowtype.DateOf(v.(time.Time)) }, func(d rowtype.Date) (any, error) { return d.Midnight(), nil }), nil
	case t.Kind == sqltype.Time:
		return as(func(v any) rowtype.Time { return rowtype.Time(v.(time.Duration)) }, func(d rowtype.Time) (any, error) {
			if d < 0 || d.Since() >= 24*time.Hour {
				return nil, fmt.Errorf("%v is no time of day", d.Since())
			}
			return d.Since(), nil
		}), nil
	case t.Kind == sqltype.Timestamp:
		return as(func(v any) rowtype.DateTime { return rowtype.DateTimeOf(v.(time.Time).UTC()) }, func(d rowtype.DateTime) (any, error) { return d.UTC(), nil }), nil
	case t.Kind == sqltype.TimestampLTZ && t.Precision > instantDigits:
		return field{}, fmt.Errorf("%s: instants of Beam rows have milliseconds: declare TIMESTAMP_LTZ(%d)", t, instantDigits)
	case t.Kind == sqltype.TimestampLTZ:
		return as(func(v any) rowtype.Instant { return rowtype.Instant{Time: v.(time.Time).UTC()} }, func(d rowtype.Instant) (any, error) { return d.Time, nil }), nil
	}
	return field{}, fmt.Errorf("%s has no counterpart in Beam rows", t)
}

// same is a field that holds a value as it is.
func same[T any]() field {
	return field{
		is:  reflect.TypeFor[T](),
		set: func(to reflect.Value, v any) { to.Set(reflect.ValueOf(v)) },
		get: func(from reflect.Value) (any, error) { return from.Interface(), nil },
	}
}

// as is a field that holds a value as another type.
func as[T any](in func(any) T, out func(T) (any, error)) field {
	return field{
		is:  reflect.TypeFor[T](),
		set: func(to reflect.Value, v any) { to.Set(reflect.ValueOf(in(v))) },
		get: func(from reflect.Value) (any, error) { return out(from.Interface().(T)) },
	}
}

// errNil: Beam writes nil as NULL, which a NOT NULL column is not.
var errNil = errors.New("nil in a column that is NOT NULL: want an empty one")

// binaryField makes of no bytes an empty slice: Beam takes nil for NULL.
func binaryField() field {
	f := as(func(v any) []byte {
		if b := v.([]byte); b != nil {
			return b
		}
		return []byte{}
	}, func(b []byte) (any, error) {
		if b == nil {
			return nil, errNil
		}
		return b, nil
	})
	return f
}

func arrayField(t sqltype.Type) (field, error) {
	element, err := fieldOf(*t.Element)
	if err != nil {
		return field{}, err
	}
	is := reflect.SliceOf(element.is)
	return field{
		is: is,
		set: func(to reflect.Value, v any) {
			values := v.([]any)
			out := reflect.MakeSlice(is, len(values), len(values))
			for i, e := range values {
				element.set(out.Index(i), e)
			}
			to.Set(out)
		},
		get: func(from reflect.Value) (any, error) {
			if from.IsNil() {
				return nil, errNil
			}
			out := make([]any, from.Len())
			for i := range out {
				v, err := element.get(from.Index(i))
				if err != nil {
					return nil, err
				}
				out[i] = v
			}
			return out, nil
		},
	}, nil
}

func mapField(t sqltype.Type) (field, error) {
	// A nullable key would be a pointer, of which no two are the same.
	key, err := fieldOf(t.Key.Required())
	if err != nil {
		return field{}, err
	}
	if !key.is.Comparable() || key.is == reflect.TypeFor[rowtype.Decimal]() {
		return field{}, fmt.Errorf("%s: keys of this type cannot be told apart in Beam rows", t)
	}
	value, err := fieldOf(*t.Element)
	if err != nil {
		return field{}, err
	}
	is := reflect.MapOf(key.is, value.is)
	return field{
		is: is,
		set: func(to reflect.Value, v any) {
			out := reflect.MakeMap(is)
			for k, e := range v.(map[any]any) {
				if k == nil {
					continue // Beam's maps have no NULL key
				}
				kv, ev := reflect.New(key.is).Elem(), reflect.New(value.is).Elem()
				key.set(kv, k)
				value.set(ev, e)
				out.SetMapIndex(kv, ev)
			}
			to.Set(out)
		},
		get: func(from reflect.Value) (any, error) {
			if from.IsNil() {
				return nil, errNil
			}
			out := make(map[any]any, from.Len())
			for it := from.MapRange(); it.Next(); {
				k, err := key.get(it.Key())
				if err != nil {
					return nil, err
				}
				if out[k], err = value.get(it.Value()); err != nil {
					return nil, err
				}
			}
			return out, nil
		},
	}, nil
}
