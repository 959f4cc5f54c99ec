// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package table works on the messages of tables: [Reader] makes rows of them,
// [Writer] makes messages of rows, [Insert] does both with a statement in
// between. Each is made on the worker, of a description that travels in the
// pipeline's graph and holds no secret.
//
// Rows are []any, as package sqltype has them. [RowType] makes Beam rows of
// them: structs whose schema Beam knows.
package table
