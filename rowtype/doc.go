// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rowtype has types of fields of Beam rows that Go has no type of its own
// for, or whose own type Beam's schemas do not know. Schema transforms of other
// languages, SQL among them, know them by the names that Beam gives to them.
//
// Rows of tables (rocketmqio.ReadRows, litegrpcio.ReadRows) are structs with a
// field for each column:
//
//	BOOLEAN                       bool
//	TINYINT SMALLINT INT          int32
//	BIGINT                        int64
//	FLOAT DOUBLE                  float32 float64
//	DECIMAL                       [Decimal]
//	CHAR VARCHAR STRING           string
//	BINARY VARBINARY BYTES        []byte
//	DATE TIME TIMESTAMP           [Date] [Time] [DateTime]
//	TIMESTAMP_LTZ(0 to 3)         [Instant]
//	ARRAY<t> MAP<k, v>            slices and maps
//
// A field is a pointer to that, with nil for NULL, unless the column is NOT NULL.
// TINYINT and SMALLINT are widened: Beam has no signed type of one byte, and its
// SDK for Go writes those of two bytes in another way than its other SDKs.
package rowtype
