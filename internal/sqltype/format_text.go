// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltype

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/shopspring/decimal"
)

// AppendText writes a value that is not NULL, so that [TextParser] reads it
// back: DECIMAL with all digits of its scale, DOUBLE with as many as needed,
// dates and times as SQL writes them, TIMESTAMP_LTZ in the zone, binary as it
// is. It fails if v is no value of t; ARRAY and MAP have no text.
func AppendText(dst []byte, t Type, v any, zone *time.Location) ([]byte, error) {
	switch x := v.(type) {
	case bool:
		return strconv.AppendBool(dst, x), nil
	case int8:
		return strconv.AppendInt(dst, int64(x), 10), nil
	case int16:
		return strconv.AppendInt(dst, int64(x), 10), nil
	case int32:
		return strconv.AppendInt(dst, int64(x), 10), nil
	case int64:
		return strconv.AppendInt(dst, x, 10), nil
	case float32:
		return appendFloat(dst, float64(x), 32), nil
	case float64:
		return appendFloat(dst, x, 64), nil
	case decimal.Decimal:
		return append(dst, x.StringFixed(int32(t.Scale))...), nil
	case string:
		return append(dst, x...), nil
	case []byte:
		return append(dst, x...), nil
	case time.Duration:
		return appendClock(dst, timeLayout, t, time.Time{}.Add(x)), nil
	case time.Time:
		return appendTemporal(dst, t, x, zone)
	}
	return dst, fmt.Errorf("a %T is no value of %s that can be text", v, t)
}

// appendFloat writes what is exact and short. Not a number and the infinities
// are written as Java does.
func appendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	case f != 0 && (math.Abs(f) < 1e-6 || math.Abs(f) >= 1e21):
		return strconv.AppendFloat(dst, f, 'e', -1, bits)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, bits)
}

func appendTemporal(dst []byte, t Type, at time.Time, zone *time.Location) ([]byte, error) {
	if t.Kind == TimestampLTZ {
		at = at.In(zone) // where the year may be another one
	}
	if err := checkYear(at); err != nil {
		return dst, err
	}
	if t.Kind == Date {
		return at.AppendFormat(dst, dateLayout), nil
	}
	return appendClock(dst, timestampLayout, t, at), nil
}

// appendClock writes as many digits of the second as the type has.
func appendClock(dst []byte, layout string, t Type, at time.Time) []byte {
	if t.Precision > 0 {
		layout += ".000000000"[:1+t.Precision]
	}
	return at.AppendFormat(dst, layout)
}
