// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func init() {
	register.Function1x2(byQueue)
	beam.RegisterDoFn(&countFn{})
	register.Iter1[int]()
}

func byQueue(m coders.Message) (int32, int) { return m.QueueID, 1 }

// counts is what windows of a test held, by window and queue.
var counts sync.Map

type windowCounts struct {
	mu   sync.Mutex
	of   map[string]int
	more chan struct{}
}

type countFn struct{ Test string }

func (fn *countFn) ProcessElement(_ context.Context, w beam.Window, queue int32, ones func(*int) bool) {
	n, one := 0, 0
	for ones(&one) {
		n++
	}
	c, ok := counts.Load(fn.Test)
	if !ok {
		return
	}
	all := c.(*windowCounts)
	all.mu.Lock()
	defer all.mu.Unlock()
	all.of[fmt.Sprintf("%d/%v", queue, w.MaxTimestamp())] += n
	close(all.more)
	all.more = make(chan struct{})
}

func (c *windowCounts) total() (n int, more chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.of {
		n += k
	}
	return n, c.more
}

// await waits until the windows that fired held n messages.
func (c *windowCounts) await(t *testing.T, n int) {
	t.Helper()
	timeout := time.After(40 * time.Second)
	for {
		got, more := c.total()
		if got >= n {
			return
		}
		select {
		case <-more:
		case <-timeout:
			t.Fatalf("windows with %d of %d messages fired in 40 s", got, n)
		}
	}
}

// windowed is a pipeline of event-time windows of a minute behind the source.
func windowed(t *testing.T, b *embedded.Broker, opts ...ReadOption) (*beam.Pipeline, *windowCounts) {
	t.Helper()
	c := &windowCounts{of: make(map[string]int), more: make(chan struct{})}
	counts.Store(t.Name(), c)
	t.Cleanup(func() { counts.Delete(t.Name()) })
	p, s := beam.NewPipelineWithRoot()
	msgs := Read(s, b.NameServer(), testGroup, []string{testTopic}, quick(opts...)...)
	minutes := beam.WindowInto(s, window.NewFixedWindows(time.Minute), beam.ParDo(s, byQueue, msgs))
	beam.ParDo0(s, &countFn{Test: t.Name()}, beam.GroupByKey(s, minutes))
	return p, c
}

// Eight queues of very unequal length, with messages over an hour: nothing is
// dropped as late, though prism takes the watermark of the bundle that finished
// last for that of the source.
func TestNothingIsDroppedAsLateWithQueuesOfUnequalSpeed(t *testing.T) {
	b := startBroker(t, 8)
	began := time.Now().Add(-2 * time.Hour)
	total := 0
	for id := range 8 {
		n := 50 << id // 50 … 6400
		total += n
		for i := range n {
			b.PublishTo(queueNo(id), []byte("x"), embedded.PublishStored(began.Add(time.Duration(i)*time.Hour/time.Duration(n))))
		}
	}
	p, c := windowed(t, b, ReadFrom(Earliest()), ReadTo(AtLatest()))
	if err := start(t, p).wait(t); err != nil {
		t.Fatal(err)
	}
	if got, _ := c.total(); got != total {
		t.Errorf("windows held %d of %d messages", got, total)
	}
}

// B15: queues that were never written to, and those that were read to their
// end, do not hold the watermark: windows fire while the pipeline runs.
func TestIdleAndUnusedQueuesDoNotHoldTheWatermark(t *testing.T) {
	b := startBroker(t, 8)
	old := time.Now().Add(-time.Hour)
	for i := range 20 {
		b.PublishTo(queueNo(0), []byte("x"), embedded.PublishStored(old.Add(time.Duration(i)*time.Second)))
	}
	stop := ends(b, 8, 1) // one more message a queue ends it
	p, c := windowed(t, b, ReadFrom(Earliest()), ReadTo(stop), ReadIdleDelay(time.Second))
	r := start(t, p)
	c.await(t, 20)
	for id := range 8 {
		publish(b, id, 1, "end")
	}
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
}

// B16: and they do hold it when told so: what fired is nothing until the end.
func TestIdleQueuesHoldTheWatermarkIfToldSo(t *testing.T) {
	b := startBroker(t, 2)
	old := time.Now().Add(-time.Hour)
	for i := range 20 {
		b.PublishTo(queueNo(0), []byte("x"), embedded.PublishStored(old.Add(time.Duration(i)*time.Minute)))
	}
	stop := ends(b, 2, 1)
	p, c := windowed(t, b, ReadFrom(Earliest()), ReadTo(stop), ReadIdleHolds())
	r := start(t, p)
	// Queue 1 has never had a message. When the commit of all of queue 0 is
	// there, its bundles are done, and so would be its windows.
	if err := b.Wait(t.Context(), func(embedded.Snapshot) bool { at, _ := b.Committed(testGroup, queueNo(0)); return at == 20 }); err != nil {
		t.Fatal(err)
	}
	if got, _ := c.total(); got != 0 {
		t.Errorf("windows with %d messages fired", got)
	}
	publish(b, 0, 1, "end")
	publish(b, 1, 1, "end")
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	if got, _ := c.total(); got != 22 {
		t.Errorf("in the end windows held %d messages, want 22", got)
	}
}
