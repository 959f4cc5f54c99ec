// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocketmq-beam/rocketmq-beam/internal/names"
)

func shape() Shape {
	return Shape{Tenants: 5, Sessions: 2, NoisySessions: 10, CalmRate: 3, NoisyRate: 100, Duration: 4 * time.Second, Seed: 7}
}

func TestPlanHasTheRatesItWasAskedFor(t *testing.T) {
	s := shape()
	perTenant := map[string]int{}
	sessions := map[string]bool{}
	for _, e := range Plan(s) {
		perTenant[Tenant(e.LiteTopic)]++
		sessions[e.LiteTopic] = true
		if noisy := Tenant(e.LiteTopic) == NoisyTenant; noisy != e.Noisy {
			t.Errorf("event of %s: Noisy = %v", e.LiteTopic, e.Noisy)
		}
	}
	want := map[string]int{"calm01": 12, "calm02": 12, "calm03": 12, "calm04": 12, "calm05": 12, NoisyTenant: 400}
	if diff := cmp.Diff(want, perTenant); diff != "" {
		t.Errorf("messages per tenant (-want +got):\n%s", diff)
	}
	if got, want := len(sessions), 5*2+10; got != want {
		t.Errorf("got %d lite topics, want %d", got, want)
	}
	if got, want := s.Total(), 5*12+400; got != want {
		t.Errorf("Total() = %d, want %d", got, want)
	}
}

func TestPlanIsInOrderAndWithinTheDuration(t *testing.T) {
	s := shape()
	last := time.Duration(0)
	for _, e := range Plan(s) {
		if e.At < last || e.At >= s.Duration {
			t.Fatalf("event at %v after one at %v, of a load of %v", e.At, last, s.Duration)
		}
		last = e.At
	}
}

func TestPlanFollowsTheSeed(t *testing.T) {
	a, b := shape(), shape()
	if diff := cmp.Diff(Plan(a), Plan(b)); diff != "" {
		t.Errorf("equal shapes give different plans:\n%s", diff)
	}
	b.Seed++
	if slices.Equal(Plan(a), Plan(b)) {
		t.Error("another seed gives the same plan")
	}
}

func TestPlanGivesASlowTenantOneMessage(t *testing.T) {
	s := shape()
	s.CalmRate = 0.01
	if got, want := len(Plan(s)), 5+400; got != want {
		t.Errorf("got %d messages, want %d", got, want)
	}
}

func TestWarmUpReachesEveryLiteTopicBelowTheQuota(t *testing.T) {
	s := shape()
	const rate = 20.0
	events := WarmUp(s, rate)
	seen := map[string]int{}
	var noisy []time.Duration
	for _, e := range events {
		seen[e.LiteTopic]++
		if e.Noisy {
			noisy = append(noisy, e.At)
		}
	}
	for _, e := range Plan(s) {
		if seen[e.LiteTopic] != 1 {
			t.Errorf("lite topic %s has %d messages in the warm-up, want 1", e.LiteTopic, seen[e.LiteTopic])
		}
	}
	if got, want := noisy[len(noisy)-1], 450*time.Millisecond; got != want {
		t.Errorf("the last of ten messages at %v a second is at %v, want %v", rate, got, want)
	}
}

func TestNamesAreThoseThatRocketMQTakes(t *testing.T) {
	s := shape()
	s.Tenants, s.Sessions, s.NoisySessions = 1000, 3, 10_000
	for _, e := range WarmUp(s, 1) {
		if err := names.CheckLiteTopic(e.LiteTopic); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTenant(t *testing.T) {
	for liteTopic, want := range map[string]string{"calm01-s001": "calm01", "noisy-s1-x": "noisy", "plain": "plain", "": ""} {
		if got := Tenant(liteTopic); got != want {
			t.Errorf("Tenant(%q) = %q, want %q", liteTopic, got, want)
		}
	}
}
