// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rowtype

import (
	"fmt"
	"io"
	"math/big"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/coder"
	"github.com/shopspring/decimal"
)

// Decimal is an exact decimal number of any size.
type Decimal struct{ decimal.Decimal }

// encodeDecimal writes the scale and the unscaled number in two's complement, as
// Java's BigDecimal is written by Beam.
func encodeDecimal(v any, w io.Writer) error {
	d := v.(Decimal).Decimal
	if err := coder.EncodeVarInt(int64(-d.Exponent()), w); err != nil {
		return err
	}
	return coder.EncodeBytes(twosComplement(d.Coefficient()), w)
}

func decodeDecimal(r io.Reader) (any, error) {
	scale, err := coder.DecodeVarInt(r)
	if err != nil {
		return nil, err
	}
	if scale != int64(int32(scale)) {
		return nil, fmt.Errorf("rowtype: a decimal of scale %d", scale)
	}
	data, err := coder.DecodeBytes(r)
	if err != nil {
		return nil, err
	}
	return Decimal{decimal.NewFromBigInt(fromTwosComplement(data), int32(-scale))}, nil
}

const signBit = 0x80

// twosComplement is the shortest form, the highest byte first.
func twosComplement(n *big.Int) []byte {
	if n.Sign() >= 0 {
		b := n.Bytes()
		if len(b) == 0 || b[0]&signBit != 0 {
			return slices.Insert(b, 0, 0)
		}
		return b
	}
	// -n = ^(n-1)
	b := new(big.Int).Sub(new(big.Int).Neg(n), big.NewInt(1)).Bytes()
	if len(b) == 0 || b[0]&signBit != 0 {
		b = slices.Insert(b, 0, 0)
	}
	for i := range b {
		b[i] = ^b[i]
	}
	return b
}

func fromTwosComplement(b []byte) *big.Int {
	if len(b) == 0 || b[0]&signBit == 0 {
		return new(big.Int).SetBytes(b)
	}
	inverted := make([]byte, len(b))
	for i := range b {
		inverted[i] = ^b[i]
	}
	n := new(big.Int).SetBytes(inverted)
	return n.Neg(n.Add(n, big.NewInt(1)))
}
