// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package conformance says what a RocketMQ 5.5.0 is to clients of lite topics,
// as cases that run against any implementation of its gRPC protocol: a real
// cluster, and the embedded broker that tests use in its place.
//
// Each case is one observed behaviour; its name is the sentence. Where the real
// one surprises, the comment at the case says so. An implementation that fails
// a case is wrong, not the case: the real one passes them all.
package conformance

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// testCase is one statement about a broker.
type testCase struct {
	name string
	// setup adds topics and groups to the lite topic and wildcard group that
	// each case has.
	setup func(s *scene) Setup
	run   func(s *scene)
	// only names what a broker needs for this case; see [Target].Lacks.
	only Feature
	// alone marks cases that restart servers: they run last, one by one.
	alone bool
}

// caseTimeout bounds one case in real time.
const caseTimeout = 100 * time.Second

// Run runs all cases against the target. Cases run beside each other as far as
// the target allows; those that restart servers run at the end, one by one.
func Run(t *testing.T, target Target) {
	beside, alone := split(wanted(t, target))
	t.Run("beside", func(t *testing.T) { runBeside(t, target, beside) })
	t.Run("alone", func(t *testing.T) {
		for _, c := range alone {
			t.Run(c.name, func(t *testing.T) { runCase(t, target, c) })
		}
	})
}

// wanted leaves out the cases that the target cannot have, and says so.
func wanted(t *testing.T, target Target) []testCase {
	return slices.DeleteFunc(allCases(), func(c testCase) bool {
		if c.only == "" {
			return false
		}
		why := target.Lacks(c.only)
		if why != "" {
			t.Logf("left out: %q: %s", c.name, why)
		}
		return why != ""
	})
}

func allCases() []testCase {
	return slices.Concat(sessionCases(), subscriptionCases(), receiveCases(), fifoCases(), ackCases(),
		changeCases(), suspendCases(), retryCases(), routeCases(), sendCases(), messageCases(), restartCases())
}

func split(cases []testCase) (beside, alone []testCase) {
	for _, c := range cases {
		if c.alone {
			alone = append(alone, c)
		} else {
			beside = append(beside, c)
		}
	}
	return beside, alone
}

// runBeside runs the cases with a bound of its own: most of a case is waiting
// for leases of ten seconds, so far more of them fit in than there are
// processors, which is what go test's own bound goes by.
func runBeside(t *testing.T, target Target, cases []testCase) {
	slots := make(chan struct{}, target.Parallel())
	var wg sync.WaitGroup
	for _, c := range cases {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			t.Run(c.name, func(t *testing.T) { runCase(t, target, c) })
		})
	}
	wg.Wait()
}

func runCase(t *testing.T, target Target, c testCase) {
	ctx, cancel := context.WithTimeout(t.Context(), caseTimeout)
	t.Cleanup(cancel)
	s := newScene(t, ctx)
	setup := Setup{
		Topics: []Topic{{Name: s.topic, Kind: Lite}},
		Groups: []Group{{Name: s.group, Bind: s.topic, Wildcard: true}},
	}
	if c.setup != nil {
		more := c.setup(s)
		setup.Topics = append(setup.Topics, more.Topics...)
		// A case may define its wildcard group by itself.
		if slices.ContainsFunc(more.Groups, func(g Group) bool { return g.Name == s.group }) {
			setup.Groups = nil
		}
		setup.Groups = append(setup.Groups, more.Groups...)
	}
	s.broker = target.Open(t, setup)
	c.run(s)
}

// short makes a name that fits into a topic's out of a sentence.
func short(sentence string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, sentence)
	return clean[max(0, len(clean)-40):]
}
