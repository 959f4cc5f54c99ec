// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package portable

import (
	"context"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Not under the race detector: when a job is cancelled, the harness of Beam 2.77
// closes the channel of its answers beside a bundle that still sends one.

func TestRunEndsTheJobWithItsContext(t *testing.T) {
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, wait, beam.Impulse(s))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := make(chan time.Time, 1)
	go func() {
		<-waiting
		began <- time.Now()
		cancel()
	}()
	if err := start(t).Run(ctx, "test", p, Options{}); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	if took := time.Since(<-began); took > 5*time.Second {
		t.Errorf("it took %v to end", took)
	}
}
