// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sqltype holds the types of table columns and the values of rows, and
// turns both into text and back. Formats and scripts share it.
//
// A row is a []any in the order of its schema. NULL is nil; the other values
// are, by type:
//
//	BOOLEAN                        bool
//	TINYINT SMALLINT INT BIGINT    int8 int16 int32 int64
//	FLOAT DOUBLE                   float32 float64
//	DECIMAL(p, s)                  decimal.Decimal (github.com/shopspring/decimal)
//	CHAR(n) VARCHAR(n) STRING      string, which is UTF-8
//	BINARY(n) VARBINARY(n) BYTES   []byte
//	DATE                           time.Time at midnight, in UTC
//	TIME(p)                        time.Duration since midnight
//	TIMESTAMP(p)                   time.Time whose clock, read in UTC, is the value
//	TIMESTAMP_LTZ(p)               time.Time, an instant
//	ARRAY<t>                       []any
//	MAP<k, v>                      map[any]any
//
// Values are shared between rows and must not be changed.
package sqltype
