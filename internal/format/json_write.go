// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// jsonWriter writes values.
type jsonWriter struct{ style TimestampStyle }

func (w jsonWriter) value(dst []byte, t sqltype.Type, v any) ([]byte, error) {
	switch x := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case string:
		return appendJSONString(dst, x), nil
	case []byte:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, x)
		return append(dst, '"'), nil
	case float32:
		return w.float(dst, t, v, float64(x))
	case float64:
		return w.float(dst, t, v, x)
	case time.Time:
		return w.temporal(dst, t, x)
	case time.Duration:
		return w.quoted(dst, t, x)
	case []any:
		return w.array(dst, t, x)
	case map[any]any:
		return w.object(dst, t, x)
	case bool, int8, int16, int32, int64, decimal.Decimal:
		return sqltype.AppendText(dst, t, v, time.UTC)
	}
	return nil, fmt.Errorf("a %T is no value of %s", v, t)
}

func (w jsonWriter) float(dst []byte, t sqltype.Type, v any, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%v: %w of a JSON number", f, sqltype.ErrRange)
	}
	return sqltype.AppendText(dst, t, v, time.UTC)
}

func (w jsonWriter) quoted(dst []byte, t sqltype.Type, v any) ([]byte, error) {
	dst, err := sqltype.AppendText(append(dst, '"'), t, v, time.UTC)
	return append(dst, '"'), err
}

func (w jsonWriter) temporal(dst []byte, t sqltype.Type, at time.Time) ([]byte, error) {
	start := len(dst)
	dst, err := w.quoted(dst, t, at)
	if err != nil || t.Kind == sqltype.Date {
		return dst, err
	}
	if w.style == StyleISO {
		dst[start+1+len("2006-01-02")] = 'T'
	}
	if t.Kind == sqltype.TimestampLTZ {
		dst = append(dst[:len(dst)-1], 'Z', '"')
	}
	return dst, nil
}

func (w jsonWriter) array(dst []byte, t sqltype.Type, values []any) (_ []byte, err error) {
	dst = append(dst, '[')
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = w.value(dst, *t.Element, v); err != nil {
			return nil, fmt.Errorf("element %d: %w", i+1, err)
		}
	}
	return append(dst, ']'), nil
}

// object writes the entries in the order of their keys, so that equal rows have
// equal bodies.
func (w jsonWriter) object(dst []byte, t sqltype.Type, values map[any]any) ([]byte, error) {
	type entry struct {
		key   string
		value any
	}
	entries := make([]entry, 0, len(values))
	for k, v := range values {
		key, err := sqltype.AppendText(nil, *t.Key, k, time.UTC)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{string(key), v})
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare([]byte(a.key), []byte(b.key)) })
	dst = append(dst, '{')
	for i, e := range entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSONString(dst, e.key), ':')
		var err error
		if dst, err = w.value(dst, *t.Element, e.value); err != nil {
			return nil, fmt.Errorf("key %q: %w", sqltype.Shorten(e.key), err)
		}
	}
	return append(dst, '}'), nil
}

// appendJSONString writes text as it is where that is allowed; the library would
// also escape the characters that HTML has a meaning for.
func appendJSONString(dst []byte, s string) []byte {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= ' ' && s[i] != '"' && s[i] != '\\' && s[i] < 0x7f
	}
	if plain {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// A string can always be encoded, and a buffer be written to.
	_ = e.Encode(s)
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
