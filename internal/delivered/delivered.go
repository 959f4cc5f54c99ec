// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package delivered has what the sinks share that write what a delivery of a
// message of a lite topic becomes, and hand its receipt handle on when all of that
// is stored.
package delivered

import (
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
)

// Stored is the handle of a delivery all of whose messages are stored.
type Stored struct {
	Handle coders.ReceiptHandle
	place  *placed.Place
}

// Emit puts each handle where its delivery was.
type Emit func(Stored)

func init() {
	beam.RegisterCoder(reflect.TypeFor[Stored](), encode, decode)
	placed.Register[Stored, Emit](func(d *Stored) *placed.Place {
		p := d.place
		d.place = nil
		return p
	})
	// By reflection, as the DoFns that emit: once for many rows at the best, and
	// what makes it faster costs the compiler much.
	beam.RegisterFunction(handle)
}

func encode(d Stored) ([]byte, error) { return coders.EncodeReceiptHandle(d.Handle) }

func decode(data []byte) (d Stored, err error) {
	d.Handle, err = coders.DecodeReceiptHandle(data)
	return d, err
}

func handle(d Stored) coders.ReceiptHandle { return d.Handle }

// Handles makes a PCollection<coders.ReceiptHandle> of one of [Stored].
func Handles(s beam.Scope, stored beam.PCollection) beam.PCollection {
	return beam.ParDo(s, handle, stored)
}

// Is says that col holds elements of type D.
func Is[D any](col beam.PCollection) bool {
	return col.IsValid() && col.Type().Type() == reflect.TypeFor[D]()
}

// Open are the deliveries of a bundle that is not yet stored.
type Open []Stored

// Add takes a delivery.
func (o *Open) Add(h coders.ReceiptHandle, at placed.Place) { *o = append(*o, Stored{h, &at}) }

// Emit emits and forgets them, when the bundle is stored.
func (o *Open) Emit(emit Emit) {
	for _, d := range *o {
		emit(d)
	}
	*o = nil
}
