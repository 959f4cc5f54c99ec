// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"fmt"
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
)

func init() {
	beam.RegisterCoder(reflect.TypeFor[Deferral](), EncodeDeferral, DecodeDeferral)
	beam.RegisterCoder(reflect.TypeFor[ValveEvent](), EncodeValveEvent, DecodeValveEvent)
}

// Deferral is what became of a message that did not pass.
type Deferral struct {
	// Handle is the message's handle: the new one if the outcome is Deferred.
	Handle coders.ReceiptHandle
	// Delay is for how long the message was deferred, from the request on; zero
	// if it was not.
	Delay time.Duration
	// Outcome is [ackfn.Deferred]; [ackfn.Expired] if the lease was over, here
	// or at the broker; [ackfn.Malformed] if the broker cannot read the handle;
	// or [ackfn.Failed] if the request failed twice. In the last three cases
	// the message is delivered again when its lease ends, without the delay.
	Outcome ackfn.Outcome
	// Detail says why, unless the outcome is Deferred. Of a message that
	// [MaxDeliveryAttempt] would let pass, had its lease not ended, it says so.
	Detail string

	// place is set on the way from the DoFn to its emitter only.
	place *placed.Place
}

// Equal says whether the two say the same of the same delivery.
func (d Deferral) Equal(o Deferral) bool {
	return d.Handle.Equal(o.Handle) && d.Delay == o.Delay && d.Outcome == o.Outcome && d.Detail == o.Detail
}

// ValveEvent is a message that a valve let through although the policy would
// have deferred it. There is none for a message whose lease had ended.
type ValveEvent struct {
	// Message is un-acknowledged, unless AckPassed is on and DivertValve off.
	Message coders.AckableMessage
	// Reason is which valve it was; Detail says it in numbers.
	Reason Reason
	Detail string
}

// The encodings are protocol buffer messages
//
//	message Deferral   { bytes result = 1; int64 delay_nanos = 2; }
//	message ValveEvent { bytes message = 1; string reason = 2; string detail = 3; }
//
// with an encoded ackfn.Result and coders.AckableMessage inside.

// EncodeDeferral writes d for a shuffle.
func EncodeDeferral(d Deferral) ([]byte, error) {
	inner, err := ackfn.EncodeResult(ackfn.Result{Handle: d.Handle, Outcome: d.Outcome, Detail: d.Detail})
	if err != nil {
		return nil, err
	}
	buf := make([]byte, 0, len(inner)+16)
	buf = appendBytes(buf, 1, inner)
	buf = protowire.AppendTag(buf, 2, protowire.VarintType)
	return protowire.AppendVarint(buf, uint64(d.Delay)), nil
}

// DecodeDeferral reads what [EncodeDeferral] wrote. Its error wraps
// [coders.ErrMalformed] or [coders.ErrVersion].
func DecodeDeferral(data []byte) (Deferral, error) {
	var d Deferral
	found := false
	err := eachField("Deferral", data, func(n protowire.Number, kind protowire.Type, value []byte) error {
		switch {
		case n == 1 && kind == protowire.BytesType:
			r, err := ackfn.DecodeResult(value)
			d.Handle, d.Outcome, d.Detail, found = r.Handle, r.Outcome, r.Detail, err == nil
			return err
		case n == 2 && kind == protowire.VarintType:
			v, _ := protowire.ConsumeVarint(value)
			d.Delay = time.Duration(v)
		}
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("Deferral: %w: it has no handle", coders.ErrMalformed)
	}
	if err != nil {
		return Deferral{}, err
	}
	return d, nil
}

// EncodeValveEvent writes e for a shuffle.
func EncodeValveEvent(e ValveEvent) ([]byte, error) {
	inner, err := coders.EncodeAckableMessage(e.Message)
	if err != nil {
		return nil, err
	}
	buf := make([]byte, 0, len(inner)+len(e.Reason)+len(e.Detail)+24)
	buf = appendBytes(buf, 1, inner)
	buf = appendBytes(buf, 2, []byte(e.Reason))
	return appendBytes(buf, 3, []byte(e.Detail)), nil
}

// DecodeValveEvent reads what [EncodeValveEvent] wrote. The message's body
// shares memory with data. Its error wraps [coders.ErrMalformed] or
// [coders.ErrVersion].
func DecodeValveEvent(data []byte) (ValveEvent, error) {
	var e ValveEvent
	found := false
	err := eachField("ValveEvent", data, func(n protowire.Number, kind protowire.Type, value []byte) error {
		if kind != protowire.BytesType {
			return nil
		}
		switch n {
		case 1:
			var err error
			e.Message, err = coders.DecodeAckableMessage(value)
			found = err == nil
			return err
		case 2:
			e.Reason = Reason(value)
		case 3:
			e.Detail = string(value)
		}
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("ValveEvent: %w: it has no message", coders.ErrMalformed)
	}
	if err != nil {
		return ValveEvent{}, err
	}
	return e, nil
}

func appendBytes(buf []byte, n protowire.Number, value []byte) []byte {
	buf = protowire.AppendTag(buf, n, protowire.BytesType)
	return protowire.AppendBytes(buf, value)
}

// eachField calls take for the fields of a message; of bytes it gives the
// content, of other kinds the encoded value.
func eachField(kind string, data []byte, take func(protowire.Number, protowire.Type, []byte) error) error {
	for len(data) > 0 {
		number, wire, n := protowire.ConsumeTag(data)
		if n < 0 {
			return fmt.Errorf("%s: %w: %v", kind, coders.ErrMalformed, protowire.ParseError(n))
		}
		data = data[n:]
		n = protowire.ConsumeFieldValue(number, wire, data)
		if n < 0 {
			return fmt.Errorf("%s: %w: %v", kind, coders.ErrMalformed, protowire.ParseError(n))
		}
		value := data[:n]
		data = data[n:]
		if wire == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(value)
		}
		if err := take(number, wire, value); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}
