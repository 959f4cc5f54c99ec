// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/follow"
)

// ErrInterrupted is returned by [Run] when its context ended first.
var ErrInterrupted = errors.New("interrupted")

// endIdleSources is how long Flink keeps a job whose sources have all ended, so
// that their last positions and acknowledgements are in a checkpoint. Without it,
// a job with checkpoints does not end.
const endIdleSources = 5 * time.Second

// Run runs a script, or explains it, and reports to out: a line a second, and at
// its end one line of JSON. name is that of the script's file. A script that
// reads without an end runs until ctx ends, which is [ErrInterrupted].
func Run(ctx context.Context, name, text string, o Options, out io.Writer) error {
	if err := o.Check(); err != nil {
		return err
	}
	p, err := read(name, text)
	if err != nil {
		return err
	}
	ends, err := p.bound(&o)
	if err != nil {
		return err
	}
	notes := append(p.loops(&o, time.Now()), p.notes()...)
	if r := &o.Runner.Options; ends && r.CheckpointingInterval > 0 && r.EndIdleSourcesAfter == 0 {
		r.EndIdleSourcesAfter = endIdleSources
	}
	pipeline, err := p.build(&o)
	if err != nil {
		return err
	}
	for _, note := range notes {
		fmt.Fprintf(out, "note: %s\n", note)
	}
	if o.Explain {
		return p.explain(out, &o)
	}
	return follow.Run(ctx, &o.Runner, "table", pipeline, newProgress(out, p.transacts()), ErrInterrupted)
}
