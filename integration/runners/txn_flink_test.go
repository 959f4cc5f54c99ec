// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package runners

import (
	"fmt"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

func init() { register.Function1x1(orderNumber) }

// shipmentsTopic is where each order is written to, exactly once.
const shipmentsTopic = "shipments"

// orderNumber is a key that is the same whenever an order is read again.
func orderNumber(m coders.Message) string { return "order-" + string(m.Body) }

// A message that fails a bundle in mid-run: Flink starts the job again from a
// checkpoint that lies behind what is committed already, and a consumer sees each
// message once all the same (W11, X22a).
func TestAJobThatFlinkStartsAgainWritesOnce(t *testing.T) {
	const half = 4_000
	on := onFlink[1]
	b := startBroker(t)
	b.CreateTopic(shipmentsTopic, queues)
	publishOrders(b, 0, half)
	on.options.CheckpointingInterval = 2 * time.Second
	begin := time.Now()
	submit(t, on.server(t), shipOrders(t, b, 2*half, 3*half/2), on.options)
	// The job has a checkpoint to go back to, and after it comes what fails.
	awaitMany(t, b, half)
	awaitCheckpoint(t, shared.job)
	publishOrders(b, half, half)
	// And a checkpoint behind all: nothing is under way any more.
	awaitMany(t, b, 2*half)
	awaitCheckpoint(t, shared.job)
	if _, did := failed.Load(t.Name()); !did {
		t.Error("the job never failed")
	}
	wantEachShippedOnce(t, b, 2*half)
	prepared := len(b.Halves(""))
	if prepared <= 2*half {
		t.Errorf("%d half messages, want some that were prepared again", prepared)
	}
	commits := 0
	for _, e := range b.Ends() {
		if e.Commit {
			commits++
		}
	}
	t.Logf("%d messages in %v; %d were prepared, %d committed", 2*half, time.Since(begin).Round(time.Millisecond), prepared, commits)
}

// shipOrders reads n orders, fails once at one of them, and writes all exactly
// once.
func shipOrders(t *testing.T, b *embedded.Broker, n, failAt int) *beam.Pipeline {
	t.Helper()
	p, s := beam.NewPipelineWithRoot()
	msgs := rocketmqio.Read(s, b.NameServer(), ordersGroup, []string{ordersTopic},
		rocketmqio.ReadFrom(rocketmqio.Earliest()), rocketmqio.ReadTo(rocketmqio.AtSpecific(endsOfOrders(n))), rocketmqio.ReadIdleDelay(100*time.Millisecond))
	good := beam.ParDo(s, &failOnceFn{t.Name(), fmt.Sprint(failAt)}, msgs)
	rocketmqio.Write(s, b.NameServer(), good, rocketmqio.WriteTopic(shipmentsTopic),
		rocketmqio.WriteExactlyOnce(orderNumber), rocketmqio.WriteCommitSettle(200*time.Millisecond))
	return p
}

// awaitMany waits until so many shipments are there.
func awaitMany(t *testing.T, b *embedded.Broker, n int) {
	t.Helper()
	poll(t, fmt.Sprintf("%d shipments", n), func() bool {
		there := int64(0)
		for id := range queues {
			_, end := b.QueueOffsets(embedded.Queue{Topic: shipmentsTopic, ID: id})
			there += end
		}
		return there >= int64(n)
	})
}

func wantEachShippedOnce(t *testing.T, b *embedded.Broker, n int) {
	t.Helper()
	seen := map[string]int{}
	for _, m := range b.Messages(shipmentsTopic) {
		seen[string(m.Body)]++
	}
	lost, twice := 0, 0
	for i := range n {
		switch k := seen[fmt.Sprint(i)]; {
		case k == 0:
			lost++
		case k > 1:
			twice++
		}
	}
	if lost > 0 || twice > 0 || len(seen) != n {
		t.Errorf("of %d messages %d are lost and %d are there more than once; %d different ones", n, lost, twice, len(seen))
	}
}
