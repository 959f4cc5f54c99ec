// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// The whole of what a source and a sink do, with a real client over two brokers,
// one of which moves to another port on the way (X10).
func TestAPooledClientWorksThroughAFailover(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithBrokers("x", "y"), embedded.WithQueues(2))
	c, err := remoting.NewClient(remoting.Config{NameServers: b.NameServer()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // it never fails
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	route, err := c.Route(ctx, "orders")
	if err != nil {
		t.Fatal(err)
	}
	queues := route.Readable()
	if len(queues) != 4 {
		t.Fatalf("queues %v, want 4", queues)
	}
	send := func(what string) {
		t.Helper()
		for _, q := range queues {
			m := &remoting.OutMessage{Body: fmt.Appendf(nil, "%s of %s/%d", what, q.Broker, q.ID), Properties: remoting.PropertiesOf(remoting.PropertyTags, what)}
			if _, err := c.SendV2(ctx, q, "p", m); err != nil {
				t.Fatal(err)
			}
		}
	}
	send("first")
	b.FailOver("y")
	for _, q := range queues { // the client finds the new port by itself, within a try or two
		var err error
		for range 3 {
			if _, err = c.MaxOffset(ctx, q); err == nil {
				break
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	send("second")
	for _, q := range queues {
		r, err := c.Pull(ctx, remoting.PullRequest{Queue: q, Group: "g", Expression: remoting.TagFilter("second")})
		if err != nil || len(r.Messages) != 1 || r.Next != 2 || r.Messages[0].Tag() != "second" {
			t.Fatalf("pull from %v: %+v, %v", q, r, err)
		}
		if err := c.Commit(ctx, q, "g", r.Next); err != nil {
			t.Fatal(err)
		}
		if offset, ok := b.Committed("g", embedded.Queue{Topic: q.Topic, Broker: q.Broker, ID: q.ID}); !ok || offset != 2 {
			t.Errorf("committed %d, %v in %v", offset, ok, q)
		}
	}
	q := queues[0]
	b.ExpireMessages(embedded.Queue{Topic: q.Topic, Broker: q.Broker}, 1)
	_, err = c.Pull(ctx, remoting.PullRequest{Queue: q, Group: "g"})
	if e := (*remoting.Error)(nil); !errors.As(err, &e) || e.Class != remoting.OffsetMoved {
		t.Errorf("below the first offset: %v", err)
	}
	if at, err := c.OffsetByTime(ctx, q, time.UnixMilli(0)); err != nil || at != 1 {
		t.Errorf("the first offset by time: %d, %v", at, err)
	}
}
