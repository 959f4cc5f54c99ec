// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// The position of a queue is the first offset that is neither done nor unwanted,
// in whatever order and how often that becomes known.
func TestTheCommittedPositionIsTheFirstThatIsNotDone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Int64Range(0, 50).Draw(t, "from")
		n := rapid.IntRange(0, 60).Draw(t, "messages")
		var known []settled
		isDone := make(map[int64]bool)
		for i := range n {
			at := from + int64(i)
			if rapid.IntRange(0, 9).Draw(t, "done") > 0 {
				isDone[at] = true
				known = append(known, settled{Spans: []stretch{{at, at + 1}}})
				if rapid.Bool().Draw(t, "twice") {
					known = append(known, settled{Spans: spansOf([]int64{at, at})})
				}
			}
		}
		known = append(known, settled{Begun: true, From: from})
		known = rapid.Permutation(known).Draw(t, "order")
		var p queueProgress
		begun, last := false, from
		for _, d := range known {
			due := p.settle(d)
			begun = begun || d.Begun
			if due && !begun {
				t.Fatal("a position is due before it is known where reading began")
			}
			if begun && p.At < last {
				t.Fatalf("the position fell from %d to %d", last, p.At)
			}
			last = max(last, p.At)
		}
		want := from
		for isDone[want] {
			want++
		}
		if p.At != want {
			t.Fatalf("got %d, want %d", p.At, want)
		}
		for i := 1; i < len(p.Ahead); i++ {
			if p.Ahead[i][0] <= p.Ahead[i-1][1] {
				t.Fatalf("spans touch: %v", p.Ahead)
			}
		}
	})
}

func TestPositionsSurviveTheirEncodings(t *testing.T) {
	at := &Position{Queue{"orders", "broker-a", 3}, 1 << 40}
	out := OutgoingMessage{Topic: "t", Body: []byte("b"), Source: at}
	data, err := EncodeOutgoingMessage(out)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeOutgoingMessage(data); err != nil || !got.Equal(out) {
		t.Errorf("got %+v, %v", got.Source, err)
	}
	r := WriteResult{Topic: "t", Source: at}
	if data, err = EncodeWriteResult(r); err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeWriteResult(data); err != nil || !got.Equal(r) {
		t.Errorf("got %+v, %v", got.Source, err)
	}
	if r.Equal(WriteResult{Topic: "t"}) || out.Equal(OutgoingMessage{Topic: "t", Body: []byte("b")}) {
		t.Error("a missing source counts as the same")
	}
	d := settled{Queue: at.Queue, From: 4, Begun: true, Spans: []stretch{{5, 9}}}
	if data, err = encodeSettled(d); err != nil {
		t.Fatal(err)
	}
	if got, err := decodeSettled(data); err != nil || !cmp.Equal(got, d) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// trackedPipeline reads, hands what a filter lets pass through a hook and a
// shuffle, and commits what comes out of it.
func trackedPipeline(t *testing.T, b *embedded.Broker, h hook, opts ...ReadOption) *beam.Pipeline {
	t.Helper()
	hooks.Store(t.Name(), h)
	t.Cleanup(func() { hooks.Delete(t.Name()) })
	p, s := beam.NewPipelineWithRoot()
	source := ReadTracked(s, b.NameServer(), testGroup, []string{testTopic}, opts...)
	Commit(s, source, beam.Reshuffle(s, beam.ParDo(s, &hookFn{Test: t.Name()}, source.Messages)))
	return p
}

func TestCommitFollowsTheWork(t *testing.T) {
	b := startBroker(t, 2)
	publish(b, 0, 300, "m")
	publish(b, 1, 40, "m")
	h := hook{message: func(_ context.Context, m coders.Message) error {
		if at, _ := b.Committed(testGroup, queueNo(int(m.QueueID))); at > m.QueueOffset {
			t.Errorf("%d is committed while %d is in work", at, m.QueueOffset)
		}
		return nil
	}}
	if err := start(t, trackedPipeline(t, b, h, ReadFrom(Earliest()), ReadTo(AtLatest()))).wait(t); err != nil {
		t.Fatal(err)
	}
	for id, want := range []int64{300, 40} {
		if got, _ := b.Committed(testGroup, queueNo(id)); got != want {
			t.Errorf("queue %d: committed %d, want %d", id, got, want)
		}
	}
}

func TestWhatAFilterLeavesOutHoldsNoPosition(t *testing.T) {
	b := startBroker(t, 1)
	tags := []string{"other", "paid", "other", "other", "paid", "other"}
	for _, tag := range tags {
		b.PublishTo(queueNo(0), []byte("m"), embedded.PublishTag(tag))
	}
	if err := start(t, trackedPipeline(t, b, hook{}, ReadFrom(Earliest()), ReadTo(AtLatest()), ReadTags("paid"))).wait(t); err != nil {
		t.Fatal(err)
	}
	if got, _ := b.Committed(testGroup, queueNo(0)); got != int64(len(tags)) {
		t.Errorf("committed %d, want %d", got, len(tags))
	}
}

// A group that begins where nothing is to be read has its position committed.
func TestTheBeginningIsCommittedEvenIfNothingIsRead(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 7, "old")
	if err := start(t, trackedPipeline(t, b, hook{}, ReadFrom(Latest()), ReadTo(ends(b, 1, 0)))).wait(t); err != nil {
		t.Fatal(err)
	}
	if got, ok := b.Committed(testGroup, queueNo(0)); !ok || got != 7 {
		t.Errorf("committed %d (%v), want 7", got, ok)
	}
}

func init() { beam.RegisterFunction(dropSome) }

// dropSome loses a message, as work that forgets one does.
func dropSome(m coders.Message, emit func(Position)) {
	if m.QueueOffset != 5 {
		emit(PositionOf(m))
	}
}

// A message that never comes out of the work holds the position: the next pipeline
// reads it again.
func TestAMessageThatIsNeverDoneHoldsThePosition(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 20, "m")
	p, s := beam.NewPipelineWithRoot()
	source := ReadTracked(s, b.NameServer(), testGroup, []string{testTopic}, ReadFrom(Earliest()), ReadTo(AtLatest()))
	Commit(s, source, beam.ParDo(s, dropSome, source.Messages))
	if err := start(t, p).wait(t); err != nil {
		t.Fatal(err)
	}
	if got, _ := b.Committed(testGroup, queueNo(0)); got != 5 {
		t.Errorf("committed %d, want 5", got)
	}
}

// What was written is committed, and nothing before it was.
func TestResultsOfWriteAreCommitted(t *testing.T) {
	b := startBroker(t, 1)
	b.CreateTopic("copy", 2)
	const n = 500
	publish(b, 0, n, "m")
	var once sync.Once
	b.ControlAlways(embedded.RemotingCommit, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		once.Do(func() {
			if r.Fields["commitOffset"] != "0" && len(b.Messages("copy")) == 0 {
				t.Errorf("offset %s is committed, and nothing is written", r.Fields["commitOffset"])
			}
		})
		return embedded.Pass()
	})
	p, s := beam.NewPipelineWithRoot()
	source := ReadTracked(s, b.NameServer(), testGroup, []string{testTopic}, ReadFrom(Earliest()), ReadTo(AtLatest()))
	Commit(s, source, Write(s, b.NameServer(), source.Messages, WriteTopic("copy")))
	if err := start(t, p).wait(t); err != nil {
		t.Fatal(err)
	}
	if got, _ := b.Committed(testGroup, queueNo(0)); got != n {
		t.Errorf("committed %d, want %d", got, n)
	}
}

func TestCommitRefusesWhatHasNoPosition(t *testing.T) {
	if _, err := sourceOf(WriteResult{Topic: "copy", UniqueKey: "k7"}); err == nil || !strings.Contains(err.Error(), "k7") || !strings.Contains(err.Error(), "Outgoing") {
		t.Errorf("got %v, want an error that names the message and says what to do", err)
	}
	defer func() {
		if r, _ := recover().(string); !strings.Contains(r, "int") || !strings.Contains(r, "coders.Message") {
			t.Errorf("got %q, want a panic that names the types", r)
		}
	}()
	_, s := beam.NewPipelineWithRoot()
	Commit(s, ReadTracked(s, "ns:9876", "g", []string{"t"}), beam.Create(s, 1))
}
