// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package throttlefn slows down lite topics, message by message, after the
// pipeline has looked at them.
//
//	groups := throttlefn.GroupByLiteTopic(s, msgs, throttlefn.GroupEvery(time.Second))
//	fair := throttlefn.Throttle(s, groups, throttlefn.Quota{PerWindow: 10, Defer: 20 * time.Second})
//	done := beam.ParDo(s, work, fair.Passed)
//	ackfn.Ack(s, done)
//
// [GroupByLiteTopic] collects messages by key and window, a [Policy] decides
// about each message of a group, and [Throttle] asks the broker, by a change of
// its lease, to deliver again later what is deferred. What passes is worked on
// and acknowledged as without throttling. Policies: [Quota], [TokenBucket],
// [DeferWhile], and the user's own.
//
// # How it goes together with the order of lite topics
//
// RocketMQ delivers what waits in a lite topic as one batch, up to 32 messages,
// and then nothing more of that lite topic until all of the batch is
// acknowledged or visible again. It goes on from the first message that is not
// acknowledged. Hence:
//
//   - Deferring one message holds up its whole lite topic, and no other one. The
//     longest deferral in a batch decides.
//   - What is acknowledged behind a deferred message is delivered a second time.
//     So Throttle decides in the order of the lite topic, and what follows a
//     deferred message is deferred with it, to the same time, even if the end of
//     a window cuts the batch in two. A policy that wants otherwise uses
//     [DeferAlone].
//   - A key that takes in many lite topics (see [GroupBy]) is decided about from
//     the oldest message to the newest, so that a deferred one is the first when
//     it comes again.
//
// # Deferring is not failing
//
// Letting a message fail to slow it down costs one delivery attempt each time,
// and after the group's retryMaxTimes (16 by default) the broker puts it with
// the dead letters. A deferral with [Suspend], on by default, costs none where
// the broker is 5.5 or later and no message of the lite topic is in work longer
// than the deferral; otherwise it costs one like a failure. An example: a batch
// of 32 messages of one lite topic, Quota{PerWindow: 5, Defer: 20 s} and leases
// of 60 s. Each round lets five pass; the last two have been deferred six times
// when they pass in the seventh round, after about two minutes. Even unsuspended
// that is attempt 7 of 16. With PerWindow: 1 the last message would need 32
// rounds: promise with [WorkWithin] how long the work takes, so that deferrals
// can be suspended, or let the source take smaller batches.
//
// A suspend takes back an attempt from every message of the batch, also from one
// whose work failed. Do not count on a dead-letter topic for such messages while
// their lite topic is being throttled; count attempts in the work itself.
//
// # What keeps a message from being deferred for ever
//
// Two valves let a message through although the policy would defer it, and tell
// so in the output Valve: from delivery attempt 16 on ([MaxDeliveryAttempt]), and
// after 30 minutes of deferral altogether ([MaxTotalDelay]). They open for a
// message that gets here within its lease only, see below. The time is counted
// for the 100 000 messages of a process that were deferred last; what it does not
// know, after a restart or because there are more, it defers without suspend, so
// that the attempts open the other valve. Attempts are those that the broker
// tells: where a delivery mixes old and new messages of a lite topic, RocketMQ
// 5.5.0 tells 1 for all of them, and counts on. Each deferral is
// capped besides ([MaxDelay]). The broker deletes a lite topic that got no
// messages for its time to live, with what is deferred in it: keep the time to
// live above MaxTotalDelay ([LiteTopicTTL] checks that).
//
// # Leases
//
// From receiving to acknowledging, the lease must last for the window, the
// shuffle, and the work. A message whose lease has ended when it reaches
// Throttle, while the policy decides, or while the work that is fused with
// Throttle is at those before it, is left out, for it is delivered again already,
// whatever its attempt: no valve passes it, and if that happens at every delivery
// it ends with the dead letters. If the counter expired grows, receive with a longer invisible duration, or make windows shorter. The
// deferral should be longer than a window and the shuffle together, or the rest
// of the batch is delivered again before it was decided about.
//
// # Cost and precision
//
// Each deferral is a request, and a redelivery later. Deferred messages come
// back some hundred milliseconds after their time, plus the wait for their next
// window.
//
// # Metrics
//
// All in the namespace rocketmq.throttlefn:
//
//	passed                 messages in the output Passed
//	deferred               deferrals that the broker took
//	deferred_unsuspended   of these, made without suspend although Suspend is on:
//	                       a message of the lite topic was in work, or one may
//	                       have been deferred before without being known here
//	valve_passed           messages let through by a valve
//	expired                leases that had ended, here or at the broker
//	defer_failed           deferrals given up; the message comes back when its
//	                       lease ends
//	throttled_ms           time that deferrals waited because of flow control
//	defer_latency_ms       time that the broker took to answer a deferral
//	delay_ms               for how long messages were deferred
package throttlefn
