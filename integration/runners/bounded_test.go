// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package runners

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

const (
	ordersTopic = "orders"
	ordersGroup = "beam-orders"
	queues      = 4
)

// X30: what other sources read nothing on.
func TestABoundedReadOfNormalTopics(t *testing.T) {
	eachTarget(t, func(t *testing.T, on target) {
		b := startBroker(t)
		const n = 200
		for i := range n {
			b.PublishTo(embedded.Queue{Topic: ordersTopic, ID: i % queues}, fmt.Append(nil, i))
		}
		tp := newTap(t)
		p, s := beam.NewPipelineWithRoot()
		msgs := rocketmqio.ReadBounded(s, b.NameServer(), ordersGroup, []string{ordersTopic},
			rocketmqio.ReadFrom(rocketmqio.Earliest()), rocketmqio.ReadTo(rocketmqio.AtLatest()))
		beam.ParDo0(s, &tapFn{t.Name()}, msgs)
		begin := time.Now()
		job, err := on.batch(t, p)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("took %v, counters %v", time.Since(begin), job.Counters())
		if all, distinct := tp.counts(); all != n || distinct != n {
			t.Errorf("%d messages, %d different; want %d", all, distinct, n)
		}
	})
}

func startBroker(t *testing.T, opts ...embedded.Option) *embedded.Broker {
	t.Helper()
	b := embedded.Start(context.Background(), opts...)
	t.Cleanup(b.Close)
	t.Cleanup(shutdown) // runs first
	b.CreateTopic(ordersTopic, queues)
	return b
}
