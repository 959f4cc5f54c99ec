// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package follow stays with a job that a subcommand has submitted: it shows its
// progress, tells an interruption from a failure, and gives back what the
// transforms hold.
package follow

import (
	"context"
	"errors"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

// Progress shows how a job goes on, by its counters.
type Progress interface {
	// Head is shown once, Line each second.
	Head()
	Line(now time.Time, counters map[string]int64)
	// Result shows how it ended, and returns what is wrong with that.
	Result(now time.Time, counters map[string]int64, err error) error
}

// Job shows a job's progress until it or ctx ends, and its result. When ctx ends
// first, the job is cancelled and interrupted is in the error.
func Job(ctx context.Context, job *portable.Job, show Progress, interrupted error) error {
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
		return errors.Join(err, show.Result(time.Now(), job.Counters(), err))
	}
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
