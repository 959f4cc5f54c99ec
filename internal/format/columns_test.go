// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"testing"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

func column(t testing.TB, name, typ string, args ...int) sqltype.Column {
	t.Helper()
	parsed, err := sqltype.Named(typ, args...)
	if err != nil {
		t.Fatal(err)
	}
	return sqltype.Column{Name: name, Type: parsed}
}

func required(c sqltype.Column) sqltype.Column { c.Type = c.Type.Required(); return c }

// people is the table of most tests: id BIGINT NOT NULL, name STRING, age INT.
func people(t testing.TB) sqltype.Schema {
	return sqltype.Schema{required(column(t, "id", "BIGINT")), column(t, "name", "STRING"), column(t, "age", "INT")}
}

// wide has a column of each type that all formats have.
func wide(t testing.TB) sqltype.Schema {
	return sqltype.Schema{
		column(t, "b", "BOOLEAN"), column(t, "i1", "TINYINT"), column(t, "i2", "SMALLINT"), column(t, "i4", "INT"), column(t, "i8", "BIGINT"),
		column(t, "f4", "FLOAT"), column(t, "f8", "DOUBLE"), column(t, "dec", "DECIMAL", 10, 2), column(t, "s", "STRING"), column(t, "v", "VARCHAR", 3),
		column(t, "x", "BYTES"), column(t, "d", "DATE"), column(t, "t", "TIME", 3), column(t, "ts", "TIMESTAMP", 3), column(t, "lt", "TIMESTAMP_LTZ", 3),
	}
}

func format(t testing.TB, c Config, columns sqltype.Schema) Format {
	t.Helper()
	f, err := New(c, columns)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
