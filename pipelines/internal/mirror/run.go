// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package mirror

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

// Run copies until the options' end, or until ctx ends, which is
// [ErrInterrupted]. It reports to out: a line a second, and at its end one line of
// JSON.
func Run(ctx context.Context, o Options, out io.Writer) error {
	if err := o.Check(); err != nil {
		return err
	}
	pipeline, err := o.build()
	if err != nil {
		return err
	}
	server, err := o.Runner.Open(ctx)
	if err != nil {
		return interruptedOr(ctx, err)
	}
	defer server.Close()
	fmt.Fprintf(out, "%s at %s → %s at %s, %s, on %s\n", o.From.Topic, o.From.Address, o.To.Topic, o.To.Address, o.Guarantee, o.Runner.Name())
	job, err := server.Submit(ctx, "mirror", pipeline, o.Runner.Options)
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
