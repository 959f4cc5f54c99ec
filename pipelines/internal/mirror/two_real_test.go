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

// Between two real clusters, each with a name server, a broker and a proxy of its
// own: what mirrors the embedded broker fills the first, and empties the second.
func TestMirrorsBetweenTwoRealClusters(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts three JVMs more")
	}
	one, two := realmqtest.Shared(t), realmqtest.Start(t)
	if one.NameServer() == two.NameServer() || one.Endpoints() == two.Endpoints() {
		t.Fatal("there is one cluster only")
	}
	t.Run("a normal topic", func(t *testing.T) { normalBetween(t, one, two) })
	t.Run("lite topics", func(t *testing.T) { liteBetween(t, one, two) })
}

func normalBetween(t *testing.T, one, two *realmq.Cluster) {
	const there = "orders-there"
	realTopic(t, one, there, realmq.Normal)
	realTopic(t, two, copied, realmq.Normal)
	from, to := clusters(t)
	const n = 1000
	for i := range n {
		from.PublishTo(embedded.Queue{Topic: topic, ID: i % 2}, fmt.Appendf(nil, "m-%d", i), embedded.PublishTag("paid"), embedded.PublishKeys(fmt.Sprint("k-", i)))
	}
	fill := normal(from.NameServer(), one.NameServer())
	fill.To.Topic = there
	if got, err := run(t.Context(), t, fill); err != nil || got.Written != n {
		t.Fatalf("%+v, %v", got, err)
	}
	between := normal(one.NameServer(), two.NameServer())
	between.From.Topic, between.Group = there, "between"
	empty := normal(two.NameServer(), to.NameServer())
	empty.From.Topic = copied
	written := int64(0)
	for len(to.Messages(copied)) < n { // a real broker shows messages a moment later
		got, err := run(t.Context(), t, between)
		if err != nil {
			t.Fatalf("%+v, %v", got, err)
		}
		written += got.Written
		if got, err := run(t.Context(), t, empty); err != nil {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if got := bodiesOf(to, copied); len(got) != n || len(to.Messages(copied)) != n || written != n {
		t.Errorf("%d written between the clusters, %d copies of %d messages came out; want %d", written, len(to.Messages(copied)), len(got), n)
	}
	ids := map[string]string{}
	for _, m := range from.Messages(topic) {
		ids[string(m.Body)] = m.ID
	}
	for _, m := range to.Messages(copied) {
		if m.Tag != "paid" || len(m.Keys) != 1 || m.ID != ids[string(m.Body)] {
			t.Fatalf("%s came out with tag %q, keys %q and id %s, want id %s", m.Body, m.Tag, m.Keys, m.ID, ids[string(m.Body)])
		}
	}
}

func liteBetween(t *testing.T, one, two *realmq.Cluster) {
	const there = "bus-there"
	for _, c := range []struct {
		mq    *realmq.Cluster
		topic string
	}{{one, there}, {two, "bus"}} {
		realTopic(t, c.mq, c.topic, realmq.Lite)
		if err := c.mq.CreateGroup(t.Context(), "between", realmq.LiteBind(c.topic), realmq.Wildcard()); err != nil {
			t.Fatal(err)
		}
	}
	from, to := clusters(t)
	const n = 100
	for i := range n {
		from.Publish("bus", fmt.Sprint("tenant-", i%10), fmt.Appendf(nil, "m-%d", i))
	}
	fill := lite(from.Endpoints(), one.Endpoints())
	fill.To.Topic = there
	if got, err := run(t.Context(), t, fill); err != nil || got.Written != n || got.Acked != n {
		t.Fatalf("%+v, %v", got, err)
	}
	between := lite(one.Endpoints(), two.Endpoints())
	between.From.Topic, between.Group = there, "between"
	empty := lite(two.Endpoints(), to.Endpoints())
	empty.Group = "between"
	for _, o := range []*Options{&between, &empty} {
		o.IdleTimeout = 15 * time.Second // a new group waits for the broker's full dispatch
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		if got, err := run(ctx, t, *o); err != nil || got.Read < n || got.Acked < n {
			t.Fatalf("%s to %s: %+v, %v", o.From.Address, o.To.Address, got, err)
		}
	}
	lites := map[string]string{}
	for _, m := range to.Messages("bus") {
		lites[string(m.Body)] = m.LiteTopic
	}
	for i := range n {
		if got, want := lites[fmt.Sprint("m-", i)], fmt.Sprint("tenant-", i%10); got != want {
			t.Fatalf("m-%d came out in lite topic %q, want %q", i, got, want)
		}
	}
}
