// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rowtype

import (
	"bytes"
	"io"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"
)

func roundTrip(t rapid.TB, v any, encode func(any, io.Writer) error, decode func(io.Reader) (any, error)) any {
	t.Helper()
	var b bytes.Buffer
	if err := encode(v, &b); err != nil {
		t.Fatal(err)
	}
	got, err := decode(&b)
	if err != nil || b.Len() != 0 {
		t.Fatalf("%v: %v, %d bytes are left", v, err, b.Len())
	}
	return got
}

// The bytes are those that Beam's SDK for Java writes.
func TestBytes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		value  any
		encode func(any, io.Writer) error
		want   []byte
	}{
		{"a decimal: scale, length, unscaled", Decimal{decimal.RequireFromString("1.28")}, encodeDecimal, []byte{2, 2, 0, 128}},
		{"a negative one", Decimal{decimal.RequireFromString("-12.8")}, encodeDecimal, []byte{1, 1, 128}},
		{"zero", Decimal{}, encodeDecimal, []byte{0, 1, 0}},
		{"an instant of 1970", Instant{time.UnixMilli(0)}, encodeInstant, []byte{0x80, 0, 0, 0, 0, 0, 0, 0}},
		{"a millisecond before", Instant{time.UnixMilli(-1)}, encodeInstant, []byte{0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
		{"a day", DateOf(time.Date(1970, 1, 6, 23, 59, 0, 0, time.UTC)), encodeDate, []byte{5}},
		{"a clock: two fields, none null", DateTimeOf(time.Date(1970, 1, 2, 0, 0, 0, 9, time.UTC)), encodeDateTime, []byte{2, 0, 1, 9}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := tt.encode(tt.value, &b); err != nil || !bytes.Equal(b.Bytes(), tt.want) {
				t.Errorf("got %v, %v, want %v", b.Bytes(), err, tt.want)
			}
		})
	}
}

func TestValuesSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unscaled := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "unscaled"))
		if rapid.Bool().Draw(t, "negative") {
			unscaled.Neg(unscaled)
		}
		d := Decimal{decimal.NewFromBigInt(unscaled, rapid.Int32Range(-50, 50).Draw(t, "exponent"))}
		if got := roundTrip(t, d, encodeDecimal, decodeDecimal).(Decimal); !got.Equal(d.Decimal) || got.Exponent() != d.Exponent() {
			t.Errorf("got %v, want %v", got, d)
		}
		at := time.UnixMilli(rapid.Int64Range(math.MinInt32*1000, math.MaxInt32*1000).Draw(t, "ms")).UTC()
		if got := roundTrip(t, Instant{at}, encodeInstant, decodeInstant).(Instant); !got.Equal(at) {
			t.Errorf("got %v, want %v", got, at)
		}
		at = at.Add(time.Duration(rapid.Int64Range(0, 999_999).Draw(t, "ns")))
		if got := roundTrip(t, DateTimeOf(at), encodeDateTime, decodeDateTime).(DateTime).UTC(); !got.Equal(at) {
			t.Errorf("got %v, want %v", got, at)
		}
	})
}
