// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package remoting speaks RocketMQ's remoting protocol: the calls of a source
// and a sink for normal topics of RocketMQ 4.x and 5.x.
//
// A [Client] has connections to name servers and brokers, one an address,
// opened when first needed and closed when idle. Each call is one method in a
// file of its own, named by the request code, takes a context that ends it at
// once, and returns a [*Error] that says what helps. The client keeps no state
// beside connections and routes: offsets, retries and pauses are the caller's.
//
// The package decodes messages by itself. primitive.DecodeMessage of
// rocketmq-client-go/v2 has no error to return: damaged bytes become wrong
// messages, a negative length a panic, and a body that cannot be decompressed
// something else. It neither compares checksums nor takes batches that are
// stored as one apart, makes a map of each message's properties whether anyone
// asks for them or not, and importing it looks up the host's addresses.
//
// # Names
//
// With [Config.Namespace], topics and groups are given and returned without
// it. What the broker calls "INST%topic" is "topic" here.
//
// # What belongs to whom
//
// A connection has three goroutines: a reader, a writer and one that runs the
// [Config.Handler] for what servers ask. [Client.Close] ends them all and
// waits for them. A call whose context ends leaves nothing behind: its entry
// in the table of pending requests is gone, and an answer that comes late is
// dropped.
package remoting
