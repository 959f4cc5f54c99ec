// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/internal/asyncsink"
)

func init() {
	beam.RegisterDoFn(&makeFn{})
	register.Emitter1[OutgoingMessage]()
	beam.RegisterDoFn(&resultsFn{})
}

// makers make the messages of a test's pipeline, by the test's name.
var makers sync.Map

// makeFn makes n messages, in one bundle.
type makeFn struct{ Test string }

func (fn *makeFn) ProcessElement(_ context.Context, n int, emit func(OutgoingMessage)) error {
	make, ok := makers.Load(fn.Test)
	if !ok {
		return fmt.Errorf("test %s is over", fn.Test)
	}
	for i := range n {
		emit(make.(func(int) OutgoingMessage)(i))
	}
	return nil
}

// resultsOf holds what a pipeline of a test wrote, by the test's name.
var resultsOf sync.Map

type results struct {
	mu  sync.Mutex
	all []WriteResult
}

type resultsFn struct{ Test string }

func (fn *resultsFn) ProcessElement(_ context.Context, r WriteResult) {
	if all, ok := resultsOf.Load(fn.Test); ok {
		all := all.(*results)
		all.mu.Lock()
		defer all.mu.Unlock()
		all.all = append(all.all, r)
	}
}

// writePipeline writes n messages in one bundle and collects the results.
func writePipeline(t *testing.T, nameServers string, n int, message func(int) OutgoingMessage, opts ...WriteOption) (*beam.Pipeline, *results) {
	t.Helper()
	out := &results{}
	makers.Store(t.Name(), message)
	resultsOf.Store(t.Name(), out)
	t.Cleanup(func() {
		makers.Delete(t.Name())
		resultsOf.Delete(t.Name())
		writeSessions.CloseIdle()
	})
	p, s := beam.NewPipelineWithRoot()
	messages := beam.ParDo(s, &makeFn{Test: t.Name()}, beam.Create(s, n))
	beam.ParDo0(s, &resultsFn{Test: t.Name()}, Write(s, nameServers, messages, opts...))
	return p, out
}

// write runs a pipeline that writes n messages.
func write(t *testing.T, nameServers string, n int, message func(int) OutgoingMessage, opts ...WriteOption) ([]WriteResult, error) {
	t.Helper()
	p, out := writePipeline(t, nameServers, n, message, opts...)
	err := start(t, p).wait(t)
	out.mu.Lock()
	defer out.mu.Unlock()
	return out.all, err
}

// numbered are messages whose bodies are numbers.
func numbered(i int) OutgoingMessage { return OutgoingMessage{Body: []byte(fmt.Sprint(i))} }

// bundleOf writes messages as one bundle, without a runner, and returns the
// results and the bundle's error.
func bundleOf(t *testing.T, cfg writeConfig, messages []OutgoingMessage) ([]WriteResult, error) {
	t.Helper()
	return bundleIn(t.Context(), cfg, messages)
}

func bundleIn(ctx context.Context, cfg writeConfig, messages []OutgoingMessage) (out []WriteResult, err error) {
	fn := &writeFn{bundleWriter{Config: cfg}}
	if err := fn.Setup(); err != nil {
		return nil, err
	}
	emit := func(r WriteResult) { out = append(out, r) }
	fn.StartBundle(ctx, emit)
	for _, m := range messages {
		if err := fn.ProcessElement(ctx, beam.PaneInfo{}, window.GlobalWindow{}, 0, m, emit); err != nil {
			return out, err
		}
	}
	return out, fn.FinishBundle(ctx, emit)
}

// writeConfigOf are the settings of a test, quick where the defaults are slow.
func writeConfigOf(t *testing.T, nameServers string, opts ...WriteOption) writeConfig {
	t.Helper()
	cfg, err := newWriteConfig(nameServers, append([]WriteOption{WriteTopic(testTopic), WriteSendTimeout(2 * time.Second)}, opts...))
	if err != nil {
		t.Fatal(err)
	}
	cfg.SinkID = t.Name()
	t.Cleanup(writeSessions.CloseIdle)
	return cfg
}

// many makes n messages.
func many(n int, message func(int) OutgoingMessage) []OutgoingMessage {
	out := make([]OutgoingMessage, n)
	for i := range out {
		out[i] = message(i)
	}
	return out
}

// sentBy returns what the sink of a test has done so far.
func sentBy(t *testing.T, cfg writeConfig) (stats asyncsink.Stats) {
	t.Helper()
	fn := bundleWriter{Config: cfg}
	if err := fn.Setup(); err != nil {
		t.Fatal(err)
	}
	found := false
	writeSessions.Peek(fn.key, func(s *writeSession) { stats, found = s.sink.Stats(), true })
	if !found {
		t.Fatal("the session is not there")
	}
	return stats
}

func processOne(t *testing.T, fn *writeFn, m OutgoingMessage, emit emitWriteResult) error {
	t.Helper()
	return fn.ProcessElement(t.Context(), beam.PaneInfo{}, window.GlobalWindow{}, 0, m, emit)
}
