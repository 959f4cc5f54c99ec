// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rocketmqio reads and writes the normal topics of Apache RocketMQ 4.x
// and 5.x over the remoting protocol.
//
// [Read] discovers the queues of its topics, reads each from a start position
// on, with offsets that can be replayed, and emits a PCollection of
// [coders.Message]. [Decode], [DecodeBody] and [Bodies] make of it what the
// pipeline works on. [Write] writes a PCollection of [OutgoingMessage], or of
// messages that were read, and emits a result for each.
//
// # What is promised
//
// At least once, for both. The position in each queue is part of the runner's
// checkpoint: after a failure the runner goes on from there, whatever offset the
// consumer group has committed at the broker. Within a queue messages are
// emitted in order. What is promised of writing stands at [Write] and
// [Guarantee].
//
// # What a committed offset promises
//
// The offset committed at the broker for the consumer group is never beyond
// what this transform has handed on to the pipeline in bundles that the runner
// has finished. It does not say that later steps are done with it. It serves
// [Committed] starts of a new pipeline, and lag dashboards; a pipeline that its
// runner restores does not look at it.
//
// A new pipeline that starts there reads again what was handed on since the last
// commit: what came within a commit interval and a bundle. An operator who resets
// the offset moves the next pipeline, not one that runs. Committing relies on a
// shuffle and not on bundle finalization, which runners lack or call when they
// like. A commit that fails fails no bundle; the next one makes up for it.
//
// With [ReadTracked] and [Commit] it says that they are done: it is then never
// beyond the first message on which the work is not.
//
// # Queues and workers
//
// The runner assigns queues to workers. The allocation strategies that other
// connectors offer (average, consistent hash, broadcast) have no counterpart:
// each queue is one restriction, which the runner may process wherever it
// likes. For broadcast, where each reader sees everything, apply [Read] once
// for each reader.
package rocketmqio
