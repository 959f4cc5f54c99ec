// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func init() {
	beam.RegisterDoFn(&hookFn{})
}

// hooks are what tests do in the step behind the source, by the test's name.
var hooks sync.Map

// hook is called in a step that is fused with the source.
type hook struct {
	setup   func() error
	message func(context.Context, coders.Message) error
}

// hookFn calls the hook of a test.
type hookFn struct{ Test string }

func (fn *hookFn) Setup() error {
	if h, ok := hooks.Load(fn.Test); ok && h.(hook).setup != nil {
		return h.(hook).setup()
	}
	return nil
}

func (fn *hookFn) ProcessElement(ctx context.Context, m coders.Message) (coders.Message, error) {
	if h, ok := hooks.Load(fn.Test); ok && h.(hook).message != nil {
		return m, h.(hook).message(ctx, m)
	}
	return m, nil
}

// hookedPipeline is readPipeline with a hook before the messages are collected.
func hookedPipeline(t *testing.T, b *embedded.Broker, h hook, opts ...ReadOption) *beam.Pipeline {
	t.Helper()
	hooks.Store(t.Name(), h)
	t.Cleanup(func() { hooks.Delete(t.Name()) })
	p, s := beam.NewPipelineWithRoot()
	msgs := Read(s, b.NameServer(), testGroup, []string{testTopic}, quick(opts...)...)
	beam.ParDo0(s, &collectFn{Test: t.Name()}, beam.ParDo(s, &hookFn{Test: t.Name()}, msgs))
	return p
}
