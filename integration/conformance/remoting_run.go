// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"
)

// remotingCase is one statement about name server and broker.
type remotingCase struct {
	name  string
	setup func(s *remotingScene) RemotingSetup
	run   func(s *remotingScene)
	// alone marks cases that expire messages or restart servers: they run last,
	// one by one.
	alone bool
}

// RunRemoting runs all cases of the remoting protocol against the target. Cases
// run beside each other as far as the target allows.
func RunRemoting(t *testing.T, target RemotingTarget) { runRemotingCases(t, target, remotingCases()) }

func runRemotingCases(t *testing.T, target RemotingTarget, all []remotingCase) {
	t.Run("beside", func(t *testing.T) {
		slots := make(chan struct{}, target.Parallel())
		var wg sync.WaitGroup
		for _, c := range all {
			if c.alone {
				continue
			}
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				t.Run(c.name, func(t *testing.T) { runRemotingCase(t, target, c) })
			})
		}
		wg.Wait()
	})
	t.Run("alone", func(t *testing.T) {
		for _, c := range all {
			if c.alone {
				t.Run(c.name, func(t *testing.T) { runRemotingCase(t, target, c) })
			}
		}
	})
}

func remotingCases() []remotingCase {
	return slices.Concat(remotingRouteCases(), remotingSendCases(), remotingLimitCases(), remotingBatchCases(),
		remotingPullCases(), remotingFilterCases(), remotingHoldCases(), remotingOffsetCases(),
		remotingCommitCases(), remotingQueryCases(), remotingClientCases(), remotingExpireCases())
}

// remotingQueues is how many queues a case's topic has.
const remotingQueues = 2

func runRemotingCase(t *testing.T, target RemotingTarget, c remotingCase) {
	ctx, cancel := context.WithTimeout(t.Context(), caseTimeout)
	t.Cleanup(cancel)
	var b [4]byte
	_, _ = rand.Read(b[:])
	unique := short(t.Name()) + "-" + hex.EncodeToString(b[:])
	s := &remotingScene{T: t, ctx: ctx, topic: "T-" + unique, group: "G-" + unique, unique: unique}
	setup := RemotingSetup{Topics: map[string]int{s.topic: remotingQueues}, Groups: []string{s.group}}
	if c.setup != nil {
		more := c.setup(s)
		maps.Copy(setup.Topics, more.Topics)
		setup.Groups = append(setup.Groups, more.Groups...)
		setup.SQL = more.SQL
	}
	s.broker = target.Open(t, setup)
	c.run(s)
}

// remotingScene is what a case works with.
type remotingScene struct {
	*testing.T
	ctx    context.Context
	broker RemotingBroker
	topic  string
	group  string
	unique string

	halves, producers int // made so far
}

// name makes a name that no other case uses.
func (s *remotingScene) name(what string) string { return what + "-" + s.unique }

// pass lets d pass on the broker's clock.
func (s *remotingScene) pass(d time.Duration) { s.broker.Advance(s.ctx, d) }

// eventually repeats f until it is true.
func (s *remotingScene) eventually(what string, f func() bool) {
	s.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !f() {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			s.Fatalf("%s: %v", what, s.ctx.Err())
		}
	}
}
