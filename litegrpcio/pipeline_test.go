// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"fmt"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"go.uber.org/goleak"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func init() { register.Function1x1(bodyOf) }

func bodyOf(m coders.AckableMessage) string { return string(m.Body) }

func TestMain(m *testing.M) {
	ptest.MainRetWithDefault(m, "prism")
	goleak.VerifyTestMain(m)
}

const (
	testTopic = "bus"
	testGroup = "workers"
)

func startBroker(t *testing.T, opts ...embedded.Option) *embedded.Broker {
	t.Helper()
	b := embedded.Start(t.Context(), append([]embedded.Option{
		embedded.WithLiteTopic(testTopic), embedded.WithWildcardGroup(testGroup, testTopic),
	}, opts...)...)
	t.Cleanup(b.Close)
	t.Cleanup(Shutdown) // runs first
	return b
}

func TestReadOnPrism(t *testing.T) {
	b := startBroker(t)
	var want []any
	for i := range 50 {
		body := fmt.Sprintf("m-%d", i)
		b.Publish(testTopic, fmt.Sprintf("s-%d", i), []byte(body))
		want = append(want, body)
	}
	p, s := beam.NewPipelineWithRoot()
	msgs := Read(s, b.Endpoints(), testTopic, testGroup, ReadMaxRecords(50), ReadMaxDuration(20*time.Second))
	passert.Equals(s, beam.ParDo(s, bodyOf, msgs), want...)
	ptest.RunAndValidate(t, p)
}
