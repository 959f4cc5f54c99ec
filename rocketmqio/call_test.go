// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// beamContext is one as a bundle has it.
func beamContext(t *testing.T) context.Context {
	t.Helper()
	return metrics.SetPTransformID(metrics.SetBundleID(t.Context(), t.Name()), t.Name())
}

func testConfig(t *testing.T, b *embedded.Broker, opts ...ReadOption) readConfig {
	t.Helper()
	cfg, err := newReadConfig(b.NameServer(), testGroup, []string{testTopic}, quick(opts...))
	if err != nil {
		t.Fatal(err)
	}
	cfg.SourceID = t.Name()
	return cfg
}

// called is what came of one call of the unbounded DoFn.
type called struct {
	messages []coders.Message
	commits  []commitPoint
	next     sdf.ProcessContinuation
	err      error
}

// callRead calls the unbounded DoFn as a runner does, with a range that it may
// have kept from an earlier run. seen, if not nil, is called for each message.
func callRead(t *testing.T, cfg readConfig, q Queue, r offsetRange, seen func(*sdf.LockRTracker)) (out called, rest *sdf.LockRTracker) {
	t.Helper()
	fn := &readFn{queueSource{Config: cfg}}
	rt := fn.CreateTracker(r)
	we := fn.CreateWatermarkEstimator(mtime.MinTimestamp.Milliseconds())
	message := func(_ beam.EventTime, m coders.Message) {
		out.messages = append(out.messages, m)
		if seen != nil {
			seen(rt)
		}
	}
	commit := func(p commitPoint) { out.commits = append(out.commits, p) }
	out.next, out.err = fn.ProcessElement(beamContext(t), we, rt, assignment{Queue: q, Start: r.Start, End: r.End}, message, commit)
	return out, rt
}

// callUntil calls it until so many messages came, each time with the rest.
func callUntil(t *testing.T, cfg readConfig, q Queue, r offsetRange, n int) called {
	t.Helper()
	var all called
	for len(all.messages) < n {
		out, rt := callRead(t, cfg, q, r, nil)
		if out.err != nil {
			t.Fatal(out.err)
		}
		all.messages = append(all.messages, out.messages...)
		all.commits = append(all.commits, out.commits...)
		if _, residual, err := rt.TrySplit(0); err != nil {
			t.Fatal(err)
		} else if residual == nil {
			return all
		} else {
			r = residual.(offsetRange)
		}
	}
	return all
}
