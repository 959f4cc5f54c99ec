// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

// Policy decides which messages of a group go on and which are delivered again
// later. Its fields travel in the pipeline graph as JSON, so all that matters
// must be exported; register the type with [RegisterPolicy] in an init function.
//
// A policy may also have a method Check() error, which refuses wrong values
// while the pipeline is built.
type Policy interface {
	// Start returns the function that decides. It is called once a process and
	// configuration, so that what the function keeps in its closure is shared
	// by all bundles, which call it at the same time: it must be safe for that.
	// It is forgotten when the transform has been idle for a while.
	Start() Decide
}

// Decide says what to do with one message of a group. It is called for the
// messages of a group one after another: the oldest first, and those of one lite
// topic in the order of their offsets. It is not called for a message that
// follows a deferred one in its lite topic.
type Decide func(m coders.AckableMessage, at Position) Verdict

// Position says where a message stands in its group.
type Position struct {
	// Key is the group's key: the lite topic with [GroupByLiteTopic].
	Key string
	// Index counts the messages of the group, from 0.
	Index int
	// Passed is how many messages of this group have passed so far, those that
	// a valve let through included.
	Passed int
	// Now is the worker's clock.
	Now time.Time
}

// Verdict is what a policy decides: [Pass], [Defer] or [DeferAlone]. The zero
// value passes.
type Verdict struct {
	delay    time.Duration
	deferred bool
	alone    bool
}

// Pass lets the message go on.
func Pass() Verdict { return Verdict{} }

// Defer has the message delivered again after d. The messages behind it in its
// lite topic are deferred with it, without asking: RocketMQ delivers a lite
// topic in order and goes on from the first message that is not acknowledged,
// so what passes behind a deferred message is delivered a second time. A d of
// less than a second counts as one.
func Defer(d time.Duration) Verdict { return Verdict{delay: d, deferred: true} }

// DeferAlone is [Defer] for this message only: the policy is asked about those
// behind it, and what it lets pass will be delivered twice. It never suspends
// (see [Suspend]).
func DeferAlone(d time.Duration) Verdict { return Verdict{delay: d, deferred: true, alone: true} }
