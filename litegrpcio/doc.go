// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package litegrpcio reads and writes the lite topics of Apache RocketMQ 5.x
// over gRPC.
//
// A lite topic is one of many thousands below one main topic: one per tenant,
// session or agent. [Read] receives from all of them through the wildcard
// subscription of a consumer group and emits a PCollection of
// [coders.AckableMessage]. It never acknowledges: whether a message is done, or
// must wait because its tenant is over quota, is known only after the work.
// Package throttlefn defers, package ackfn acknowledges; a message that is
// neither acknowledged nor deferred is delivered again when its lease ends.
//
// # What is promised
//
// At least once. A message is delivered until it is acknowledged, so it may be
// seen more than once: when its lease ends before the ack, when a worker dies,
// when the broker repeats itself. Work that follows should bear a repetition;
// Handle.MessageID is the same each time. Nothing about order is promised
// across lite topics; within one, the broker delivers in order and holds back
// what follows while something is un-acked.
//
// # Limits
//
// One main topic per Read, all its lite topics, no start position: the broker
// keeps the group's position. The group needs the attributes
// lite.bind.topic=<main topic> and lite.sub.wildcard=true, and RocketMQ 5.5 or
// later; see docs/lite-topics.md.
package litegrpcio
