// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"slices"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

func init() {
	beam.RegisterDoFn(&copyFn{})
	register.Function2x1((&copyFn{}).ProcessElement)
	beam.RegisterDoFn(&copyLiteFn{}) // a request a message: what calls cost does not count
}

const counters = "rocketmq.pipelines.mirror"

var (
	readCounter     = beam.NewCounter(counters, "read")
	filteredCounter = beam.NewCounter(counters, "filtered")
	lagCounter      = beam.NewCounter(counters, "lag_ms")
)

// noteRead counts a message, and how long after its storing it was read.
func noteRead(ctx context.Context, stored time.Time) {
	readCounter.Inc(ctx, 1)
	if !stored.IsZero() {
		lagCounter.Inc(ctx, max(time.Since(stored).Milliseconds(), 0))
	}
}

// copyFn makes the copies of messages of a normal topic.
type copyFn struct{ BornProperty string }

// ProcessElement makes a copy.
func (fn *copyFn) ProcessElement(ctx context.Context, m coders.Message) rocketmqio.OutgoingMessage {
	noteRead(ctx, m.StoreTime)
	out := rocketmqio.Outgoing(m)
	out.ShardingKey = m.Properties["__SHARDINGKEY"] // what was in order stays in order
	out.Properties = withBorn(out.Properties, fn.BornProperty, m.BornTime)
	return out
}

// copyLiteFn makes the copies of messages of lite topics.
type copyLiteFn struct {
	Tags         []string
	BornProperty string
}

// ProcessElement makes a copy, or none of a message that is not wanted: that one
// is acknowledged all the same, or it would hold up its lite topic.
func (fn *copyLiteFn) ProcessElement(ctx context.Context, m coders.AckableMessage) litegrpcio.Delivery {
	noteRead(ctx, m.StoreTime)
	d := litegrpcio.Delivery{Handle: m.Handle}
	if len(fn.Tags) > 0 && !slices.Contains(fn.Tags, m.Tag) {
		filteredCounter.Inc(ctx, 1)
		return d
	}
	d.Messages = []litegrpcio.Message{{
		LiteTopic: m.LiteTopic(), Body: m.Body, Keys: m.Keys, Tag: m.Tag,
		Properties: withBorn(m.Properties, fn.BornProperty, m.BornTime),
	}}
	return d
}
