// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
)

// TestSources runs pipelines of this process beside the rows of others, but one at
// a time: prism keeps the artifacts of all jobs of a process in one map without a
// lock.
func TestSources(t *testing.T) {
	warm(t)
	t.Parallel()
	t.Run("two sources on two brokers in one pipeline", twoSourcesOnTwoBrokers)
	t.Run("one topic read twice in one pipeline", oneTopicReadTwice)
	t.Run("four users of one source", fourUsersOfOneSource)
	t.Run("sixteen concurrent starts", sixteenConcurrentStarts)
}

// C01: two sources on two brokers in one process do not share a client; both are
// read to the end.
func twoSourcesOnTwoBrokers(t *testing.T) {
	a := startBroker(t)
	b := startBroker(t, embedded.WithLiteTopic("other"), embedded.WithWildcardGroup("others", "other"))
	for i := range 50 {
		a.Publish(topic, fmt.Sprintf("s-%d", i%5), fmt.Appendf(nil, "a%d", i))
		b.Publish("other", fmt.Sprintf("s-%d", i%5), fmt.Appendf(nil, "b%d", i))
	}
	tapA, tapB := newTap(t, "C01 a"), newTap(t, "C01 b")
	p, s := beam.NewPipelineWithRoot()
	branch(s, "C01 a", a.Endpoints(), topic, group, untilIdle)
	branch(s, "C01 b", b.Endpoints(), "other", "others", untilIdle)
	r := start(p)
	await(t, a, "the first broker's acks", func(s embedded.Snapshot) bool { return s.Pending(topic) == 0 })
	await(t, b, "the second broker's acks", func(s embedded.Snapshot) bool { return s.Pending("other") == 0 })
	r.succeed(t)
	for _, tp := range []*tap{tapA, tapB} {
		if all, distinct := tp.counts(); all != 50 || distinct != 50 {
			t.Errorf("%d messages came, %d of them different; want 50 and 50", all, distinct)
		}
	}
}

// C04: one topic read twice in one pipeline: with two groups each branch gets
// all, with one group the branches share.
func oneTopicReadTwice(t *testing.T) {
	const n = 120
	for name, c := range map[string]struct {
		groups       [2]string
		inAll, least int // messages over both branches; the least one branch gets
	}{
		"two groups: both branches get all":            {[2]string{group, "second"}, 2 * n, n},
		"one group: the branches share, nothing twice": {[2]string{group, group}, n, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t, embedded.WithWildcardGroup("second", topic))
			var tp [2]*tap
			p, s := beam.NewPipelineWithRoot()
			for i, g := range c.groups {
				tapName := fmt.Sprintf("C04 %s %d", name, i)
				tp[i] = newTap(t, tapName)
				branch(s, tapName, b.Endpoints(), topic, g, untilIdle)
			}
			for i := range n {
				b.Publish(topic, fmt.Sprintf("s-%d", i%12), fmt.Append(nil, i))
			}
			r := start(p)
			for _, g := range c.groups {
				await(t, b, "acks of "+g, func(s embedded.Snapshot) bool { return s.PendingIn(topic, g) == 0 })
			}
			r.succeed(t)
			total := 0
			for i := range tp {
				all, distinct := tp[i].counts()
				if all != distinct || all < c.least {
					t.Errorf("branch %d: %d messages, %d of them different; want %d or more, each once", i, all, distinct, c.least)
				}
				total += all
			}
			if total != c.inAll {
				t.Errorf("%d messages over both branches, want %d", total, c.inAll)
			}
		})
	}
}

// X22d: sources of a process that read alike share one consumer, and each
// message goes to one of them.
func fourUsersOfOneSource(t *testing.T) {
	b := startBroker(t)
	const users, n = 4, 400
	var tp [users]*tap
	p, s := beam.NewPipelineWithRoot()
	for i := range users {
		name := fmt.Sprintf("X22d %d", i)
		tp[i] = newTap(t, name)
		branch(s, name, b.Endpoints(), topic, group, litegrpcio.ReadFetchConcurrency(2), untilIdle)
	}
	r := start(p)
	for i := range n {
		b.Publish(topic, fmt.Sprintf("s-%d", i%20), fmt.Append(nil, i))
	}
	await(t, b, "acks", func(s embedded.Snapshot) bool { return s.Pending(topic) == 0 })
	if ids := consumers(b.Sessions()); len(ids) != 1 {
		t.Errorf("%d consumers, want one that is shared", len(ids))
	}
	r.succeed(t)
	total := 0
	for i := range users {
		got, distinct := tp[i].counts()
		if got != distinct {
			t.Errorf("user %d got %d messages, %d of them different", i, got, distinct)
		}
		total += got
	}
	if total != n {
		t.Errorf("%d messages in all, want %d", total, n)
	}
}

// consumers are the client ids of those that have the wildcard subscription.
func consumers(sessions []embedded.Session) []string {
	var ids []string
	for _, s := range sessions {
		if s.Wildcard {
			ids = append(ids, s.ClientID)
		}
	}
	return ids
}

// C03: clients that start at the same moment have ids of their own.
func sixteenConcurrentStarts(t *testing.T) {
	b := startBroker(t)
	const starts = 16
	p, s := beam.NewPipelineWithRoot()
	for i := range starts {
		// The idle time tells the configurations apart, or they would share.
		branch(s, "C03", b.Endpoints(), topic, group, untilIdle, litegrpcio.ReadIdleClose(time.Minute+time.Duration(i)*time.Second))
	}
	r := start(p)
	var ids []string
	await(t, b, "16 subscriptions", func(s embedded.Snapshot) bool {
		ids = consumers(s.Sessions())
		return len(ids) >= starts
	})
	slices.Sort(ids)
	if distinct := slices.Compact(slices.Clone(ids)); len(ids) != starts || len(distinct) != starts {
		t.Errorf("%d clients with %d ids, want %d and %d: %q", len(ids), len(distinct), starts, starts, ids)
	}
	r.succeed(t)
}
