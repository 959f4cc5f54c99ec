// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// A queue that an earlier run has read to its end is not taken for a new one in
// the next round of discovery, which would read it from its beginning.
func TestASpecificEndThatWasReachedReadsNothingAgain(t *testing.T) {
	b := startBroker(t, 2)
	publish(b, 0, 10, "m")
	publish(b, 1, 10, "m")
	b.SetCommitted(testGroup, queueNo(0), 10)
	b.SetCommitted(testGroup, queueNo(1), 5)
	c := newCollector(t)
	if err := start(t, readPipeline(t, b, ReadFrom(Committed(Earliest())), ReadTo(ends(b, 2, 0)))).wait(t); err != nil {
		t.Fatal(err)
	}
	if got := bodies(c.all()); len(got) != 5 || len(c.all()) != 5 {
		t.Errorf("%d messages, want the 5 that were not read: %v", len(c.all()), got)
	}
}

// An end that an empty queue has reached from the start ends the pipeline.
func TestASpecificEndOfAnEmptyQueueEndsThePipeline(t *testing.T) {
	b := startBroker(t, 2)
	publish(b, 0, 10, "m")
	c := newCollector(t)
	if err := start(t, readPipeline(t, b, ReadFrom(Earliest()), ReadTo(ends(b, 2, 0)))).wait(t); err != nil {
		t.Fatal(err)
	}
	if n := len(c.all()); n != 10 {
		t.Errorf("%d messages, want 10", n)
	}
}

func testSession(t *testing.T, b *embedded.Broker, opts ...ReadOption) *session {
	t.Helper()
	cfg, err := newReadConfig(b.NameServer(), testGroup, []string{testTopic}, quick(opts...))
	if err != nil {
		t.Fatal(err)
	}
	s, err := openSession(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// eventually waits for the session's readers until ok.
func eventually(t *testing.T, s *session, what string, ok func() bool) {
	t.Helper()
	timeout := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-timeout:
			t.Fatalf("not in 20 s: %s", what)
		}
	}
}

// A queue that another worker has taken over must not keep the budget of those
// that are read here.
func TestQueuesThatMovedAwayDoNotStarveTheOthers(t *testing.T) {
	b := startBroker(t, 3)
	for q := range 3 {
		publish(b, q, 200, "m")
	}
	s := testSession(t, b, ReadFrom(Earliest()), ReadThresholds(50, 100))
	queue := func(id int) Queue { return Queue{testTopic, "broker-a", id} }
	for id := range 2 {
		r := s.readerAt(queue(id), 0, endless)
		eventually(t, s, "the reader is full", func() bool { return r.next() >= 50 })
	}
	s.mu.Lock()
	s.endStaleReaders(time.Now().Add(time.Hour))
	s.mu.Unlock()
	r := s.readerAt(queue(2), 0, endless)
	eventually(t, s, "the queue that is read gets its messages", r.ready)
}

// A reader that has pulled all it should, and is replaced before that was taken,
// gives back its budget.
func TestAReplacedReaderGivesBackItsBudget(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 128, "m")
	s := testSession(t, b, ReadFrom(Earliest()), ReadThresholds(100, 100))
	q := Queue{testTopic, "broker-a", 0}
	for range 5 { // a bundle takes some and fails; the runner repeats it
		r := s.readerAt(q, 0, 128)
		eventually(t, s, "all is pulled", func() bool { return r.next() >= 100 })
		r.take(5)
	}
	s.drop(q, s.readers[q])
	if s.budget.messages != 0 || s.budget.bytes != 0 {
		t.Errorf("%d messages and %d bytes are still counted", s.budget.messages, s.budget.bytes)
	}
}

// The watermark stands still while a queue cannot be pulled: what is stored
// meanwhile must not come late.
func TestAQueueThatCannotBePulledIsNotIdle(t *testing.T) {
	b := startBroker(t, 1)
	s := testSession(t, b, ReadFrom(Earliest()))
	r := s.readerAt(Queue{testTopic, "broker-a", 0}, 0, endless)
	publish(b, 0, 1, "m")
	eventually(t, s, "the queue is read to its end", func() bool { r.take(1); return r.isIdle() })
	remove := b.ControlAlways(embedded.RemotingPull, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.Fail(embedded.ErrConnectionCut)
	})
	b.DropConnections()
	eventually(t, s, "the queue does not count as idle", func() bool { return !r.isIdle() })
	publish(b, 0, 1, "m")
	if r.isIdle() {
		t.Error("idle with a message that was not read")
	}
	remove()
	eventually(t, s, "it is idle again when all was read", func() bool { r.take(1); return r.isIdle() })
}

// A commit that failed, of a queue in which nothing happens any more, is made up
// for: or a new pipeline would begin at a later end.
func TestTheFirstCommitOfAQuietQueueIsMadeUpFor(t *testing.T) {
	b := startBroker(t, 1)
	remove := b.ControlAlways(embedded.RemotingCommit, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.Fail(embedded.ErrConnectionCut)
	})
	newCollector(t)
	r := start(t, readPipeline(t, b, ReadFrom(Committed(Latest())), ReadTo(ends(b, 1, 1))))
	if err := b.Wait(t.Context(), func(embedded.Snapshot) bool { return b.Requests(embedded.RemotingCommit) >= commitTries }); err != nil {
		t.Fatal(err)
	}
	remove()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := b.Wait(ctx, func(embedded.Snapshot) bool { _, ok := b.Committed(testGroup, queueNo(0)); return ok }); err != nil {
		t.Errorf("nothing was committed after the broker took commits again: %v", err)
	}
	publish(b, 0, 1, "m")
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
}

// A bounded reading looks for queues once: one that it is to end in and does not find
// would look like an empty one.
func TestABoundedReadingNamesQueuesThatAreNotThere(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 5, "m")
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &collectFn{Test: t.Name()}, ReadBounded(s, b.NameServer(), testGroup, []string{testTopic}, quick(ReadFrom(Earliest()),
		ReadTo(AtSpecific(map[Queue]int64{queueZero: 5, {testTopic, "broker-a", 77}: 5})))...))
	newCollector(t)
	if err := start(t, p).wait(t); err == nil || !strings.Contains(err.Error(), "77") || !strings.Contains(err.Error(), "AtSpecific") {
		t.Errorf("got %v, want an error that names the queue", err)
	}
}
