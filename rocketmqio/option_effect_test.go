// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// Options that are accepted and never read are a fault of other connectors. Here
// each is seen at the broker.

func TestTheBrokerSeesBatchSizeAndPullTimeout(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 100, "m")
	var mu sync.Mutex
	var suspends []string
	b.ControlAlways(embedded.RemotingPull, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		mu.Lock()
		defer mu.Unlock()
		suspends = append(suspends, r.Fields["suspendTimeoutMillis"])
		return embedded.Pass()
	})
	c := newCollector(t)
	p := readPipeline(t, b, ReadFrom(Earliest()), ReadTo(AtLatest()), ReadPullBatchSize(7), ReadPullTimeout(8*time.Second))
	if err := start(t, p).wait(t); err != nil {
		t.Fatal(err)
	}
	if n := len(c.all()); n != 100 {
		t.Errorf("%d messages, want 100", n)
	}
	full := 0
	for _, pull := range b.Pulls() {
		if pull.Max != 7 {
			t.Errorf("a pull wants %d messages, want 7", pull.Max)
		}
		if pull.Messages == 7 {
			full++
		}
	}
	if full != 14 {
		t.Errorf("%d pulls brought 7 messages, want 14", full)
	}
	for _, ms := range suspends {
		if ms != "8000" {
			t.Errorf("a pull lets the broker wait %s ms, want 8000", ms)
		}
	}
}

func TestThresholdsBoundWhatIsKeptReady(t *testing.T) {
	b := startBroker(t, 3)
	for id := range 3 {
		publish(b, id, 100, "m")
	}
	const perQueue, total, batch = 10, 15, 5
	s := testSession(t, b, ReadFrom(Earliest()), ReadThresholds(perQueue, total), ReadPullBatchSize(batch))
	var readers []*reader
	for id := range 3 {
		readers = append(readers, s.readerAt(Queue{testTopic, "broker-a", id}, 0, 100))
	}
	most, left := 0, 300
	for left > 0 {
		// A pull that began before the limit may end behind it.
		kept := 0
		for _, r := range readers {
			r.mu.Lock()
			n := r.waiting.count
			r.mu.Unlock()
			if n >= perQueue+batch {
				t.Fatalf("%d messages of a queue are ready, want about %d", n, perQueue)
			}
			kept += n
		}
		if kept > total+3*batch {
			t.Fatalf("%d messages are ready, want about %d", kept, total)
		}
		most = max(most, kept)
		eventually(t, s, "the limit is reached or all is pulled", func() bool {
			s.budget.mu.Lock()
			defer s.budget.mu.Unlock()
			return s.budget.messages >= min(total, left)
		})
		for _, r := range readers {
			messages, _ := r.take(1)
			left -= len(messages)
		}
	}
	if most < total {
		t.Errorf("%d messages were ready at most, want the limit of %d to be used", most, total)
	}
}

func TestARequestThatIsNotAnsweredEndsWithItsTimeout(t *testing.T) {
	b := startBroker(t, 1)
	b.Control(embedded.RemotingMaxOffset, func(context.Context, *embedded.Request) embedded.Reaction { return embedded.Drop() })
	s := testSession(t, b, ReadRequestTimeout(300*time.Millisecond))
	began := time.Now()
	_, err := s.client.MaxOffset(t.Context(), queueZero.remoting())
	if d := time.Since(began); err == nil || d < 250*time.Millisecond || d > 2*time.Second {
		t.Errorf("after %v: %v, want an error after 300 ms", d, err)
	}
}

// X06b: failing pulls are tried again at the pace of the retry delay, neither
// more rarely nor round and round.
func TestFailingPullsKeepThePaceOfTheRetryDelay(t *testing.T) {
	b := startBroker(t, 1)
	b.ControlAlways(embedded.RemotingPull, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.AnswerRemoting(remoting.CodeSystemError, "no", nil, nil)
	})
	s := testSession(t, b, ReadRetryDelay(100*time.Millisecond))
	began := time.Now()
	s.readerAt(queueZero, 0, endless)
	eventually(t, s, "eleven pulls failed", func() bool { return s.stats.pullFailed.Load() >= 11 })
	if d := time.Since(began); d < 700*time.Millisecond || d > 6*time.Second {
		t.Errorf("ten pauses of 100 ms took %v", d)
	}
}

func TestTheCommitIntervalBoundsCommits(t *testing.T) {
	b := startBroker(t, 1)
	c := newCollector(t)
	r := start(t, readPipeline(t, b, ReadFrom(Earliest()), ReadTo(ends(b, 1, 100)), ReadCommitInterval(time.Hour)))
	for i := range 10 {
		publish(b, 0, 10, "m")
		c.await(t, 10*(i+1))
	}
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	if n := len(b.Commits()); n != 2 {
		t.Errorf("%d commits, want the first position's and the last one's", n)
	}
}

func TestCommittingCanBeTurnedOff(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 10, "m")
	newCollector(t)
	if err := start(t, readPipeline(t, b, ReadFrom(Earliest()), ReadTo(AtLatest()), ReadCommitInterval(0))).wait(t); err != nil {
		t.Fatal(err)
	}
	if n := b.Requests(embedded.RemotingCommit); n != 0 {
		t.Errorf("%d commits", n)
	}
}

func TestASourceThatNobodyAsksForClosesItsConnections(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 10, "m")
	newCollector(t)
	if err := start(t, readPipeline(t, b, ReadFrom(Earliest()), ReadTo(AtLatest()), ReadIdleClose(time.Second))).wait(t); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second) // the default would take longer
	defer cancel()
	if err := b.Wait(ctx, func(s embedded.Snapshot) bool { return s.Connections() == 0 }); err != nil {
		t.Errorf("%d connections are left: %v", b.Connections(), err)
	}
}

func TestTheStallTimeoutReachesItsSetting(t *testing.T) {
	c, err := newReadConfig("ns:9876", "g", []string{"t"}, []ReadOption{ReadStallTimeout(30 * time.Second)})
	if err != nil || c.StallTimeout != 30*time.Second {
		t.Errorf("got %v, %v", c.StallTimeout, err)
	}
}
