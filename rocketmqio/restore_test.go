// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/google/go-cmp/cmp"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

var queueZero = Queue{testTopic, "broker-a", 0}

// O30, O36, Y21, Y46: a range that the runner has kept wins over whatever the
// broker says of the group, be it older or newer, and over the start.
func TestARestoredRangeWinsOverCommittedOffsetAndStart(t *testing.T) {
	for name, c := range map[string]struct {
		from      Start
		committed int64
	}{
		"the broker has gone back, start committed": {Committed(Earliest()), 10},
		"the broker is ahead, start committed":      {Committed(Earliest()), 190},
		"the broker has lost it, start latest":      {Latest(), 0},
		"start earliest":                            {Earliest(), 10},
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t, 1)
			publish(b, 0, 200, "m")
			b.SetCommitted(testGroup, queueNo(0), c.committed)
			got := callUntil(t, testConfig(t, b, ReadFrom(c.from)), queueZero, offsetRange{150, endless}, 50)
			if len(got.messages) != 50 || got.messages[0].QueueOffset != 150 {
				t.Errorf("%d messages from offset %d, want 50 from 150", len(got.messages), got.messages[0].QueueOffset)
			}
			if n := b.Requests(embedded.RemotingCommitted); n != 0 {
				t.Errorf("the broker was asked %d times for the group's offset", n)
			}
			for _, p := range got.commits {
				if p.Offset < 150 || p.Offset > 200 {
					t.Errorf("offset %d is to be committed", p.Offset)
				}
			}
		})
	}
}

// callDiscover calls the discovering DoFn once.
func callDiscover(t *testing.T, cfg readConfig, d discovery) ([]assignment, discovery, sdf.ProcessContinuation) {
	t.Helper()
	fn := &discoverFn{Config: cfg}
	rt := fn.CreateTracker(d)
	var found []assignment
	next, err := fn.ProcessElement(beamContext(t), fn.CreateWatermarkEstimator(mtime.MinTimestamp.Milliseconds()), rt, nil, func(a assignment) { found = append(found, a) })
	if err != nil {
		t.Fatal(err)
	}
	return found, rt.GetRestriction().(discovery), next
}

// O01, O36: a discovery that the runner has kept gives out no queue again; one
// that was added meanwhile begins at its first message, whatever the start.
func TestARestoredDiscoveryGivesOutNewQueuesOnly(t *testing.T) {
	b := startBroker(t, 4)
	for id := range 4 {
		publish(b, id, 10, "m")
	}
	cfg := testConfig(t, b, ReadFrom(Latest()))
	found, kept, _ := callDiscover(t, cfg, discovery{First: true})
	if len(found) != 4 || found[0].Start != 10 {
		t.Fatalf("first found %+v", found)
	}
	if again, _, _ := callDiscover(t, cfg, kept); len(again) != 0 {
		t.Errorf("found again %+v", again)
	}
	b.ExpandQueues(testTopic, 5)
	publish(b, 4, 3, "m")
	kept2, err := encodeDiscovery(kept)
	if err != nil {
		t.Fatal(err)
	}
	restored, err := decodeDiscovery(kept2)
	if err != nil {
		t.Fatal(err)
	}
	found, _, _ = callDiscover(t, testConfig(t, b, ReadFrom(Latest()), ReadPullBatchSize(31)), restored) // with another client, too
	want := []assignment{{Queue: Queue{testTopic, "broker-a", 4}, Start: 0, End: endless}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("found later (-want +got):\n%s", diff)
	}
}

// A broker that is away when the pipeline starts has queues that are no new ones:
// they go on at what the group has committed.
func TestQueuesOfABrokerThatWasAwayGoOnAtTheCommittedOffset(t *testing.T) {
	b := startBroker(t, 2, embedded.WithBrokers("broker-a", "broker-b"))
	away := embedded.Queue{Topic: testTopic, Broker: "broker-b", ID: 1}
	for i := range 10 {
		b.PublishTo(away, fmt.Append(nil, i))
	}
	b.SetCommitted(testGroup, away, 7)
	b.UnregisterBroker("broker-b")
	found, kept, _ := callDiscover(t, testConfig(t, b, ReadFrom(Committed(Latest()))), discovery{First: true})
	if len(found) != 2 {
		t.Fatalf("first found %+v", found)
	}
	b.ResumeBroker("broker-b")
	found, _, _ = callDiscover(t, testConfig(t, b, ReadFrom(Committed(Latest())), ReadPullBatchSize(31)), kept)
	want := []assignment{
		{Queue: Queue{testTopic, "broker-b", 0}, Start: 0, End: endless},
		{Queue: Queue{testTopic, "broker-b", 1}, Start: 7, End: endless},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("found later (-want +got):\n%s", diff)
	}
}

// X07: each queue is found exactly once, over brokers too; who reads it is up to
// the runner.
func TestEachQueueOfEachBrokerIsFoundOnce(t *testing.T) {
	b := startBroker(t, 10, embedded.WithBrokers("broker-a", "broker-b", "broker-c"))
	found, kept, _ := callDiscover(t, testConfig(t, b, ReadFrom(Earliest())), discovery{First: true})
	var names []string
	for _, a := range found {
		names = append(names, a.Queue.String())
	}
	slices.Sort(names)
	if distinct := slices.Compact(slices.Clone(names)); len(names) != 30 || len(distinct) != 30 || len(kept.Known) != 30 {
		t.Errorf("found %d, %d of them different, remembers %d; want 30: %q", len(names), len(distinct), len(kept.Known), names)
	}
}

// O08: an interval of 0 turns the discovery off once it has looked.
func TestDiscoveryCanBeTurnedOff(t *testing.T) {
	b := startBroker(t, 2)
	for name, c := range map[string]struct {
		opts   []ReadOption
		resume bool
	}{
		"off": {[]ReadOption{ReadDiscoveryInterval(0)}, false},
		"on":  {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			found, rest, next := callDiscover(t, testConfig(t, b, c.opts...), discovery{First: true})
			if len(found) != 2 || rest.Done == c.resume || next.ShouldResume() != c.resume {
				t.Errorf("found %d queues, done %v, resumes %v", len(found), rest.Done, next.ShouldResume())
			}
		})
	}
}

// Y46: where each queue begins and why is logged when a pipeline starts.
func TestAFreshStartLogsWhereEachQueueBegins(t *testing.T) {
	b := startBroker(t, 2)
	publish(b, 0, 10, "m")
	b.SetCommitted(testGroup, queueNo(0), 4)
	s := testSession(t, b, ReadFrom(Committed(Earliest())))
	var log bytes.Buffer
	s.log = slog.New(slog.NewTextHandler(&log, nil))
	if _, err := s.discover(t.Context(), discovery{First: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"queue=orders/broker-a/0 holds=0-10 start=4 by=committed", "queue=orders/broker-a/1 holds=0-0 start=0 by=earliest"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is not in\n%s", want, log.String())
		}
	}
}

// B19, B07, Y50: a drain ends a queue where it stands, and commits that.
func TestADrainedQueueEndsWhereItStandsAndCommitsIt(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 50, "m")
	cfg := testConfig(t, b, ReadFrom(Earliest()), ReadCommitInterval(time.Hour))
	callUntil(t, cfg, queueZero, offsetRange{0, endless}, 50)
	publish(b, 0, 50, "m")
	if got := callUntil(t, cfg, queueZero, offsetRange{50, endless}, 50); len(got.commits) != 0 {
		t.Fatalf("to be committed within the interval: %+v", got.commits)
	}
	publish(b, 0, 50, "later")
	fn := &readFn{queueSource{Config: cfg}}
	drained := fn.TruncateRestriction(fn.CreateTracker(offsetRange{100, endless}), assignment{})
	if drained != (offsetRange{100, 100}) || fn.RestrictionSize(assignment{Queue: queueZero}, drained) != 0 {
		t.Fatalf("drained to %+v", drained)
	}
	out, rt := callRead(t, cfg, queueZero, drained, nil)
	if out.err != nil || len(out.messages) != 0 || out.next.ShouldResume() || !rt.IsDone() {
		t.Errorf("%d messages, resumes %v, done %v, %v", len(out.messages), out.next.ShouldResume(), rt.IsDone(), out.err)
	}
	if want := []commitPoint{{queueZero, 100}}; !cmp.Equal(out.commits, want) {
		t.Errorf("to be committed %+v, want %+v", out.commits, want)
	}
}

// O04: when the runner takes the rest back in the middle of what was pulled, what
// was claimed is committed and no more, the rest begins behind it, and the queue
// goes on to hold the watermark, for it is read on.
func TestACheckpointInTheMiddleOfABatch(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 32, "m")
	cfg := testConfig(t, b, ReadFrom(Earliest()))
	var rest offsetRange
	var n int
	out, rt := callRead(t, cfg, queueZero, offsetRange{0, endless}, func(rt *sdf.LockRTracker) {
		if n++; n == 5 {
			_, residual, err := rt.TrySplit(0)
			if err != nil {
				t.Error(err)
			}
			rest = residual.(offsetRange)
		}
	})
	if out.err != nil || len(out.messages) != 5 || rest != (offsetRange{5, endless}) || !rt.IsDone() {
		t.Fatalf("%d messages, rest %+v, done %v, %v", len(out.messages), rest, rt.IsDone(), out.err)
	}
	if want := []commitPoint{{queueZero, 5}}; !cmp.Equal(out.commits, want) {
		t.Errorf("to be committed %+v, want %+v", out.commits, want)
	}
	cfg.peek(func(s *session) {
		s.marks.mu.Lock()
		defer s.marks.mu.Unlock()
		if m, ok := s.marks.queues[queueZero]; !ok || !m.ended.IsZero() {
			t.Error("the queue does not hold the watermark any more")
		}
	})
	if got := callUntil(t, cfg, queueZero, rest, 27); len(got.messages) != 27 || got.messages[0].QueueOffset != 5 {
		t.Errorf("then %d messages from offset %d, want 27 from 5", len(got.messages), got.messages[0].QueueOffset)
	}
}

// B18: the size is what the queue holds behind the position, however endless the
// range is, and the last that was known when the broker is away (Y04).
func TestTheSizeIsTheRealBacklog(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 1000, "m")
	cfg := testConfig(t, b, ReadFrom(Earliest()), ReadThresholds(10, 10))
	fn := &readFn{queueSource{Config: cfg}}
	a := assignment{Queue: queueZero, End: endless}
	if got := fn.RestrictionSize(a, offsetRange{0, endless}); got != 1 {
		t.Errorf("before anything is known: %v, want 1", got)
	}
	if got := fn.RestrictionSize(a, offsetRange{40, 100}); got != 60 {
		t.Errorf("of a range with an end: %v, want 60", got)
	}
	at := offsetRange{int64(len(callUntil(t, cfg, queueZero, offsetRange{0, endless}, 100).messages)), endless}
	if got, want := fn.RestrictionSize(a, at), float64(1000-at.Start); got != want {
		t.Errorf("at %d: %v, want %v", at.Start, got, want)
	}
	b.StopBroker("broker-a")
	if got, want := fn.RestrictionSize(a, at), float64(1000-at.Start); got != want {
		t.Errorf("with the broker away: %v, want %v", got, want)
	}
	b.ResumeBroker("broker-a")
	callUntil(t, cfg, queueZero, at, int(1000-at.Start))
	if got := fn.RestrictionSize(a, offsetRange{1000, endless}); got != 0 {
		t.Errorf("at the end: %v, want 0", got)
	}
}
