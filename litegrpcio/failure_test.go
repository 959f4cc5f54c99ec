// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func init() { beam.RegisterDoFn(&failFn{}) }

type failFn struct{}

func (*failFn) ProcessElement(context.Context, coders.AckableMessage) error {
	return errors.New("the work failed")
}

// A DoFn that is fused behind the source and fails makes Beam's emitter panic
// through ProcessElement: the fetcher must not count as used for ever, or it
// would go on leasing messages that nobody emits.
func TestAFailureBehindTheSourceLeavesNoFetcherInUse(t *testing.T) {
	b := startBroker(t)
	b.Publish(testTopic, "s", []byte("x"))
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &failFn{}, Read(s, b.Endpoints(), testTopic, testGroup, ReadRequestTimeout(time.Second)))
	if err := start(t, p).wait(t); err == nil {
		t.Fatal("the pipeline did not fail")
	}
	Shutdown()
	if n := fetchers.Len(); n != 0 {
		t.Errorf("%d fetchers are still in use", n)
	}
	// The broker hears of it a moment later.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := b.Wait(ctx, func(s embedded.Snapshot) bool { return s.LongPolls(testGroup) == 0 }); err != nil {
		t.Errorf("%d polls are still under way: %v", b.LongPolls(testGroup), err)
	}
}

// B02, B11: no runner needs to ask for a checkpoint: with an endless backlog a
// call of ProcessElement ends by itself.
func TestACallEndsByItselfWhateverTheBacklog(t *testing.T) {
	b := startBroker(t)
	cfg, err := newReadConfig(b.Endpoints(), testTopic, testGroup, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := openFetcher(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	backlog := make([]coders.AckableMessage, 3*mostRecords)
	for i := range backlog {
		backlog[i].Handle.InvisibleUntil = time.Now().Add(time.Hour)
	}
	f.queue.push(time.Now(), backlog...)
	fn := &source{Config: cfg}
	emitted := 0
	out, err := fn.drain(t.Context(), f, fn.CreateTracker(restriction{Left: unlimited}), func(beam.EventTime, coders.AckableMessage) { emitted++ })
	if err != nil || out.ended || emitted == 0 || emitted > mostRecords {
		t.Errorf("one call emitted %d messages (%+v, %v), want %d at most", emitted, out, err, mostRecords)
	}
	f.queue.takeAll(time.Now(), len(backlog)) // nothing to hand back
}
