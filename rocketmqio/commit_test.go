// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// O02, O03: nothing is committed while the bundle that reads it is not finished.
func TestNothingIsCommittedBeforeItsBundleIsFinished(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 20, "m")
	newCollector(t)
	working, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	p := hookedPipeline(t, b, hook{message: func(ctx context.Context, _ coders.Message) error {
		once.Do(func() { close(working) })
		select {
		case <-release:
		case <-ctx.Done():
		}
		return ctx.Err()
	}}, ReadFrom(Earliest()), ReadTo(AtLatest()), ReadDiscoveryInterval(0))
	r := start(t, p)
	<-working
	// The reader goes on in the background: it has pulled all there is, and waits
	// at the broker for more.
	if err := b.Wait(t.Context(), func(s embedded.Snapshot) bool { return len(s.Pulls()) > 0 }); err != nil {
		t.Fatal(err)
	}
	if n := b.Requests(embedded.RemotingCommit); n != 0 {
		t.Errorf("%d commits came while the first message is in work", n)
	}
	close(release)
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	if got, _ := b.Committed(testGroup, queueNo(0)); got != 20 {
		t.Errorf("committed %d, want 20", got)
	}
}

// O33, Y05, B03: a pipeline that commits a single time, on a runner that need not
// know bundle finalization, has committed when it ends.
func TestASingleCommitIsThereWhenThePipelineEnds(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 1, "m")
	newCollector(t)
	if err := start(t, readPipeline(t, b, ReadFrom(Earliest()), ReadTo(AtLatest()), ReadDiscoveryInterval(0))).wait(t); err != nil {
		t.Fatal(err)
	}
	if got, ok := b.Committed(testGroup, queueNo(0)); !ok || got != 1 {
		t.Errorf("committed %d (%v), want 1", got, ok)
	}
}

// O32: a group that begins at the end of idle queues has that position committed:
// what comes while it is stopped is read by the next pipeline.
func TestWhatComesWhileAnIdleGroupIsStoppedIsRead(t *testing.T) {
	for name, opts := range map[string][]ReadOption{
		"start latest":                 {ReadFrom(Latest())},
		"start committed, else latest": {ReadFrom(Committed(Latest()))},
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t, 2)
			publish(b, 0, 10, "old")
			first := newCollector(t)
			// Ends by offset, since "latest to latest" is refused.
			if err := start(t, readPipeline(t, b, append(opts, ReadTo(ends(b, 2, 0)))...)).wait(t); err != nil {
				t.Fatal(err)
			}
			if n := len(first.all()); n != 0 {
				t.Fatalf("%d messages at the start, want none", n)
			}
			publish(b, 0, 2, "new")
			publish(b, 1, 3, "new")
			c := newCollector(t)
			if err := start(t, readPipeline(t, b, ReadFrom(Committed(Latest())), ReadTo(AtLatest()))).wait(t); err != nil {
				t.Fatal(err)
			}
			if got := bodies(c.all()); len(got) != 5 || len(c.all()) != 5 {
				t.Errorf("%d messages, want the 5 new ones: %v", len(c.all()), got)
			}
		})
	}
}

// Y17: a message whose work fails is not committed, nor is what follows it; the
// next pipeline reads both.
func TestAFailedMessageIsReadAgain(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 10, "m")
	newCollector(t)
	broken := errors.New("no way to work on this")
	p := hookedPipeline(t, b, hook{message: func(_ context.Context, m coders.Message) error {
		if m.QueueOffset == 5 {
			return broken
		}
		return nil
	}}, ReadFrom(Committed(Earliest())), ReadTo(AtLatest()))
	if err := start(t, p).wait(t); err == nil || !strings.Contains(err.Error(), broken.Error()) {
		t.Fatalf("got %v, want the work's error", err)
	}
	if got, ok := b.Committed(testGroup, queueNo(0)); ok && got > 5 {
		t.Errorf("committed %d, beyond what failed", got)
	}
	c := newCollector(t)
	if err := start(t, readPipeline(t, b, ReadFrom(Committed(Earliest())), ReadTo(AtLatest()))).wait(t); err != nil {
		t.Fatal(err)
	}
	got := bodies(c.all())
	if got["m-0-5"] != 1 || got["m-0-6"] != 1 || got["m-0-9"] != 1 {
		t.Errorf("read again: %v", got)
	}
}

// B06: while a step behind the source cannot be set up nothing is committed, and
// nothing is lost afterwards.
func TestASetupThatFailsThreeTimesLosesNothing(t *testing.T) {
	b := startBroker(t, 4)
	const n = 20_000
	all := make([][]byte, n)
	for i := range all {
		all[i] = []byte{byte(i), byte(i >> 8), byte(i >> 16)}
	}
	b.PublishMany(testTopic, all)
	c := newCollector(t)
	var tries atomic.Int64
	h := hook{setup: func() error {
		if tries.Add(1) <= 3 {
			return errors.New("not yet")
		}
		return nil
	}}
	run := func() error {
		return start(t, hookedPipeline(t, b, h, ReadFrom(Committed(Earliest())), ReadTo(AtLatest()), ReadDiscoveryInterval(0))).wait(t)
	}
	for id := range 4 {
		b.SetCommitted(testGroup, queueNo(id), 0)
	}
	for tries.Load() < 3 {
		if err := run(); err == nil {
			t.Fatal("the pipeline succeeded without its step")
		}
		for id := range 4 {
			if got, _ := b.Committed(testGroup, queueNo(id)); got != 0 {
				t.Fatalf("queue %d: %d is committed", id, got)
			}
		}
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	if got := len(bodies(c.all())); got != n {
		t.Errorf("%d different messages, want %d", got, n)
	}
}

// B04, Y02, Y18: when most commits are refused, and from some point on all, reading
// goes on, what is committed lags behind and is never ahead, and a pipeline that
// starts anew reads again what lies between, and no more.
func TestCommitsThatFailOnlyLag(t *testing.T) {
	b := startBroker(t, 1)
	const n, lastTaken = 500, 300
	var asked atomic.Int64
	remove := b.ControlAlways(embedded.RemotingCommit, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		to, _ := strconv.Atoi(r.Fields["commitOffset"])
		if asked.Add(1)%3 != 0 || to > lastTaken {
			return embedded.AnswerRemoting(1, "not now", nil, nil)
		}
		return embedded.Pass()
	})
	c := newCollector(t)
	p := hookedPipeline(t, b, hook{message: func(_ context.Context, m coders.Message) error {
		if at, _ := b.Committed(testGroup, queueNo(0)); at > m.QueueOffset {
			t.Errorf("%d is committed while %d is in work", at, m.QueueOffset)
		}
		return nil
	}}, ReadFrom(Committed(Earliest())), ReadTo(ends(b, 1, n)))
	r := start(t, p)
	for i := range 10 {
		publish(b, 0, n/10, "m")
		c.await(t, n/10*(i+1))
	}
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	remove()
	at, _ := b.Committed(testGroup, queueNo(0))
	if at > lastTaken || len(c.all()) != n {
		t.Errorf("committed %d, want %d at most; %d messages, want %d", at, lastTaken, len(c.all()), n)
	}
	again := newCollector(t)
	if err := start(t, readPipeline(t, b, ReadFrom(Committed(Earliest())), ReadTo(AtLatest()))).wait(t); err != nil {
		t.Fatal(err)
	}
	if got := len(again.all()); got != int(n-at) {
		t.Errorf("read again %d, want the %d that were not committed", got, n-at)
	}
	t.Logf("%d of %d were read twice, %d commits were asked for", n-at, n, asked.Load())
}

// Y04: a broker that takes no commit at all fails nothing.
func TestCommitsThatAlwaysFailFailNoBundle(t *testing.T) {
	b := startBroker(t, 2)
	publish(b, 0, 50, "m")
	publish(b, 1, 50, "m")
	b.ControlAlways(embedded.RemotingCommit, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.Fail(embedded.ErrConnectionCut)
	})
	c := newCollector(t)
	if err := start(t, readPipeline(t, b, ReadFrom(Earliest()), ReadTo(AtLatest()), ReadDiscoveryInterval(0))).wait(t); err != nil {
		t.Fatal(err)
	}
	if n := len(c.all()); n != 100 {
		t.Errorf("%d messages, want 100", n)
	}
	if _, ok := b.Committed(testGroup, queueNo(0)); ok {
		t.Error("something is committed")
	}
}

// B25: what a bundle of the commit step was given it has committed when it ends,
// the furthest position of each queue; the next bundle knows nothing of it.
func TestTheCommitStepHoldsNothingAcrossBundles(t *testing.T) {
	b := startBroker(t, 2)
	publish(b, 0, 10, "m")
	ctx := beamContext(t)
	fn := &commitFn{Config: testConfig(t, b)}
	bundle := func(points ...commitPoint) {
		t.Helper()
		fn.StartBundle(ctx, nil)
		for _, p := range points {
			if err := fn.ProcessElement(ctx, p, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := fn.FinishBundle(ctx, nil); err != nil {
			t.Fatal(err)
		}
	}
	one := Queue{testTopic, "broker-a", 1}
	want := func(at int64) {
		t.Helper()
		if got, _ := b.Committed(testGroup, queueNo(0)); got != at || len(b.Commits()) != 2 {
			t.Errorf("committed %d by %d commits, want %d by 2", got, len(b.Commits()), at)
		}
	}
	bundle(commitPoint{queueZero, 3}, commitPoint{one, 0}, commitPoint{queueZero, 5}, commitPoint{queueZero, 4})
	want(5)
	bundle()
	bundle(commitPoint{queueZero, 4}) // O25: an old one that comes late
	want(5)
}

// O25: bundles of the commit step run beside each other, and a commit that is tried
// again does not arrive behind a later one of its queue.
func TestACommitThatIsTriedAgainLowersNothing(t *testing.T) {
	b := startBroker(t, 1, embedded.WithNormalGroup(testGroup))
	publish(b, 0, 10, "m")
	cfg := testConfig(t, b)
	asked, later := make(chan struct{}), make(chan error, 1)
	var once sync.Once
	b.ControlAlways(embedded.RemotingCommit, func(ctx context.Context, _ *embedded.Request) embedded.Reaction {
		reaction := embedded.Pass()
		once.Do(func() {
			close(asked)
			short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
			defer cancel()
			// Without a turn for each the later one would be through by then.
			_ = b.Wait(short, func(s embedded.Snapshot) bool { return len(s.Commits()) > 0 })
			reaction = busy
		})
		return reaction
	})
	err := cfg.acquire(t.Context(), func(s *session) error {
		go func() {
			<-asked
			later <- s.commit(t.Context(), queueZero, 9)
		}()
		return errors.Join(s.commit(t.Context(), queueZero, 3), <-later)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := b.Committed(testGroup, queueNo(0)); got != 9 {
		t.Errorf("committed %d, want 9: %v", got, b.Commits())
	}
}

// X18: an operator's reset of the group's offset does not disturb a pipeline that
// runs, for its position is the runner's; the next one begins there.
func TestAResetOfTheGroupsOffsetIsForTheNextPipeline(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 100, "m")
	c := newCollector(t)
	r := start(t, readPipeline(t, b, ReadFrom(Committed(Earliest())), ReadTo(ends(b, 1, 1))))
	c.await(t, 100)
	b.SetCommitted(testGroup, queueNo(0), 30)
	publish(b, 0, 1, "end")
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	if n := len(c.all()); n != 101 {
		t.Errorf("%d messages, want 101 for all the reset", n)
	}
	b.SetCommitted(testGroup, queueNo(0), 30)
	again := newCollector(t)
	if err := start(t, readPipeline(t, b, ReadFrom(Committed(Earliest())), ReadTo(AtLatest()))).wait(t); err != nil {
		t.Fatal(err)
	}
	if got := again.all(); len(got) != 71 || got[0].QueueOffset != 30 {
		t.Errorf("%d messages from %d, want 71 from 30", len(got), got[0].QueueOffset)
	}
}

// A topic whose first commits are never answered costs a bundle one wait, however many
// queues it has, and not one for each of them; what is committed of other topics
// does not depend on it. What failed is made up for by any later bundle.
func TestATopicThatIsSilentHoldsUpNoOthersCommits(t *testing.T) {
	const queues = 30
	b := embedded.Start(t.Context(), embedded.WithNormalTopic("silent", "sound"), embedded.WithQueues(queues))
	t.Cleanup(b.Close)
	silence := b.ControlAlways(embedded.RemotingCommit, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		if r.Topic() == "silent" {
			return embedded.Drop()
		}
		return embedded.Pass()
	})
	ctx := beamContext(t)
	fn := &commitFn{Config: testConfig(t, b)}
	bundle := func(at int64, topics ...string) {
		t.Helper()
		fn.StartBundle(ctx, nil)
		for _, topic := range topics {
			for i := range queues {
				if err := fn.ProcessElement(ctx, commitPoint{Queue{topic, "broker-a", i}, at}, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := fn.FinishBundle(ctx, nil); err != nil {
			t.Fatal(err)
		}
	}
	want := func(topic string, want int64) {
		t.Helper()
		for i := range queues {
			if at, _ := b.Committed(testGroup, embedded.Queue{Topic: topic, ID: i}); at != want {
				t.Errorf("queue %d of topic %s: committed %d, want %d", i, topic, at, want)
			}
		}
	}
	begin := time.Now()
	bundle(1, "silent", "sound")
	// A wait for each queue would be 30 of them, five times.
	if took, wait := time.Since(begin), fn.Config.RequestTimeout; took > queues/2*wait {
		t.Errorf("a bundle took %v, with requests of %v at most", took, wait)
	}
	want("sound", 1)
	silence()
	bundle(2, "sound")
	want("sound", 2)
	want("silent", 1)
}
