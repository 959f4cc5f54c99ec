// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package coders holds the records that cross a shuffle between reading a
// message and acknowledging it, and their Beam coders.
//
// [AckableMessage] is what the lite-topic source emits: the message and the
// [ReceiptHandle] with which any worker of the same consumer group can
// acknowledge or defer it later. Neither has room for credentials, so none can
// travel in a pipeline's data.
//
// [Message] is what the source of normal topics emits.
//
// All types are registered with Beam when the package is imported. The bytes
// are protocol buffers in the schema of record.proto, written in one fixed
// order: equal records give equal bytes, so the types can be keys. A record
// cut short, a foreign record and a record of a later incompatible version are
// refused with an error that wraps [ErrMalformed] or [ErrVersion].
package coders
