// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"go.uber.org/goleak"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
)

func TestMain(m *testing.M) {
	code := ptest.MainRet(m)
	sessions.CloseIdle()
	if err := goleak.Find(
		// Prism, once started in a process, listens until its end.
		goleak.IgnoreAnyFunction("github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism/internal/jobservices.(*Server).Serve")); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

const (
	testTopic = "bus"
	testGroup = "agents"
)

// bus is an embedded broker with a consumer to take messages from it.
type bus struct {
	*embedded.Broker
	t        *testing.T
	consumer *litegrpc.Consumer
	next     int // number of the next lite topic of its own
}

func newBus(t *testing.T, opts ...embedded.Option) *bus {
	t.Helper()
	opts = append([]embedded.Option{embedded.WithLiteTopic(testTopic), embedded.WithWildcardGroup(testGroup, testTopic)}, opts...)
	b := &bus{Broker: embedded.Start(t.Context(), opts...), t: t}
	t.Cleanup(b.Close)
	endpoints, err := litegrpc.ParseEndpoints(b.Endpoints())
	if err != nil {
		t.Fatal(err)
	}
	b.consumer, err = litegrpc.NewConsumer(t.Context(), litegrpc.ConsumerConfig{
		Config: litegrpc.Config{Endpoints: endpoints}, Topic: testTopic, Group: testGroup,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.consumer.Close(context.Background()); sessions.CloseIdle() })
	return b
}

// publish stores n messages, spread over so many lite topics.
func (b *bus) publish(n, liteTopics int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = b.Publish(testTopic, fmt.Sprintf("lite-%d", i%liteTopics), fmt.Appendf(nil, "body %d", i))
	}
	return ids
}

// receive takes n messages with a lease of one minute.
func (b *bus) receive(n int) []coders.AckableMessage {
	b.t.Helper()
	return b.receiveFor(n, time.Minute)
}

func (b *bus) receiveFor(n int, lease time.Duration) []coders.AckableMessage {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 20*time.Second)
	defer cancel()
	var got []coders.AckableMessage
	for len(got) < n {
		batch, err := b.consumer.Receive(ctx, min(32, n-len(got)), lease, 5*time.Second)
		if err != nil {
			b.t.Fatalf("received %d of %d: %v", len(got), n, err)
		}
		got = append(got, batch.Messages...)
	}
	return got
}

func handlesOf(msgs []coders.AckableMessage) []coders.ReceiptHandle {
	out := make([]coders.ReceiptHandle, len(msgs))
	for i, m := range msgs {
		out[i] = m.Handle
	}
	return out
}

// client acquires a client whose pauses take no time.
func client(t *testing.T, opts ...Option) (*Client, *[]time.Duration) {
	t.Helper()
	c, err := Acquire(t.Context(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	var pauses []time.Duration
	c.wait = func(ctx context.Context, d time.Duration) error {
		pauses = append(pauses, d) // tests that count pauses send one request at a time
		return ctx.Err()
	}
	return c, &pauses
}

func wantOutcomes(t *testing.T, got []Result, want ...Outcome) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d results, want %d: %+v", len(got), len(want), got)
	}
	for i := range got {
		if got[i].Outcome != want[i] {
			t.Errorf("result %d: %v (%s), want %v", i, got[i].Outcome, got[i].Detail, want[i])
		}
	}
}

func (b *bus) wantAcked(ids ...string) {
	b.t.Helper()
	for _, id := range ids {
		if m, ok := b.Message(id); !ok || !m.Acked() || m.StaleAcks > 0 {
			b.t.Errorf("message %s: acked %v, %d stale acks; want acked once", id, m.Acked(), m.StaleAcks)
		}
	}
}

// gauge is a control function that sees how many requests run at a time. It
// holds the first ones until two are there.
type gauge struct {
	mu           sync.Mutex
	running, max int
	two          chan struct{}
}

func newGauge() *gauge { return &gauge{two: make(chan struct{})} }

func (g *gauge) control(ctx context.Context, _ *embedded.Request) embedded.Reaction {
	g.mu.Lock()
	g.running++
	if g.running > g.max {
		g.max = g.running
		if g.max == 2 {
			close(g.two)
		}
	}
	g.mu.Unlock()
	select {
	case <-g.two:
	case <-ctx.Done():
	}
	g.mu.Lock()
	g.running--
	g.mu.Unlock()
	return embedded.Pass()
}

func (g *gauge) most() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.max
}
