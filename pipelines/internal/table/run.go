// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
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
	if r := &o.Runner.Options; ends && r.CheckpointingInterval > 0 && r.EndIdleSourcesAfter == 0 {
		r.EndIdleSourcesAfter = endIdleSources
	}
	pipeline, err := p.build(&o)
	if err != nil {
		return err
	}
	if o.Explain {
		return p.explain(out, &o)
	}
	for _, note := range p.notes() {
		fmt.Fprintf(out, "note: %s\n", note)
	}
	server, err := o.Runner.Open(ctx)
	if err != nil {
		return interruptedOr(ctx, err)
	}
	defer server.Close()
	job, err := server.Submit(ctx, "table", pipeline, o.Runner.Options)
	if err != nil {
		return interruptedOr(ctx, err)
	}
	defer shutdown()
	return follow(ctx, job, newProgress(out, time.Now()))
}

func interruptedOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}

// shutdown gives back what the transforms hold, when the job has ended.
func shutdown() {
	ackfn.Shutdown()
	litegrpcio.Shutdown()
	rocketmqio.Shutdown()
}

// follow shows a job's progress until it or ctx ends, and its result.
func follow(ctx context.Context, job *portable.Job, show *progress) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	show.head()
	for {
		select {
		case now := <-ticker.C:
			show.line(now, job.Counters())
			continue
		case <-job.Ended():
		case <-ctx.Done():
		}
		err := job.Wait(ctx)
		if ctx.Err() != nil {
			err = errors.Join(ErrInterrupted, job.Cancel(context.WithoutCancel(ctx)))
		}
		return errors.Join(err, show.result(time.Now(), job.Counters(), err))
	}
}
