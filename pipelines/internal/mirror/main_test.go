// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
)

func TestMain(m *testing.M) {
	portable.Init(io.Discard, false)
	realmqtest.Main(m)
}

const (
	topic, copied, group = "orders", "orders-copy", "mirrors"
	// costly is the one expression that the embedded brokers know.
	costly = "price > 5"
)

// clusters are two brokers, with a topic of either kind on each.
func clusters(t *testing.T) (from, to *embedded.Broker) {
	t.Helper()
	start := func(topic string) *embedded.Broker {
		b := embedded.Start(context.Background(), embedded.WithNormalTopic(topic), embedded.WithQueues(2),
			embedded.WithSQLFilter(costly, func(properties map[string]string) bool { return properties["price"] > "5" }),
			embedded.WithLiteTopic("bus"), embedded.WithWildcardGroup(group, "bus"))
		t.Cleanup(b.Close)
		return b
	}
	return start(topic), start(copied)
}

// normal are options that copy what is there.
func normal(from, to string) Options {
	o := Defaults()
	o.From, o.To = Cluster{Address: from, Topic: topic}, Cluster{Address: to, Topic: copied}
	o.Group, o.Stop = group, toLatest
	return o
}

// lite are options that copy lite topics until nothing comes any more.
func lite(from, to string) Options {
	o := Defaults()
	o.Lite, o.Group, o.IdleTimeout = true, group, 2*time.Second
	o.From, o.To = Cluster{Address: from, Topic: "bus"}, Cluster{Address: to, Topic: "bus"}
	return o
}

// summary is the last line of a mirror.
type summary struct {
	figures
	Interrupted, Aborted bool
}

// run runs a mirror to its end.
func run(ctx context.Context, t *testing.T, o Options) (summary, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	var out bytes.Buffer
	err := Run(ctx, o, &out)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var s summary
	if failed := json.Unmarshal([]byte(lines[len(lines)-1]), &s); failed != nil {
		t.Fatalf("the last line is no JSON: %v (%v)\n%s", failed, err, out.String())
	}
	return s, err
}

// fill publishes the messages m-from to m-to of a normal topic, in turn to its two
// queues.
func fill(b *embedded.Broker, from, to int) {
	for i := from; i < to; i++ {
		b.PublishTo(embedded.Queue{Topic: topic, ID: i % 2}, fmt.Appendf(nil, "m-%d", i))
	}
}

// bodiesOf counts how often each body is in a topic.
func bodiesOf(b *embedded.Broker, topic string) map[string]int {
	out := make(map[string]int)
	for _, m := range b.Messages(topic) {
		out[string(m.Body)]++
	}
	return out
}
