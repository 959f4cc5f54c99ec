// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package readbench

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

// pipeline is what a user writes, with all defaults, and a step that counts.
func pipeline(ctx context.Context, b *Backlog, t *tally) error {
	defer rocketmqio.Shutdown()
	p, s := beam.NewPipelineWithRoot()
	defer count(s, t, rocketmqio.Read(s, b.NameServers, group, []string{b.Topic},
		rocketmqio.ReadFrom(rocketmqio.Earliest()), rocketmqio.ReadTo(rocketmqio.AtLatest())))()
	_, err := execute(ctx, p, t)
	return err
}

// execute runs a pipeline on prism in this process.
func execute(ctx context.Context, p *beam.Pipeline, t *tally) (beam.PipelineResult, error) {
	type end struct {
		result beam.PipelineResult
		err    error
	}
	ended := make(chan end, 1)
	go func() {
		// prism's results of a cancelled job crash whoever looks at them, so it
		// never hears of ctx; an abandoned job ends with the process.
		result, err := prism.Execute(context.WithoutCancel(ctx), p)
		ended <- end{result, err}
	}()
	select {
	case e := <-ended:
		return e.result, e.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%d of %d messages came: %w", t.distinct.Load(), t.all(), context.Cause(ctx))
	}
}
