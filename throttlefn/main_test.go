// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"go.uber.org/goleak"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
)

// TestMain looks for goroutines of this package that are left. Those of shared
// sessions and of prism may be, for a while.
func TestMain(m *testing.M) {
	code := ptest.MainRet(m)
	if err := goleak.Find(); err != nil && strings.Contains(err.Error(), "throttlefn.(*deferrer)") && code == 0 {
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
	t.Cleanup(func() { b.consumer.Close(context.Background()) })
	return b
}

// publish stores n messages in one lite topic.
func (b *bus) publish(liteTopic string, n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = b.Publish(testTopic, liteTopic, fmt.Appendf(nil, "%s %d", liteTopic, i))
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

// global puts a collection into the global window, as passert wants it.
func global(s beam.Scope, col beam.PCollection) beam.PCollection {
	return beam.WindowInto(s, window.NewGlobalWindows(), col)
}
