// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package runners

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/google/go-cmp/cmp"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

func init() {
	register.Function1x2(byQueue)
	beam.RegisterDoFn(&countFn{})
	register.Iter1[int]()
	beam.RegisterDoFn(&resultFn{})
}

func byQueue(m coders.Message) (int32, int) { return m.QueueID, 1 }

// countsTopic is where the counts are written to.
const countsTopic = "counts"

// countFn shows how many ones a window of a queue holds.
type countFn struct{ Test string }

func (fn *countFn) ProcessElement(_ context.Context, w beam.Window, queue int32, ones func(*int) bool) rocketmqio.OutgoingMessage {
	n, one := 0, 0
	for ones(&one) {
		n++
	}
	key := fmt.Sprintf("queue %d until %v", queue, w.MaxTimestamp())
	if tp, ok := taps.Load(fn.Test); ok {
		tp.(*tap).set(key, n)
	}
	return rocketmqio.OutgoingMessage{Keys: []string{strconv.Itoa(int(queue))}, Body: fmt.Append(nil, key, ": ", n)}
}

// awaitCounts waits until what was counted has been written, and nothing else.
func awaitCounts(t *testing.T, b *embedded.Broker, tp *tap) {
	t.Helper()
	want := map[string]bool{}
	for key, n := range tp.snapshot() {
		if strings.HasPrefix(key, "queue ") {
			want[fmt.Sprint(key, ": ", n)] = true
		}
	}
	got := map[string]bool{}
	poll(t, "all counts in the topic", func() bool {
		clear(got)
		for _, m := range b.Messages(countsTopic) {
			got[string(m.Body)] = true
		}
		return len(got) >= len(want)
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts written, -want +got:\n%s", diff)
	}
}

// countInWindows is read, window, count, write.
func countInWindows(t *testing.T, s beam.Scope, b *embedded.Broker) beam.PCollection {
	t.Helper()
	msgs := readOrders(s, b)
	windowed := beam.WindowInto(s, window.NewFixedWindows(time.Second), msgs)
	counts := beam.ParDo(s, &countFn{t.Name()}, beam.GroupByKey(s, beam.ParDo(s, byQueue, windowed)))
	rocketmqio.Write(s, b.NameServer(), counts, rocketmqio.WriteTopic(countsTopic))
	return msgs
}

func readOrders(s beam.Scope, b *embedded.Broker) beam.PCollection {
	return rocketmqio.Read(s, b.NameServer(), ordersGroup, []string{ordersTopic},
		rocketmqio.ReadFrom(rocketmqio.Committed(rocketmqio.Earliest())), rocketmqio.ReadPullTimeout(5*time.Second),
		rocketmqio.ReadCommitInterval(100*time.Millisecond), rocketmqio.ReadIdleDelay(500*time.Millisecond))
}

func countPipeline(t *testing.T, b *embedded.Broker) *beam.Pipeline {
	t.Helper()
	p, s := beam.NewPipelineWithRoot()
	countInWindows(t, s, b)
	return p
}

func publishOrders(b *embedded.Broker, from, n int) {
	for i := from; i < from+n; i++ {
		b.PublishTo(embedded.Queue{Topic: ordersTopic, ID: i % queues}, fmt.Append(nil, i))
	}
}

func total(seen map[string]int) (n int) {
	for _, k := range seen {
		n += k
	}
	return n
}

// endsOfOrders is where the queues end when n orders are there.
func endsOfOrders(n int) map[rocketmqio.Queue]int64 {
	ends := map[rocketmqio.Queue]int64{}
	for id := range queues {
		ends[rocketmqio.Queue{Topic: ordersTopic, Broker: "broker-a", ID: id}] = int64(n / queues)
	}
	return ends
}

// awaitCommits waits until the group has committed what the queues hold.
func awaitCommits(t *testing.T, b *embedded.Broker) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for id := range queues {
		q := embedded.Queue{Topic: ordersTopic, ID: id}
		_, want := b.QueueOffsets(q)
		for {
			got, ok := b.Committed(ordersGroup, q)
			if ok && got == want {
				break
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				t.Fatalf("queue %d: committed %d, %v; want %d", id, got, ok, want)
			}
		}
	}
}

// wantCounters waits a moment for the bundles under way to end.
func wantCounters(t *testing.T, counters func() map[string]int64, want map[string]int64) {
	t.Helper()
	timeout := time.After(20 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		got, alike := counters(), true
		for name, n := range want {
			alike = alike && got[name] == n
		}
		if alike {
			return
		}
		select {
		case <-tick.C:
		case <-timeout:
			t.Errorf("counters %v, want %v among them", got, want)
			return
		}
	}
}

const (
	busTopic  = "agent-bus"
	busGroup  = "beam-agents"
	perWindow = 4
	noisy     = 3 * perWindow
	calm      = 8
)

// resultFn shows what became of each acknowledgement.
type resultFn struct{ Test string }

func (fn *resultFn) ProcessElement(r ackfn.Result) {
	if tp, ok := taps.Load(fn.Test); ok {
		tp.(*tap).add(fmt.Sprintf("%v %s", r.Outcome, r.Handle.MessageID), 1)
	}
}

func startBus(t *testing.T) *embedded.Broker {
	t.Helper()
	return startBroker(t, embedded.WithLiteTopic(busTopic), embedded.WithWildcardGroup(busGroup, busTopic))
}

// publishTenants makes a noisy lite topic and some calm ones.
func publishTenants(b *embedded.Broker) {
	for i := range noisy {
		b.Publish(busTopic, "noisy", fmt.Append(nil, i))
	}
	for i := range calm {
		b.Publish(busTopic, fmt.Sprintf("calm-%d", i), fmt.Append(nil, i))
	}
}
