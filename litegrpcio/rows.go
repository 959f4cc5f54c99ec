// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/internal/connector"
	"github.com/rocketmq-beam/rocketmq-beam/internal/table"
)

// ReadRows reads a table over lite topics as Beam rows: structs with a field for
// each column, whose schema Beam knows. The rows carry no handles, so that nothing
// is acknowledged, and each message comes again when its lease ends: it is for
// looking, and for work whose end is not the pipeline's concern. To acknowledge
// after the work, use [ReadRowsWithHandles].
//
// createTable is a CREATE TABLE statement whose connector is rocketmq-grpc, see
// docs/tables.md. row is the struct: each column needs a field of its name or with
// the tag `beam:"name"`, of the type that package rowtype says; register it with
// beam.RegisterType. With nil the struct is made of the columns, for transforms
// that go by schema.
//
// ReadRows panics if the statement, the struct or an option is wrong, with a text
// that names it.
func ReadRows(s beam.Scope, createTable string, row reflect.Type, opts ...ReadOption) beam.PCollection {
	s = s.Scope("litegrpcio.ReadRows")
	d, made, err := declareRows(createTable, row)
	if err == nil && d.Config.LiteSource.Ack == connector.AckLast {
		err = errors.New("'rocketmq.source.ack' = 'last-step': rows alone cannot be acknowledged: use ReadRowsWithHandles, and let the pipeline end in ackfn.Ack")
	}
	if err != nil {
		panic(fmt.Sprintf("litegrpcio.ReadRows: %v", err))
	}
	fn := &readRowsFn{table.RowsSourceOf(d.Side(), row)}
	return beam.ParDo(s, fn, readTable(s, d, opts), beam.TypeDefinition{Var: beam.XType, T: made})
}

// ReadRowsWithHandles is [ReadRows] with the handle beside each row: it returns
// PCollection<KV<row, coders.ReceiptHandle>>, which ackfn.Ack takes after the
// pipeline's last step. The rows of a message share its handle; whichever comes to
// Ack first acknowledges the message. One without any row, such as an empty body or
// rows that are skipped, has no handle either and comes again.
func ReadRowsWithHandles(s beam.Scope, createTable string, row reflect.Type, opts ...ReadOption) beam.PCollection {
	s = s.Scope("litegrpcio.ReadRowsWithHandles")
	d, made, err := declareRows(createTable, row)
	if err != nil {
		panic(fmt.Sprintf("litegrpcio.ReadRowsWithHandles: %v", err))
	}
	fn := &readRowsWithHandlesFn{readRowsFn{table.RowsSourceOf(d.Side(), row)}}
	return beam.ParDo(s, fn, readTable(s, d, opts), beam.TypeDefinition{Var: beam.XType, T: made})
}

func declareRows(createTable string, row reflect.Type) (*table.Declared, reflect.Type, error) {
	d, err := table.Declare(createTable, connector.Read, connector.GRPC)
	if err != nil {
		return nil, nil, err
	}
	row, err = d.RowType(row)
	return d, row, err
}

// WriteRows writes Beam rows to the lite topic of a table and returns a
// PCollection<[WriteResult]>. col holds structs as [ReadRows] makes them. It is
// [WriteTable], and what makes bodies of rows. A row that cannot be written fails
// the bundle.
//
// WriteRows panics if the statement, the type of col or an option is wrong, with a
// text that names it.
func WriteRows(s beam.Scope, createTable string, col beam.PCollection, opts ...WriteOption) beam.PCollection {
	s = s.Scope("litegrpcio.WriteRows")
	d, err := table.Declare(createTable, connector.Write, connector.GRPC)
	if err == nil && !col.IsValid() {
		err = errors.New("the input is no PCollection of this pipeline")
	}
	if err == nil {
		_, err = d.Writable(col.Type().Type())
	}
	if err != nil {
		panic(fmt.Sprintf("litegrpcio.WriteRows: %v", err))
	}
	fn := &writeRowsFn{table.RowsSink{Side: d.Side()}}
	return writeTable(s, d, beam.ParDo(s, fn, col), opts)
}
