// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package follow submits a subcommand's job and stays with it: it shows its
// progress, tells an interruption from a failure, and gives back what the
// transforms hold.
package follow

import (
	"context"
	"errors"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/runnerflag"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

// Progress shows how a job goes on, by its counters.
type Progress interface {
	// Head is shown once, when the job has begun, Line each second and at the end.
	Head()
	Line(now time.Time, counters map[string]int64)
	// Result shows how it ended, also if it never began, and returns what is wrong
	// with that.
	Result(now time.Time, counters map[string]int64, err error) error
}

// Run hands a pipeline to a runner, and shows the job's progress until it or ctx
// ends, and the result however it ends. When ctx ends first, the job is cancelled
// and interrupted is in the error.
func Run(ctx context.Context, runner *runnerflag.Choice, name string, p *beam.Pipeline, show Progress, interrupted error) error {
	// conclude is for a job that did not come to be.
	conclude := func(err error) error {
		if ctx.Err() != nil { // that is why
			err = interrupted
		}
		return errors.Join(err, show.Result(time.Now(), nil, err))
	}
	server, err := runner.Open(ctx)
	if err != nil {
		return conclude(err)
	}
	defer server.Close()
	j, err := server.Submit(ctx, name, p, runner.Options)
	if err != nil {
		return conclude(err)
	}
	defer Shutdown()
	return job(ctx, j, show, interrupted)
}

// job shows the progress of a job, and its result.
func job(ctx context.Context, job *portable.Job, show Progress, interrupted error) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	show.Head()
	for {
		select {
		case now := <-ticker.C:
			show.Line(now, job.Counters())
			continue
		case <-job.Ended():
		case <-ctx.Done():
		}
		err := job.Wait(ctx)
		if ctx.Err() != nil {
			err = errors.Join(interrupted, job.Cancel(context.WithoutCancel(ctx)))
		}
		now := time.Now()
		show.Line(now, job.Counters())
		return errors.Join(err, show.Result(now, job.Counters(), err))
	}
}

// Rate is how many came in a second; none in no time.
func Rate(n int64, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(n) / seconds
}

// Interrupted is interrupted if ctx has ended, which then is why there is err.
func Interrupted(ctx context.Context, interrupted, err error) error {
	if ctx.Err() != nil {
		return interrupted
	}
	return err
}

// Shutdown gives back what the transforms hold, when the job has ended.
func Shutdown() {
	ackfn.Shutdown()
	litegrpcio.Shutdown()
	rocketmqio.Shutdown()
}
