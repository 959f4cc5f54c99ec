// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
)

func realTopic(t *testing.T, mq *realmq.Cluster, name string, kind realmq.Kind) {
	t.Helper()
	if err := mq.CreateTopic(t.Context(), name, kind); err != nil {
		t.Fatal(err)
	}
}

// From the embedded broker to a real one, and back to another topic.
func TestANormalTopicComesBackFromARealBroker(t *testing.T) {
	mq := realmqtest.Shared(t)
	realTopic(t, mq, copied, realmq.Normal)
	from, _ := clusters(t)
	from.CreateTopic("back", 4)
	const n = 3000
	for i := range n {
		from.PublishTo(embedded.Queue{Topic: topic, ID: i % 2}, fmt.Appendf(nil, "m-%d", i), embedded.PublishTag("paid"), embedded.PublishKeys(fmt.Sprint("k-", i)))
	}
	there := normal(from.NameServer(), mq.NameServer())
	if got, err := run(t.Context(), t, there); err != nil || got.Written != n {
		t.Fatalf("%+v, %v", got, err)
	}
	back := normal(mq.NameServer(), from.NameServer())
	back.From.Topic, back.To.Topic, back.Tags = copied, "back", []string{"paid"}
	for len(from.Messages("back")) < n { // a real broker shows messages a moment later
		if got, err := run(t.Context(), t, back); err != nil {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if got := bodiesOf(from, "back"); len(got) != n || len(from.Messages("back")) != n {
		t.Errorf("%d copies of %d messages came back, want %d", len(from.Messages("back")), len(got), n)
	}
	for _, m := range from.Messages("back") {
		if m.Tag != "paid" || len(m.Keys) != 1 {
			t.Fatalf("%s came back with tag %q and keys %q", m.Body, m.Tag, m.Keys)
		}
	}
}

func TestLiteTopicsComeBackFromARealBroker(t *testing.T) {
	mq := realmqtest.Shared(t)
	realTopic(t, mq, "bus", realmq.Lite)
	if err := mq.CreateGroup(t.Context(), group, realmq.LiteBind("bus"), realmq.Wildcard()); err != nil {
		t.Fatal(err)
	}
	from, to := clusters(t)
	const n = 200
	for i := range n {
		from.Publish("bus", fmt.Sprint("tenant-", i%20), fmt.Appendf(nil, "m-%d", i), embedded.PublishProperty("n", fmt.Sprint(i)))
	}
	if got, err := run(t.Context(), t, lite(from.Endpoints(), mq.Endpoints())); err != nil || got.Written != n || got.Acked != n {
		t.Fatalf("%+v, %v", got, err)
	}
	back := lite(mq.Endpoints(), to.Endpoints())
	back.IdleTimeout = 15 * time.Second // a new group waits for the broker's full dispatch
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for read := int64(0); read < n; { // on a busy machine the dispatch comes later still
		got, err := run(ctx, t, back)
		if err != nil {
			t.Fatalf("%+v, %v; read before: %d", got, err, read)
		}
		read += got.Read
	}
	if got := bodiesOf(to, "bus"); len(got) != n {
		t.Errorf("%d messages came back, want %d", len(got), n)
	}
}

// A real broker stores, and hands out, what no consumer could select.
func TestWhatNoConsumerCouldSelectComesBackFromARealBroker(t *testing.T) {
	mq := realmqtest.Shared(t)
	const there = "odd-there"
	realTopic(t, mq, there, realmq.Normal)
	from, to := clusters(t)
	tags := []string{"ok", "a|b", " x ", "*", "a\tb"}
	for _, tag := range tags {
		from.PublishTo(embedded.Queue{Topic: topic}, []byte(tag), embedded.PublishTag(tag))
	}
	fill := normal(from.NameServer(), mq.NameServer())
	fill.To.Topic = there
	if got, err := run(t.Context(), t, fill); err != nil || got.Written != int64(len(tags)) {
		t.Fatalf("%+v, %v", got, err)
	}
	back := normal(mq.NameServer(), to.NameServer())
	back.From.Topic, back.Group = there, "odd"
	for len(to.Messages(copied)) < len(tags) { // a real broker shows messages a moment later
		if got, err := run(t.Context(), t, back); err != nil {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	for _, m := range to.Messages(copied) {
		if m.Tag != string(m.Body) {
			t.Errorf("the copy of %q has tag %q", m.Body, m.Tag)
		}
	}
}
