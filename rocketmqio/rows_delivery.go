// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/uuid"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/delivered"
	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
)

// Delivery is what is to be written for one delivery of a message of a lite
// topic, before that is acknowledged. Messages may be empty.
type Delivery struct {
	Messages []OutgoingMessage
	Handle   coders.ReceiptHandle
}

// WriteDeliveries writes the messages of a PCollection<[Delivery]>, with the
// options of [Write], and returns a PCollection<coders.ReceiptHandle> of the
// deliveries whose messages are all stored, for ackfn.Ack. So a lite topic can be
// passed on to a normal one with nothing lost: the handles leave the transform
// when the bundle that has written the messages is done, and not before.
//
// With the guarantee [None] a message that cannot be written is counted, and its
// delivery is acknowledged all the same.
func WriteDeliveries(s beam.Scope, nameServers string, col beam.PCollection, opts ...WriteOption) beam.PCollection {
	s = s.Scope("rocketmqio.WriteDeliveries")
	cfg, err := newWriteConfig(nameServers, opts)
	if err == nil && !delivered.Is[Delivery](col) {
		err = fmt.Errorf("the input is of type %v: want rocketmqio.Delivery", col.Type())
	}
	if err == nil && cfg.Guarantee == ExactlyOnce {
		err = errors.New("deliveries of lite topics may be repeated: EXACTLY_ONCE cannot be promised for them")
	}
	if err != nil {
		panic(fmt.Sprintf("rocketmqio.WriteDeliveries: %v", err))
	}
	cfg.SinkID = uuid.NewString()
	stored := beam.ParDo(s, &deliverFn{bundleWriter: bundleWriter{Config: cfg}}, col)
	return delivered.Handles(s, stored)
}

func init() {
	beam.RegisterCoder(reflect.TypeFor[Delivery](), encodeDelivery, decodeDelivery)
	// By reflection: it is called once for many rows at the best, and what makes
	// it faster costs the compiler much.
	beam.RegisterDoFn(&deliverFn{})
}

// deliveryWire is a Delivery in the encodings of its parts.
type deliveryWire struct {
	Messages [][]byte `json:"m"`
	Handle   []byte   `json:"h"`
}

func encodeDelivery(d Delivery) ([]byte, error) {
	var w deliveryWire
	for _, m := range d.Messages {
		b, err := EncodeOutgoingMessage(m)
		if err != nil {
			return nil, err
		}
		w.Messages = append(w.Messages, b)
	}
	var err error
	if w.Handle, err = coders.EncodeReceiptHandle(d.Handle); err != nil {
		return nil, err
	}
	return json.Marshal(w)
}

func decodeDelivery(data []byte) (d Delivery, err error) {
	var w deliveryWire
	if err := json.Unmarshal(data, &w); err != nil {
		return d, fmt.Errorf("rocketmqio: Delivery: %w", err)
	}
	for _, b := range w.Messages {
		m, err := DecodeOutgoingMessage(b)
		if err != nil {
			return d, err
		}
		d.Messages = append(d.Messages, m)
	}
	d.Handle, err = coders.DecodeReceiptHandle(w.Handle)
	return d, err
}

// deliverFn writes the messages of deliveries, and hands on the handles when all
// of its bundle is stored.
type deliverFn struct {
	bundleWriter

	open delivered.Open
}

func dropResult(WriteResult) {}

// StartBundle forgets what a failed bundle left behind.
func (fn *deliverFn) StartBundle(ctx context.Context, _ delivered.Emit) {
	fn.open = nil
	fn.bundleWriter.StartBundle(ctx, dropResult)
}

// ProcessElement hands the messages of a delivery over.
func (fn *deliverFn) ProcessElement(ctx context.Context, pane beam.PaneInfo, w beam.Window, t beam.EventTime, d Delivery, _ delivered.Emit) error {
	place := placed.Place{Pane: pane, Window: w, Time: t}
	for _, m := range d.Messages {
		if err := fn.add(ctx, &written{message: m, place: place}, dropResult); err != nil {
			return err
		}
	}
	fn.open.Add(d.Handle, place)
	return nil
}

// FinishBundle returns when all messages are stored.
func (fn *deliverFn) FinishBundle(ctx context.Context, emit delivered.Emit) error {
	if err := fn.bundleWriter.FinishBundle(ctx, dropResult); err != nil {
		return err
	}
	fn.open.Emit(emit)
	return nil
}
