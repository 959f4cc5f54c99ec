// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rowtype

import (
	"io"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// provider tells Beam of a type: what it is inside, and how it is written.
type provider struct {
	storage reflect.Type
	encode  func(any, io.Writer) error
	decode  func(io.Reader) (any, error)
}

// FromLogicalType is what the type is inside.
func (p provider) FromLogicalType(reflect.Type) (reflect.Type, error) { return p.storage, nil }

// BuildEncoder is how the type is written.
func (p provider) BuildEncoder(reflect.Type) (func(any, io.Writer) error, error) {
	return p.encode, nil
}

// BuildDecoder is how the type is read.
func (p provider) BuildDecoder(reflect.Type) (func(io.Reader) (any, error), error) {
	return p.decode, nil
}

func register[T any](urn string, p provider) {
	beam.RegisterType(reflect.TypeFor[T]())
	beam.RegisterSchemaProviderWithURN(reflect.TypeFor[T](), p, urn)
}

func init() {
	number := reflect.TypeFor[int64]()
	register[Decimal]("beam:logical_type:decimal:v1", provider{reflect.TypeFor[[]byte](), encodeDecimal, decodeDecimal})
	register[Date]("beam:logical_type:date:v1", provider{number, encodeDate, decodeDate})
	register[Time]("beam:logical_type:time:v1", provider{number, encodeTime, decodeTime})
	register[DateTime]("beam:logical_type:datetime:v1", provider{reflect.TypeFor[dateTimeRow](), encodeDateTime, decodeDateTime})
	register[Instant]("beam:logical_type:millis_instant:v1", provider{number, encodeInstant, decodeInstant})
}
