// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

func init() { register.DoFn2x1[context.Context, coders.AckableMessage, error](&failFn{}) }

type failFn struct{}

func (*failFn) ProcessElement(context.Context, coders.AckableMessage) error {
	return errors.New("the work failed")
}

// A DoFn that is fused behind the source and fails makes Beam's emitter panic
// through ProcessElement: the fetcher must not count as used for ever, or it
// would go on leasing messages that nobody emits.
func TestAFailureBehindTheSourceLeavesNoFetcherInUse(t *testing.T) {
	b := startBroker(t)
	b.Publish(testTopic, "s", []byte("x"))
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &failFn{}, Read(s, b.Endpoints(), testTopic, testGroup, ReadRequestTimeout(time.Second)))
	if err := start(t, p).wait(t); err == nil {
		t.Fatal("the pipeline did not fail")
	}
	Shutdown()
	if n := fetchers.Len(); n != 0 {
		t.Errorf("%d fetchers are still in use", n)
	}
	if n := b.LongPolls(testGroup); n != 0 {
		t.Errorf("%d polls are still under way", n)
	}
}
