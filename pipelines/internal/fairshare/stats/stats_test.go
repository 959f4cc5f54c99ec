// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var epoch = time.Unix(1_000_000, 0)

func started() *Ledger {
	l := NewLedger()
	l.Start(epoch)
	return l
}

func TestCountsTellRepetitionsFromDeferrals(t *testing.T) {
	tests := []struct {
		name string
		do   func(*Ledger)
		want Counts
	}{
		{"a message delivered once", func(l *Ledger) { l.Deliver("a") }, Counts{Published: 1, Delivered: 1}},
		{"delivered twice without a deferral", func(l *Ledger) { l.Deliver("a"); l.Deliver("a") },
			Counts{Published: 1, Delivered: 2, Redelivered: 1}},
		{"delivered again after a deferral", func(l *Ledger) { l.Deliver("a"); l.Defer("a"); l.Deliver("a") },
			Counts{Published: 1, Delivered: 2, Deferred: 1}},
		{"the repetition before the deferral of the first is known", func(l *Ledger) { l.Deliver("a"); l.Deliver("a"); l.Defer("a"); l.Deliver("a") },
			Counts{Published: 1, Delivered: 3, Deferred: 1, Redelivered: 1}},
		{"one deferral explains one delivery only", func(l *Ledger) { l.Deliver("a"); l.Defer("a"); l.Deliver("a"); l.Deliver("a") },
			Counts{Published: 1, Delivered: 3, Deferred: 1, Redelivered: 1}},
		{"acked twice", func(l *Ledger) { l.Ack("a", epoch); l.Ack("a", epoch) }, Counts{Published: 1, Acked: 1}},
		{"expired", func(l *Ledger) { l.Expire("a") }, Counts{Published: 1, Expired: 1}},
		{"passed by a valve", func(l *Ledger) { l.Valve("a") }, Counts{Published: 1, Valve: 1}},
		{"a message of another run", func(l *Ledger) { l.Deliver("x"); l.Ack("x", epoch); l.Expire("x") },
			Counts{Published: 1, Foreign: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := started()
			l.Publish("a", Calm, epoch)
			tt.do(l)
			if diff := cmp.Diff(tt.want, l.Tick(epoch).Counts); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDeliverSaysWhoseMessageItIs(t *testing.T) {
	l := started()
	l.Publish("own", WarmUp, epoch)
	if !l.Deliver("own") || l.Deliver("foreign") {
		t.Error("Deliver: want true for a message of this leg, false for another")
	}
}

func TestWarmUpIsWaitedForAndNotCounted(t *testing.T) {
	l := started()
	l.Publish("w", WarmUp, epoch)
	l.Deliver("w")
	l.Deliver("w")
	l.Defer("w")
	if err := l.AwaitAcks(ended(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("AwaitAcks with a message open: got %v", err)
	}
	l.Ack("w", epoch.Add(time.Second))
	if err := l.AwaitAcks(ended(t)); err != nil {
		t.Errorf("AwaitAcks with none open: got %v", err)
	}
	if diff := cmp.Diff(Counts{}, l.Tick(epoch).Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if s := l.Summary(); s.CalmP50 != nil || s.Duration != 0 || len(l.Points()) != 0 || len(l.Missing(1)) != 0 {
		t.Errorf("the warm-up was measured: %+v", s)
	}
}

func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestAwaitAcksReturnsWithTheLastAck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := started()
		l.Publish("a", Calm, epoch)
		l.Publish("b", Noisy, epoch)
		var returned bool
		var wait sync.WaitGroup
		wait.Go(func() {
			if err := l.AwaitAcks(t.Context()); err != nil {
				t.Error(err)
			}
			returned = true
		})
		l.Ack("a", epoch)
		synctest.Wait()
		if returned {
			t.Error("returned with a message open")
		}
		l.Ack("b", epoch)
		wait.Wait()
	})
}

func TestLatenciesAreThoseOfTheirClass(t *testing.T) {
	l := started()
	for i := range 100 {
		ack(l, fmt.Sprintf("c%d", i), Calm, time.Duration(i+1)*time.Millisecond)
		ack(l, fmt.Sprintf("n%d", i), Noisy, time.Duration(i+1)*time.Second)
	}
	s := l.Summary()
	near(t, "calm p50", s.CalmP50, 50)
	near(t, "calm p99", s.CalmP99, 99)
	near(t, "noisy p50", s.NoisyP50, 50_000)
	near(t, "noisy p99", s.NoisyP99, 99_000)
	if s.Duration != 100 {
		t.Errorf("duration %v s, want 100: until the last acknowledgement", s.Duration)
	}
}

func ack(l *Ledger, id string, c Class, took time.Duration) {
	l.Publish(id, c, epoch)
	l.Ack(id, epoch.Add(took))
}

func near(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > want/100 {
		t.Errorf("%s: got %v, want %v within 1%%", what, got, want)
	}
}

func TestLatenciesBeyondTheScaleCountAsItsEnds(t *testing.T) {
	l := started()
	ack(l, "early", Calm, -time.Second) // two clocks
	ack(l, "late", Noisy, 30*time.Hour)
	s := l.Summary()
	if s.CalmP99 == nil || *s.CalmP99 != 0 {
		t.Errorf("negative latency: got %v, want 0", s.CalmP99)
	}
	near(t, "noisy p99", s.NoisyP99, float64(time.Hour/time.Millisecond))
}

func TestRecentLatenciesForget(t *testing.T) {
	l := started()
	ack(l, "slow", Calm, 10*time.Second)
	if got := l.Tick(epoch).CalmP99; !got.Measured || got.Latency < 9*time.Second {
		t.Errorf("at once: got %+v, want about 10s", got)
	}
	for range recentSlices {
		ack(l, fmt.Sprint(l.Tick(epoch).Acked), Calm, time.Second)
	}
	if got := l.Tick(epoch).CalmP99; !got.Measured || got.Latency > 2*time.Second {
		t.Errorf("%d ticks later: got %+v, want about 1s", recentSlices+1, got)
	}
	for range recentSlices {
		l.Tick(epoch)
	}
	if got := l.Tick(epoch).CalmP99; got.Measured {
		t.Errorf("after silence: got %+v, want nothing", got)
	}
}

func TestMissingListsTheOldestFirst(t *testing.T) {
	l := started()
	for i, id := range []string{"d", "c", "b", "a"} {
		l.Publish(id, Calm, epoch.Add(time.Duration(i)))
	}
	l.Ack("c", epoch)
	if diff := cmp.Diff([]string{"d", "b"}, l.Missing(2)); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	if got := l.Summary().Lost; got != 3 {
		t.Errorf("lost %d, want 3", got)
	}
}

func TestPointsTellWhenAMessageWasPublished(t *testing.T) {
	l := started()
	l.Publish("a", Noisy, epoch.Add(2*time.Second))
	l.Ack("a", epoch.Add(5*time.Second))
	want := []Point{{At: 2 * time.Second, Latency: 3 * time.Second, Noisy: true}}
	if diff := cmp.Diff(want, l.Points()); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
}

func TestSummaryKeepsItsNames(t *testing.T) {
	data, err := json.Marshal(started().Summary())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"published":0,"distinct_acked":0,"lost":0,"redelivered":0,"deferred":0,"valve":0,"expired":0,"foreign":0,` +
		`"calm_p50_ms":null,"calm_p99_ms":null,"noisy_p50_ms":null,"noisy_p99_ms":null,"duration_s":0}`
	if got := string(data); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
