// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"

	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// bareClient is a client beside the source or the sink, and where the topic is.
func bareClient(t *testing.T, mq *realmq.Cluster, topic string) (*remoting.Client, *remoting.Route) {
	t.Helper()
	c, err := remoting.NewClient(remoting.Config{NameServers: mq.NameServer()})
	if err != nil {
		t.Fatal(err)
	}
	route, err := c.Route(t.Context(), topic)
	if err != nil {
		c.Close()
		t.Fatal(err)
	}
	return c, route
}

// realTopic makes a topic of its own with n messages over its queues.
func realTopic(t *testing.T, mq *realmq.Cluster, n int) (topic, group string, c *remoting.Client) {
	t.Helper()
	topic = strings.ReplaceAll(strings.ReplaceAll(t.Name(), "/", "-"), "_", "-")
	group = "g-" + topic
	if err := mq.CreateTopic(t.Context(), topic, realmq.Normal); err != nil {
		t.Fatal(err)
	}
	if err := mq.CreateGroup(t.Context(), group); err != nil {
		t.Fatal(err)
	}
	c, route := bareClient(t, mq, topic)
	t.Cleanup(func() { c.Close() })
	queues := route.Writable()
	for i := range n {
		m := &remoting.OutMessage{Body: []byte(fmt.Sprint(i))}
		if _, err := c.Send(t.Context(), queues[i%len(queues)], "producers", m); err != nil {
			t.Fatal(err)
		}
	}
	return topic, group, c
}

// A bounded read from earliest to latest reads all, on prism and on the direct
// runner, and commits where it ended (B09, O35).
func TestRealBoundedReadFromEarliestToLatest(t *testing.T) {
	mq := realmqtest.Shared(t)
	topic, group, client := realTopic(t, mq, 200)
	for name, run := range map[string]func(*beam.Pipeline) error{
		"prism":  func(p *beam.Pipeline) error { return start(t, p).wait(t) },
		"direct": func(p *beam.Pipeline) error { _, err := direct.Execute(t.Context(), p); return err },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollector(t)
			p, s := beam.NewPipelineWithRoot()
			msgs := ReadBounded(s, mq.NameServer(), group, []string{topic}, ReadFrom(Earliest()), ReadTo(AtLatest()))
			beam.ParDo0(s, &collectFn{Test: t.Name()}, msgs)
			if err := run(p); err != nil {
				t.Fatal(err)
			}
			if got := bodies(c.all()); len(got) != 200 || len(c.all()) != 200 {
				t.Errorf("%d messages with %d bodies, want 200 and 200", len(c.all()), len(got))
			}
		})
	}
	route, err := client.Route(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range route.Readable() {
		end, err := client.MaxOffset(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if got, found, err := client.QueryCommitted(t.Context(), q, group); err != nil || !found || got != end {
			t.Errorf("%v: committed %d (%v, %v), want %d", q, got, found, err, end)
		}
	}
}

func TestRealUnboundedReadGoesOnWithWhatIsSentLater(t *testing.T) {
	mq := realmqtest.Shared(t)
	topic, group, client := realTopic(t, mq, 50)
	c := newCollector(t)
	p, s := beam.NewPipelineWithRoot()
	ends := map[Queue]int64{}
	route, err := client.Route(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	queues := route.Readable()
	for _, q := range queues {
		end, err := client.MaxOffset(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		ends[queueOf(q)] = end + 2
	}
	msgs := Read(s, mq.NameServer(), group, []string{topic}, ReadFrom(Earliest()), ReadTo(AtSpecific(ends)), ReadDiscoveryInterval(0), ReadPullTimeout(5*time.Second))
	beam.ParDo0(s, &collectFn{Test: t.Name()}, msgs)
	r := start(t, p)
	c.await(t, 50)
	for i := range 2 * len(queues) {
		if _, err := client.Send(t.Context(), queues[i%len(queues)], "producers", &remoting.OutMessage{Body: []byte(fmt.Sprint("late-", i))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	if got := len(bodies(c.all())); got != 50+2*len(queues) {
		t.Errorf("%d bodies, want %d", got, 50+2*len(queues))
	}
}
