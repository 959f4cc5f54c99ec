// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package throttlefn slows down lite topics, message by message, after the
// pipeline has looked at them.
//
//	groups := throttlefn.GroupByLiteTopic(s, msgs, throttlefn.GroupEvery(time.Second))
//	fair := throttlefn.Throttle(s, groups, throttlefn.Quota{PerWindow: 50, Defer: 20 * time.Second})
//	done := beam.ParDo(s, work, fair.Passed)
//	ackfn.Ack(s, done)
//
// [GroupByLiteTopic] collects messages by key and window, a [Policy] decides
// about each of a group, and [Throttle] asks the broker to deliver again later
// what is deferred, by a change of its lease.
package throttlefn
