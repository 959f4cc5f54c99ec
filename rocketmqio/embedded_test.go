// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

const (
	testTopic = "orders"
	testGroup = "beam-orders"
)

func startBroker(t *testing.T, queues int, opts ...embedded.Option) *embedded.Broker {
	t.Helper()
	b := embedded.Start(context.Background(), opts...)
	t.Cleanup(b.Close)
	t.Cleanup(Shutdown) // runs first
	b.CreateTopic(testTopic, queues)
	return b
}

func queueNo(id int) embedded.Queue { return embedded.Queue{Topic: testTopic, ID: id} }

func publish(b *embedded.Broker, queue, n int, prefix string, opts ...embedded.PublishOption) {
	for i := range n {
		b.PublishTo(queueNo(queue), []byte(fmt.Sprintf("%s-%d-%d", prefix, queue, i)), opts...)
	}
}

// quick are the options that make tests quick.
func quick(opts ...ReadOption) []ReadOption {
	return append([]ReadOption{ReadPullTimeout(5 * time.Second), ReadRequestTimeout(time.Second), ReadRetryDelay(100 * time.Millisecond),
		ReadDiscoveryInterval(time.Second), ReadCommitInterval(100 * time.Millisecond)}, opts...)
}

func readPipeline(t *testing.T, b *embedded.Broker, opts ...ReadOption) *beam.Pipeline {
	t.Helper()
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &collectFn{Test: t.Name()}, Read(s, b.NameServer(), testGroup, []string{testTopic}, quick(opts...)...))
	return p
}

// ends makes a specific end n messages beyond what the first so many queues hold.
func ends(b *embedded.Broker, queues int, n int64) End {
	out := map[Queue]int64{}
	for id := range queues {
		_, next := b.QueueOffsets(queueNo(id))
		out[Queue{testTopic, "broker-a", id}] = next + n
	}
	return AtSpecific(out)
}

// X09 and the first fault of other connectors: a bounded read from earliest to
// latest reads all that is there, and commits where it ended (B09, O35).
func TestABoundedReadReadsAllAndCommitsItsEnd(t *testing.T) {
	for name, run := range map[string]func(*beam.Pipeline) error{
		"prism":  func(p *beam.Pipeline) error { return start(t, p).wait(t) },
		"direct": func(p *beam.Pipeline) error { _, err := direct.Execute(t.Context(), p); return err },
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t, 4)
			for id := range 4 {
				publish(b, id, 25*(id+1), "m")
			}
			c := newCollector(t)
			p, s := beam.NewPipelineWithRoot()
			msgs := ReadBounded(s, b.NameServer(), testGroup, []string{testTopic}, quick(ReadFrom(Earliest()), ReadTo(AtLatest()))...)
			beam.ParDo0(s, &collectFn{Test: t.Name()}, msgs)
			if err := run(p); err != nil {
				t.Fatal(err)
			}
			if got := bodies(c.all()); len(got) != 250 || len(c.all()) != 250 {
				t.Errorf("%d messages with %d bodies, want 250 and 250", len(c.all()), len(got))
			}
			for id := range 4 {
				if got, ok := b.Committed(testGroup, queueNo(id)); !ok || got != int64(25*(id+1)) {
					t.Errorf("queue %d: committed %d (%v), want %d", id, got, ok, 25*(id+1))
				}
			}
		})
	}
}

// O06, O07, O39, B17: queues that are added while the pipeline runs are read from
// their first message on, also one that was written to before it was found.
func TestQueuesThatAreAddedWhileRunningAreReadFromTheirBeginning(t *testing.T) {
	b := startBroker(t, 4)
	c := newCollector(t)
	all := ends(b, 4, 10)
	for id := 4; id < 8; id++ {
		all.Offsets[Queue{testTopic, "broker-a", id}.String()] = 10
	}
	r := start(t, readPipeline(t, b, ReadFrom(Latest()), ReadTo(all)))
	if err := b.Wait(t.Context(), func(embedded.Snapshot) bool { return b.Requests(embedded.RemotingPull) >= 4 }); err != nil {
		t.Fatal(err)
	}
	b.ExpandQueues(testTopic, 8)
	for id := range 8 {
		publish(b, id, 10, "m")
	}
	c.await(t, 80)
	if got := bodies(c.all()); len(got) != 80 {
		t.Errorf("%d bodies, want 80", len(got))
	}
	if err := r.wait(t); err != nil {
		t.Error(err)
	}
}

// O06: and those that were added while it was stopped: the group has committed
// for the others, so what is in them came later.
func TestQueuesThatWereAddedWhileStoppedAreReadFromTheirBeginning(t *testing.T) {
	b := startBroker(t, 4)
	for id := range 4 {
		publish(b, id, 5, "old")
		b.SetCommitted(testGroup, queueNo(id), 5)
	}
	b.ExpandQueues(testTopic, 8)
	for id := range 8 {
		publish(b, id, 3, "new")
	}
	c := newCollector(t)
	p := readPipeline(t, b, ReadFrom(Committed(Latest())), ReadTo(AtLatest()), ReadDiscoveryInterval(0))
	if err := start(t, p).wait(t); err != nil {
		t.Fatal(err)
	}
	if got := bodies(c.all()); len(got) != 24 || len(c.all()) != 24 {
		t.Errorf("%d messages with %d bodies, want 24 new ones: %v", len(c.all()), len(got), got)
	}
}

// O28, X10: a broker that comes back on another port is found again, and
// nothing is lost or read twice.
func TestABrokerOnAnotherPortIsFoundAgain(t *testing.T) {
	b := startBroker(t, 2)
	publish(b, 0, 10, "before")
	c := newCollector(t)
	r := start(t, readPipeline(t, b, ReadFrom(Earliest()), ReadTo(ends(b, 2, 20)), ReadDiscoveryInterval(0)))
	c.await(t, 10)
	b.FailOver("broker-a")
	publish(b, 0, 20, "after")
	publish(b, 1, 20, "after")
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	if got := bodies(c.all()); len(got) != 50 || len(c.all()) != 50 {
		t.Errorf("%d messages with %d bodies, want 50 and 50", len(c.all()), len(got))
	}
}

// O26, Y26: the position moves over what the filter does not want. The tag
// filter's ignored "a||b" of another connector: only the tags named arrive.
func TestAFilterLetsThePositionAdvance(t *testing.T) {
	b := startBroker(t, 1)
	for i := range 300 {
		tag := []string{"a", "b", "c"}[i%3]
		b.PublishTo(queueNo(0), []byte(fmt.Sprintf("%s%d", tag, i)), embedded.PublishTag(tag))
	}
	publish(b, 0, 100, "untagged")
	c := newCollector(t)
	p := readPipeline(t, b, ReadFrom(Earliest()), ReadTo(AtLatest()), ReadTags("a", "b"), ReadDiscoveryInterval(0))
	if err := start(t, p).wait(t); err != nil {
		t.Fatal(err)
	}
	for _, m := range c.all() {
		if m.Tag != "a" && m.Tag != "b" {
			t.Errorf("%s arrived with tag %q", m.Body, m.Tag)
		}
	}
	if got := len(c.all()); got != 200 {
		t.Errorf("%d messages, want 200", got)
	}
	if got, _ := b.Committed(testGroup, queueNo(0)); got != 400 {
		t.Errorf("committed %d, want 400", got)
	}
}

// O11, O14, Y48: what to do when the messages at the position were deleted.
func TestAPositionOutOfRangeFollowsThePolicy(t *testing.T) {
	for name, c := range map[string]struct {
		policy OutOfRange
		want   int
		fault  string
	}{
		"fail":     {FailOutOfRange, 0, "holds offsets 60 to 100"},
		"earliest": {SkipToEarliest, 40, ""},
		"latest":   {SkipToLatest, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t, 1)
			publish(b, 0, 100, "m")
			b.SetCommitted(testGroup, queueNo(0), 10)
			b.ExpireMessages(queueNo(0), 60)
			got := newCollector(t)
			p := readPipeline(t, b, ReadFrom(Committed(Earliest())), ReadTo(AtLatest()), ReadOutOfRange(c.policy), ReadDiscoveryInterval(0))
			err := start(t, p).wait(t)
			if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Fatalf("got %v, want %q", err, c.fault)
			}
			if n := len(got.all()); n != c.want {
				t.Errorf("%d messages, want %d", n, c.want)
			}
		})
	}
}

// O15, X14a, X14b, O31: a failure to ask for the committed offset is never taken
// for "none": it is asked again, and in the end it is an error.
func TestAFailureToAskForTheCommittedOffsetIsNotNone(t *testing.T) {
	t.Run("it passes", func(t *testing.T) {
		b := startBroker(t, 1)
		publish(b, 0, 100, "m")
		b.SetCommitted(testGroup, queueNo(0), 42)
		for range 2 {
			b.Control(embedded.RemotingCommitted, func(context.Context, *embedded.Request) embedded.Reaction { return embedded.Drop() })
		}
		c := newCollector(t)
		p := readPipeline(t, b, ReadFrom(Committed(Earliest())), ReadTo(AtLatest()), ReadDiscoveryInterval(0))
		if err := start(t, p).wait(t); err != nil {
			t.Fatal(err)
		}
		if got := c.all(); len(got) != 58 || got[0].QueueOffset != 42 {
			t.Errorf("%d messages from offset %d, want 58 from 42", len(got), got[0].QueueOffset)
		}
	})
	t.Run("it lasts", func(t *testing.T) {
		b := startBroker(t, 1)
		b.ControlAlways(embedded.RemotingCommitted, func(context.Context, *embedded.Request) embedded.Reaction {
			return embedded.Fail(embedded.ErrConnectionCut)
		})
		newCollector(t)
		err := start(t, readPipeline(t, b, ReadFrom(Committed(Earliest())), ReadTo(AtLatest()))).wait(t)
		if err == nil || !strings.Contains(err.Error(), testGroup) {
			t.Errorf("got %v, want an error that names the group", err)
		}
	})
}

// The faults of another connector: a missing topic and a name server that is
// away are errors soon, not a silent run.
func TestAStartThatCannotSucceedFailsSoon(t *testing.T) {
	b := startBroker(t, 1)
	for name, c := range map[string]struct{ servers, topic, want string }{
		"no such topic":  {b.NameServer(), "nowhere", "nowhere"},
		"nobody listens": {"127.0.0.1:1", testTopic, "127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			p, s := beam.NewPipelineWithRoot()
			Read(s, c.servers, testGroup, []string{c.topic})
			began := time.Now()
			err := start(t, p).wait(t)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			if d := time.Since(began); d > 12*time.Second {
				t.Errorf("it took %v", d)
			}
		})
	}
}

// O19, O21: a start time in the future reads only what comes, one at the epoch
// everything; O17: the unit is right.
func TestStartsByTime(t *testing.T) {
	for name, c := range map[string]struct {
		at   time.Time
		want int
	}{
		"long ago":      {time.UnixMilli(1), 10},
		"in the future": {time.Now().Add(time.Hour), 0},
		"in the middle": {time.Date(2026, 1, 1, 0, 5, 0, 0, time.FixedZone("east", 8*3600)), 5}, // O18
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t, 1)
			first := time.Date(2025, 12, 31, 16, 0, 0, 0, time.UTC)
			for i := range 10 {
				b.PublishTo(queueNo(0), []byte(fmt.Sprint(i)), embedded.PublishStored(first.Add(time.Duration(i)*time.Minute)))
			}
			got := newCollector(t)
			p := readPipeline(t, b, ReadFrom(Timestamp(c.at)), ReadTo(AtLatest()), ReadDiscoveryInterval(0))
			if err := start(t, p).wait(t); err != nil {
				t.Fatal(err)
			}
			if n := len(got.all()); n != c.want {
				t.Errorf("%d messages, want %d", n, c.want)
			}
		})
	}
}

// O02, O24, Y16: what is committed was handed on before. O25: it never falls.
func TestCommitsFollowWhatWasHandedOn(t *testing.T) {
	b := startBroker(t, 2)
	c := newCollector(t)
	r := start(t, readPipeline(t, b, ReadFrom(Earliest()), ReadTo(ends(b, 2, 500)), ReadDiscoveryInterval(0)))
	for range 10 {
		publish(b, 0, 50, "m")
		publish(b, 1, 50, "m")
		c.await(t, 50)
	}
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	last := map[embedded.Queue]int64{}
	for _, commit := range b.Commits() {
		if commit.Offset < last[commit.Queue] {
			t.Errorf("%v: committed %d after %d", commit.Queue, commit.Offset, last[commit.Queue])
		}
		last[commit.Queue] = commit.Offset
	}
	for q, offset := range last {
		if offset != 500 {
			t.Errorf("%v: last committed %d, want 500", q, offset)
		}
	}
	if n := len(c.all()); n != 1000 {
		t.Errorf("%d messages, want 1000", n)
	}
}

// A queue whose pulls take long does not hold up the others.
func TestASlowQueueDoesNotHoldUpTheOthers(t *testing.T) {
	b := startBroker(t, 4)
	release := make(chan struct{})
	b.ControlAlways(embedded.RemotingPull, func(ctx context.Context, r *embedded.Request) embedded.Reaction {
		if r.Fields["queueId"] == "0" {
			select {
			case <-release:
			case <-ctx.Done():
			}
		}
		return embedded.Pass()
	})
	for id := range 4 {
		publish(b, id, 300, "m")
	}
	c := newCollector(t)
	r := start(t, readPipeline(t, b, ReadFrom(Earliest()), ReadTo(AtLatest()), ReadDiscoveryInterval(0), ReadPullTimeout(20*time.Second), ReadRequestTimeout(20*time.Second)))
	c.await(t, 900)
	for _, m := range c.all() {
		if m.QueueID == 0 {
			t.Fatal("queue 0 was not slow")
		}
	}
	close(release)
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	if n := len(c.all()); n != 1200 {
		t.Errorf("%d messages, want 1200", n)
	}
}

// A body that was damaged fails the bundle with its place.
func TestADamagedMessageIsNamed(t *testing.T) {
	b := startBroker(t, 1)
	b.PublishTo(queueNo(0), []byte("x"), embedded.PublishBrokenCompression())
	newCollector(t)
	err := start(t, readPipeline(t, b, ReadFrom(Earliest()), ReadTo(AtLatest()), ReadDiscoveryInterval(0))).wait(t)
	if err == nil || !strings.Contains(err.Error(), "offset 0 of queue orders/broker-a/0") {
		t.Errorf("got %v", err)
	}
	var e *rangeError
	if errors.As(err, &e) {
		t.Error("a damaged body is no range error")
	}
}
