// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/delivered"
	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
)

// Delivery is what is to be written for one delivery of a message of a lite
// topic, before that is acknowledged. Messages may be empty.
type Delivery struct {
	Messages []Message
	Handle   coders.ReceiptHandle
}

// WriteDeliveries writes the messages of a PCollection<[Delivery]>, with the
// options of [Write], and returns a PCollection<coders.ReceiptHandle> of the
// deliveries whose messages are all stored, for ackfn.Ack. So lite topics can be
// passed on to others with nothing lost: the handles leave the transform when the
// bundle that has written the messages is done, and not before.
func WriteDeliveries(s beam.Scope, endpoints, topic string, col beam.PCollection, opts ...WriteOption) beam.PCollection {
	s = s.Scope("litegrpcio.WriteDeliveries")
	cfg, err := newWriteConfig(endpoints, topic, opts)
	if err == nil && !delivered.Is[Delivery](col) {
		err = fmt.Errorf("the input is of type %v: want litegrpcio.Delivery", col.Type())
	}
	if err != nil {
		panic(fmt.Sprintf("litegrpcio.WriteDeliveries: %v", err))
	}
	stored := beam.ParDo(s, &deliverFn{Writer: writeFn{Config: cfg}}, col)
	return delivered.Handles(s, stored)
}

func init() {
	beam.RegisterCoder(reflect.TypeFor[Delivery](), encodeDelivery, decodeDelivery)
	// By reflection: it is called once for many rows at the best, and what makes
	// it faster costs the compiler much.
	beam.RegisterDoFn(&deliverFn{})
}

// deliveryWire is a Delivery with the handle in its own encoding.
type deliveryWire struct {
	Messages []Message `json:"m"`
	Handle   []byte    `json:"h"`
}

func encodeDelivery(d Delivery) ([]byte, error) {
	w := deliveryWire{Messages: d.Messages}
	var err error
	if w.Handle, err = coders.EncodeReceiptHandle(d.Handle); err != nil {
		return nil, err
	}
	return json.Marshal(w)
}

func decodeDelivery(data []byte) (d Delivery, err error) {
	var w deliveryWire
	if err := json.Unmarshal(data, &w); err != nil {
		return d, fmt.Errorf("litegrpcio: Delivery: %w", err)
	}
	d.Messages = w.Messages
	d.Handle, err = coders.DecodeReceiptHandle(w.Handle)
	return d, err
}

// deliverFn writes the messages of deliveries, and hands on the handles when all
// of its bundle is stored.
type deliverFn struct {
	Writer writeFn

	open delivered.Open
}

func dropResult(WriteResult) {}

// Setup makes the writer ready.
func (fn *deliverFn) Setup() error { return fn.Writer.Setup() }

// StartBundle forgets what a failed bundle left behind.
func (fn *deliverFn) StartBundle(ctx context.Context, _ delivered.Emit) error {
	fn.open = nil
	return fn.Writer.StartBundle(ctx, dropResult)
}

// ProcessElement hands the messages of a delivery over.
func (fn *deliverFn) ProcessElement(ctx context.Context, pane beam.PaneInfo, w beam.Window, t beam.EventTime, d Delivery, _ delivered.Emit) error {
	for _, m := range d.Messages {
		if err := fn.Writer.ProcessElement(ctx, pane, w, t, m, dropResult); err != nil {
			return err
		}
	}
	fn.open.Add(d.Handle, placed.Place{Pane: pane, Window: w, Time: t})
	return nil
}

// FinishBundle returns when all messages are stored.
func (fn *deliverFn) FinishBundle(ctx context.Context, emit delivered.Emit) error {
	if err := fn.Writer.FinishBundle(ctx, dropResult); err != nil {
		return err
	}
	fn.open.Emit(emit)
	return nil
}
