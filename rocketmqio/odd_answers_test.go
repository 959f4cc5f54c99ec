// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// answerOf makes the body of a pull's answer: messages of consecutive offsets.
func answerOf(from, n int) (out []byte) {
	host := netip.MustParseAddrPort("127.0.0.1:1")
	for i := range n {
		out = remoting.AppendMessage(out, &remoting.Message{Topic: testTopic, QueueOffset: int64(from + i), Born: time.Now(), Stored: time.Now(),
			BornHost: host, StoreHost: host, Body: fmt.Appendf(nil, "m-0-%d", from+i)})
	}
	return out
}

// One answer whose next offset is none that can follow, or that brings older messages,
// neither ends a queue nor repeats anything.
func TestAPullThatGoesBackwardsLosesNothing(t *testing.T) {
	const n = 30
	for name, answer := range map[string]func(at int) (from, next int){
		"the same offset is next":      func(at int) (int, int) { return at, at },
		"one in the middle":            func(at int) (int, int) { return at, at + 1 },
		"an earlier one":               func(at int) (int, int) { return at, at - 2 },
		"a negative one":               func(at int) (int, int) { return at, -5 },
		"older messages come, too":     func(at int) (int, int) { return at - 2, at + 1 },
		"older messages come and next": func(at int) (int, int) { return at - 2, at - 1 },
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t, 1)
			c := newCollector(t)
			publish(b, 0, n, "m")
			var once atomic.Bool
			b.ControlAlways(embedded.RemotingPull, func(_ context.Context, r *embedded.Request) embedded.Reaction {
				at, _ := strconv.Atoi(r.Fields["queueOffset"])
				if at < 3 || !once.CompareAndSwap(false, true) {
					return embedded.Pass()
				}
				from, next := answer(at)
				return embedded.AnswerRemoting(0, "", map[string]string{"nextBeginOffset": fmt.Sprint(next), "minOffset": "0", "maxOffset": fmt.Sprint(n), "suggestWhichBrokerId": "0"}, answerOf(from, 3))
			})
			if err := start(t, readPipeline(t, b, ReadFrom(Earliest()), ReadTo(AtLatest()), ReadPullBatchSize(5))).wait(t); err != nil {
				t.Fatal(err)
			}
			if got := bodies(c.all()); len(got) != n || len(c.all()) != n || !once.Load() {
				t.Errorf("%d messages, %d of them different, want %d", len(c.all()), len(got), n)
			}
		})
	}
}

// A claim that goes back is an error, not the end of the queue.
func TestAClaimThatGoesBackFailsTheBundle(t *testing.T) {
	b := startBroker(t, 1)
	s := testSession(t, b)
	r := newReader(s, queueZero, 0, endless)
	rt := (&queueSource{}).CreateTracker(offsetRange{End: endless})
	if !rt.TryClaim(int64(5)) || rt.TryClaim(int64(3)) {
		t.Fatal("a claim that goes back was taken")
	}
	if err := claimError(r, rt); err == nil {
		t.Error("no error")
	}
}

// What a producer wrote of itself may be anything; it keeps no pipeline from going on,
// also where a shuffle encodes it.
func TestOddMessagesComeThroughAShuffle(t *testing.T) {
	for name, o := range map[string]embedded.PublishOption{
		"made in the year 9999":  embedded.PublishBorn(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)),
		"made in the year 1500":  embedded.PublishBorn(time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC)),
		"made at no time at all": embedded.PublishBorn(time.UnixMilli(1<<63 - 1)),
		"a property of bytes":    embedded.PublishProperty("k", "\xff\xfe"),
		"a key of bytes":         embedded.PublishKeys("\xff\xfe"),
		"a tag of bytes":         embedded.PublishTag("\xff\xfe"),
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t, 1)
			c := newCollector(t)
			publish(b, 0, 5, "before")
			publish(b, 0, 1, "odd", o)
			publish(b, 0, 5, "after")
			p, s := beam.NewPipelineWithRoot()
			read := Read(s, b.NameServer(), testGroup, []string{testTopic}, quick(ReadFrom(Earliest()), ReadTo(AtLatest()))...)
			beam.ParDo0(s, &collectFn{Test: t.Name()}, beam.Reshuffle(s, read))
			if err := start(t, p).wait(t); err != nil {
				t.Fatal(err)
			}
			if got := len(bodies(c.all())); got != 11 {
				t.Errorf("%d messages, want 11", got)
			}
		})
	}
}

// Answers that bring nothing, at once, though they were to wait for something, are not
// asked for without a pause.
func TestEmptyAnswersAreNotAskedForWithoutAPause(t *testing.T) {
	b := startBroker(t, 1)
	var pulls atomic.Int64
	b.ControlAlways(embedded.RemotingPull, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		pulls.Add(1)
		return embedded.AnswerRemoting(remoting.CodePullNotFound, "", map[string]string{"nextBeginOffset": r.Fields["queueOffset"], "minOffset": "0", "maxOffset": "0", "suggestWhichBrokerId": "0"}, nil)
	})
	s := testSession(t, b)
	begin := time.Now()
	r := s.readerAt(queueZero, 0, endless)
	const many = 5
	eventually(t, s, "some pulls", func() bool { return pulls.Load() > many })
	if took := time.Since(begin); took < many*emptyPause {
		t.Errorf("%d pulls within %v", many, took)
	}
	r.giveUp()
}
