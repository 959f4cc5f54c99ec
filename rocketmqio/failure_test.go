// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
	"github.com/rocketmq-beam/rocketmq-beam/internal/health"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// X09: a bounded reading whose broker goes away for good at 40 of 100 fails; it
// does not end as if 40 were all.
func TestABoundedReadingWhoseBrokerGoesAwayFails(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 100, "m")
	cfg := testConfig(t, b, ReadFrom(Earliest()), ReadPullBatchSize(10), ReadThresholds(10, 10))
	cfg.StallTimeout = time.Second // less than the option allows
	fn := &readBoundedFn{queueSource{Config: cfg}}
	emitted := 0
	message := func(beam.EventTime, coders.Message) {
		if emitted++; emitted == 40 {
			b.StopBroker("broker-a")
		}
	}
	var last commitPoint
	began := time.Now()
	err := fn.ProcessElement(beamContext(t), fn.CreateTracker(offsetRange{0, 100}), assignment{Queue: queueZero, End: 100}, message, func(p commitPoint) { last = p })
	if !errors.Is(err, health.ErrStalled) || emitted < 40 || emitted == 100 {
		t.Errorf("after %d of 100 messages: got %v, want a stall", emitted, err)
	}
	if last.Offset > 0 {
		t.Errorf("%+v is to be committed by a bundle that failed", last)
	}
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("it took %v", d)
	}
}

// X06b, X02: a pull that is refused for good fails the pipeline soon, after few
// tries, with the broker's words.
func TestAPullThatIsRefusedForGoodFailsThePipelineSoon(t *testing.T) {
	for name, c := range map[string]struct {
		code int
		text string
	}{
		"no permission":   {remoting.CodeNoPermission, "the topic pulling message is forbidden"},
		"no such group":   {remoting.CodeGroupNotExist, "subscription group does not exist"},
		"no such queue":   {remoting.CodeInvalidParameter, "queueId is illegal"},
		"filter unusable": {remoting.CodeSubscriptionParse, "parse the consumer's subscription failed"},
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t, 1)
			b.ControlAlways(embedded.RemotingPull, func(context.Context, *embedded.Request) embedded.Reaction {
				return embedded.AnswerRemoting(c.code, c.text, nil, nil)
			})
			newCollector(t)
			began := time.Now()
			err := start(t, readPipeline(t, b, ReadFrom(Earliest()), ReadCommitInterval(0))).wait(t)
			if err == nil || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), testTopic) || !strings.Contains(err.Error(), testGroup) {
				t.Errorf("got %v, want an error with %q, topic and group", err, c.text)
			}
			if d, n := time.Since(began), b.Requests(embedded.RemotingPull); d > 10*time.Second || n < 3 || n > 30 {
				t.Errorf("after %v and %d pulls", d, n)
			}
		})
	}
}

// F04: a SQL filter that the broker cannot compile is an error that shows it, at
// the start.
func TestASQLFilterThatCannotBeCompiledIsAnError(t *testing.T) {
	const wrong = "a/b > 5 AND"
	check := func(t *testing.T, nameServer, topic string) {
		t.Helper()
		p, s := beam.NewPipelineWithRoot()
		Read(s, nameServer, testGroup, []string{topic}, quick(ReadSQL(wrong))...)
		began := time.Now()
		err := start(t, p).wait(t)
		if err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("got %v, want an error with %q", err, wrong)
		}
		if d := time.Since(began); d > 12*time.Second {
			t.Errorf("it took %v", d)
		}
	}
	t.Run("embedded", func(t *testing.T) {
		b := startBroker(t, 1, embedded.WithSQLFilter("a > 5", func(map[string]string) bool { return true }))
		check(t, b.NameServer(), testTopic)
	})
	t.Run("real", func(t *testing.T) {
		mq := realmqtest.Shared(t)
		topic, _, _, _ := realQueue(t, mq, 0)
		check(t, mq.NameServer(), topic)
	})
}

// B02, B11: no runner needs to ask for a checkpoint: with an endless backlog a
// call ends by itself, soon, and goes on where it was.
func TestACallEndsByItselfWhateverTheBacklog(t *testing.T) {
	b := startBroker(t, 1)
	all := make([][]byte, 6*mostRecords)
	for i := range all {
		all[i] = []byte("x")
	}
	b.PublishMany(testTopic, all)
	cfg := testConfig(t, b, ReadFrom(Earliest()))
	r := offsetRange{0, endless}
	for range 5 {
		began := time.Now()
		out, rt := callRead(t, cfg, queueZero, r, nil)
		if out.err != nil || !out.next.ShouldResume() {
			t.Fatalf("resumes %v, %v", out.next.ShouldResume(), out.err)
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("a call took %v and emitted %d", d, len(out.messages))
		}
		_, residual, err := rt.TrySplit(0)
		if err != nil {
			t.Fatal(err)
		}
		if r = residual.(offsetRange); len(out.messages) > 0 && r.Start != out.messages[len(out.messages)-1].QueueOffset+1 {
			t.Errorf("goes on at %d after %d", r.Start, out.messages[len(out.messages)-1].QueueOffset)
		}
	}
	if r.Start == 0 || r.Start == int64(len(all)) {
		t.Errorf("five calls came to %d of %d", r.Start, len(all))
	}
}
