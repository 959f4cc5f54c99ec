// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package litebench receives and acknowledges the messages of lite topics, once
// by the least program that can and once by the whole Beam pipeline.
package litebench

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/usage"
)

// Load is what a leg handles, and how.
type Load struct {
	// Messages of Body bytes lie in LiteTopics lite topics.
	Messages, LiteTopics, Body int
	// Measured of them are handled, whichever come first; 0 for all.
	Measured int
	// Concurrency is how many polls are under way at a time.
	Concurrency int
	// Shards is into how many parts the pipeline's source is cut; 0 for one.
	Shards int
}

// batch is how many messages a receive asks for. An answer that is larger than
// the 16 MiB that RocketMQ's remoting frames hold breaks the connection between
// proxy and broker.
func (l Load) batch() int {
	const mostBytes = 12 << 20
	return max(min(perRequest, mostBytes/max(l.Body, 1)), 1)
}

func (l Load) measured() int {
	if l.Measured == 0 {
		return l.Messages
	}
	return l.Measured
}

// The settings that both sides share.
const (
	perRequest   = 32               // messages in a receive, unless they are large, and entries in an ack
	invisibility = 60 * time.Second // longer than a leg, so that nothing comes twice
	longPoll     = 5 * time.Second  // the least that proxies wait
	legTimeout   = 3 * time.Minute
)

// Leg is one run: a group that nobody used before, and the main topic that it is
// bound to.
type Leg struct {
	Load
	Endpoints, Name string
	// Runner runs the pipeline; nil for prism in this process.
	Runner Runner

	ids ids
}

// NewLeg is a leg on the topic and group of this name.
func NewLeg(load Load, endpoints, name string) *Leg {
	return &Leg{Load: load, Endpoints: endpoints, Name: name, ids: newIDs()}
}

// Topic is the main topic of a leg by its name. The legs of a comparison that has
// a name share one.
func Topic(name string) string {
	if shared := sharedTopic.FindStringSubmatch(name); shared != nil {
		name = shared[1]
	}
	return "bench-" + name
}

// sharedTopic are the names that [Comparison.Legs] gives.
var sharedTopic = regexp.MustCompile(`^(.+)-[0-9]+-(?:raw|pipeline)$`)

// Group is the consumer group of a leg by its name.
func Group(name string) string { return "bench-" + name + "-group" }

// Run runs one side over the messages that were loaded. It fails if fewer of them
// were acknowledged than are to be measured.
func (l *Leg) Run(ctx context.Context, side comparison.Side) (comparison.Run, error) {
	ctx, cancel := context.WithTimeout(ctx, legTimeout)
	defer cancel()
	t := newTally(l.Messages, l.measured())
	do := l.raw
	if side == comparison.Pipeline {
		do = l.pipeline
	}
	runtime.GC() // the other side's garbage is not this one's to collect
	before, samples := usage.Now(), sampleCPU()
	err := do(ctx, t)
	samples.end()
	spent := usage.Now().Minus(before)
	if err != nil {
		return comparison.Run{}, fmt.Errorf("%v leg on topic %q: %w", side, Topic(l.Name), err)
	}
	if missing := l.measured() - t.distinct(); missing > 0 {
		return comparison.Run{}, fmt.Errorf("%v leg on topic %q: %d of %d messages were not acknowledged", side, Topic(l.Name), missing, l.measured())
	}
	return comparison.Run{
		Messages: l.measured(), Elapsed: t.elapsed(), FirstAck: t.firstAck(), CPU: time.Duration(t.cpuLast.Load()) - samples.usedAt(t.first.Load()), Allocations: spent.Allocations, AllocatedBytes: spent.Bytes,
		Calls: int(t.calls.Load()), LargestCall: int(t.largest.Load()),
	}, nil
}
