// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package connector holds the options of tables: for each value of 'connector'
// the keys that may stand behind WITH, with type, default and meaning, and how
// they become the settings of a source or sink.
//
// [Parse] reports all faults of a table's options at once. A key either changes
// the settings, or it is refused with the reason; at its default it is taken all
// the same, so that scripts that spell defaults out go on to work.
//
// docs/table-options.md is made of the same keys: go generate writes it.
package connector

//go:generate go test -run TestThePageOfOptionsIsUpToDate -update .
