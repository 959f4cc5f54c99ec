// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
)

func init() {
	beam.RegisterCoder(reflect.TypeFor[Result](), EncodeResult, DecodeResult)
}

// Result is what became of one handle.
type Result struct {
	// Handle is the handle that was acknowledged, or after a deferral the new
	// one, which alone may be relied on from then on.
	Handle coders.ReceiptHandle
	// Outcome is what the broker said.
	Outcome Outcome
	// Detail is the broker's text where the outcome is not the wished one, else
	// empty.
	Detail string

	// place is set on the way from the DoFn to its emitter only.
	place *placed.Place
}

// Equal says whether the two are the same result for the same delivery.
func (r Result) Equal(o Result) bool {
	return r.Handle.Equal(o.Handle) && r.Outcome == o.Outcome && r.Detail == o.Detail
}

// The field numbers of an encoded Result: a protocol buffer message
//
//	message Result { bytes handle = 1; uint32 outcome = 2; string detail = 3; }
//
// whose handle is the record that package coders writes, with its own version.
const (
	resultHandle protowire.Number = iota + 1
	resultOutcome
	resultDetail
)

// EncodeResult writes r for a shuffle. It fails where
// [coders.EncodeReceiptHandle] does.
func EncodeResult(r Result) ([]byte, error) {
	handle, err := coders.EncodeReceiptHandle(r.Handle)
	if err != nil {
		return nil, err
	}
	buf := make([]byte, 0, len(handle)+len(r.Detail)+16)
	buf = protowire.AppendTag(buf, resultHandle, protowire.BytesType)
	buf = protowire.AppendBytes(buf, handle)
	buf = protowire.AppendTag(buf, resultOutcome, protowire.VarintType)
	buf = protowire.AppendVarint(buf, uint64(r.Outcome))
	if r.Detail != "" {
		buf = protowire.AppendTag(buf, resultDetail, protowire.BytesType)
		buf = protowire.AppendString(buf, r.Detail)
	}
	return buf, nil
}

// DecodeResult reads what [EncodeResult] wrote. Its error wraps
// [coders.ErrMalformed] or [coders.ErrVersion].
func DecodeResult(data []byte) (Result, error) {
	var r Result
	var hasHandle bool
	for rest := data; len(rest) > 0; {
		number, kind, n := protowire.ConsumeTag(rest)
		if n < 0 {
			return Result{}, malformed("Result", protowire.ParseError(n))
		}
		rest = rest[n:]
		size := protowire.ConsumeFieldValue(number, kind, rest)
		if size < 0 {
			return Result{}, malformed("Result", protowire.ParseError(size))
		}
		value := rest[:size]
		rest = rest[size:]
		switch {
		case number == resultHandle && kind == protowire.BytesType:
			body, _ := protowire.ConsumeBytes(value)
			h, err := coders.DecodeReceiptHandle(body)
			if err != nil {
				return Result{}, fmt.Errorf("Result.Handle: %w", err)
			}
			r.Handle, hasHandle = h, true
		case number == resultOutcome && kind == protowire.VarintType:
			v, _ := protowire.ConsumeVarint(value)
			r.Outcome = Outcome(v)
		case number == resultDetail && kind == protowire.BytesType:
			body, _ := protowire.ConsumeBytes(value)
			r.Detail = string(body)
		}
	}
	if !hasHandle {
		return Result{}, malformed("Result", fmt.Errorf("it has no handle"))
	}
	return r, nil
}

func malformed(kind string, err error) error {
	return fmt.Errorf("%s: %w: %v", kind, coders.ErrMalformed, err)
}
