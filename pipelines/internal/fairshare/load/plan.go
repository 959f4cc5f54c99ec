// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package load says which message is published when: a flood of one noisy
// tenant beside the trickle of many calm ones.
package load

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Shape describes the load of one leg.
type Shape struct {
	// Tenants is the number of calm tenants, each with Sessions lite topics.
	Tenants, Sessions int
	// NoisySessions is the number of lite topics of the noisy tenant.
	NoisySessions int
	// CalmRate is the messages a second of each calm tenant, NoisyRate those of
	// the noisy one.
	CalmRate, NoisyRate float64
	Duration            time.Duration
	Seed                uint64
}

// Event is one message to publish.
type Event struct {
	// At is when, from the start of the load.
	At        time.Duration
	LiteTopic string
	Noisy     bool
}

// NoisyTenant is the name of the tenant that floods.
const NoisyTenant = "noisy"

// Plan lists the messages in the order of their times. How many there are
// follows from rates and duration alone; when each is due, and in which session,
// is drawn at random from the seed, so that messages of one tenant come at
// irregular intervals as those of people do. Equal shapes give equal plans.
func Plan(s Shape) []Event {
	random := rand.New(rand.NewPCG(s.Seed, 0x5eed))
	var events []Event
	for t := range s.Tenants {
		tenant := calmTenant(t)
		events = draw(events, random, s.Duration, s.CalmRate, tenant, s.Sessions, false)
	}
	events = draw(events, random, s.Duration, s.NoisyRate, NoisyTenant, s.NoisySessions, true)
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	return events
}

func draw(events []Event, random *rand.Rand, d time.Duration, rate float64, tenant string, sessions int, noisy bool) []Event {
	for range count(rate, d) {
		events = append(events, Event{
			At:        time.Duration(random.Int64N(int64(d))),
			LiteTopic: session(tenant, random.IntN(sessions)),
			Noisy:     noisy,
		})
	}
	return events
}

// count is the number of messages of one tenant, at least one: a calm tenant
// that says nothing would not be measured.
func count(rate float64, d time.Duration) int { return max(1, int(rate*d.Seconds()+0.5)) }

// Total is the number of messages of a plan, without making it.
func (s Shape) Total() int {
	return s.Tenants*count(s.CalmRate, s.Duration) + count(s.NoisyRate, s.Duration)
}

// WarmUp is a message for every lite topic of the load. Those of the noisy
// tenant come at noisyRate, so that they stay below its quota.
func WarmUp(s Shape, noisyRate float64) []Event {
	var out []Event
	for t := range s.Tenants {
		for i := range s.Sessions {
			out = append(out, Event{LiteTopic: session(calmTenant(t), i)})
		}
	}
	for i := range s.NoisySessions {
		at := time.Duration(float64(i) / noisyRate * float64(time.Second))
		out = append(out, Event{At: at, LiteTopic: session(NoisyTenant, i), Noisy: true})
	}
	return out
}

func calmTenant(i int) string { return fmt.Sprintf("calm%02d", i+1) }

func session(tenant string, i int) string { return fmt.Sprintf("%s-s%03d", tenant, i+1) }
