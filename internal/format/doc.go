// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package format turns the bodies of messages into rows and rows into bodies:
// delimited text, CSV, JSON, and raw bytes.
//
// A body may hold several rows, and some of them may be broken while others are
// not. [Format.Decode] therefore gives both, and the caller decides whether a
// [DecodeError] ends the work or is counted.
package format
