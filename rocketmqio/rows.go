// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/internal/connector"
	"github.com/rocketmq-beam/rocketmq-beam/internal/table"
)

// ReadRows reads a table as Beam rows: structs with a field for each column,
// whose schema Beam knows, so that its schema transforms and SQL take them. It is
// [ReadTable], and what makes rows of bodies and metadata.
//
// createTable is a CREATE TABLE statement, see docs/tables.md. row is the struct:
// each column needs a field of its name or with the tag `beam:"name"`, of the type
// that package rowtype says; register it with beam.RegisterType. With nil the
// struct is made of the columns, for transforms that go by schema.
//
// Rows that cannot be read fail the bundle, or are counted in metrics of the
// namespace rocketmq.table, as the table's options say.
//
//	type order struct {
//		ID    int64            `beam:"id"`    // id BIGINT NOT NULL
//		Price *rowtype.Decimal `beam:"price"` // price DECIMAL(10, 2)
//	}
//
// ReadRows panics if the statement, the struct or an option is wrong, with a text
// that names it.
func ReadRows(s beam.Scope, createTable string, row reflect.Type, opts ...ReadOption) beam.PCollection {
	s = s.Scope("rocketmqio.ReadRows")
	d, err := table.Declare(createTable, connector.Read, connectors...)
	given := row
	if err == nil {
		row, err = d.RowType(given)
	}
	if err != nil {
		panic(fmt.Sprintf("rocketmqio.ReadRows: %v", err))
	}
	fn := &readRowsFn{table.RowsSourceOf(d.Side(), given)}
	return beam.ParDo(s, fn, readTable(s, d, opts), beam.TypeDefinition{Var: beam.XType, T: row})
}

// WriteRows writes Beam rows to a table and returns a PCollection<[WriteResult]>.
// col holds structs as [ReadRows] makes them, with a field for each column that is
// not VIRTUAL. It is [WriteTable], and what makes bodies, keys and tags of rows.
//
// A row that cannot be written, such as one with a number that the column has no
// room for, fails the bundle.
//
// WriteRows panics if the statement, the type of col or an option is wrong, with a
// text that names it.
func WriteRows(s beam.Scope, createTable string, col beam.PCollection, opts ...WriteOption) beam.PCollection {
	s = s.Scope("rocketmqio.WriteRows")
	d, err := table.Declare(createTable, connector.Write, connectors...)
	if err == nil && !col.IsValid() {
		err = errors.New("the input is no PCollection of this pipeline")
	}
	if err == nil {
		_, err = d.Writable(col.Type().Type())
	}
	if err != nil {
		panic(fmt.Sprintf("rocketmqio.WriteRows: %v", err))
	}
	fn := &writeRowsFn{table.RowsSink{Side: d.Side()}}
	return writeTable(s, d, beam.ParDo(s, fn, col), opts)
}
