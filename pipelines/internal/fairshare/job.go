// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package fairshare

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/stats"
)

// job is the pipeline of a leg while it runs.
type job struct {
	books *stats.Ledger
	ctx   context.Context // ends with the job, or when the run is interrupted
	stop  func()          // ends the job and waits for it
}

// errJobEnded is the cause when a job ends that should not.
var errJobEnded = errors.New("the pipeline ended by itself")

// startJob builds the pipeline of a leg and runs it until stop is called.
func (r *runner) startJob(ctx context.Context, name string) (*job, error) {
	running, cancel := context.WithCancelCause(ctx)
	l := &leg{ctx: running, books: stats.NewLedger(), slots: semaphore.NewWeighted(int64(r.options.Workers))}
	id := name + "-" + uuid.NewString()
	forget := enrol(id, l)
	p, err := build(&r.options, name, id)
	if err != nil {
		cancel(err)
		forget()
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := r.server.Run(running, "fairshare-"+name, p, r.options.Runner.Options)
		if err == nil {
			err = errJobEnded
		}
		cancel(fmt.Errorf("leg %s: %w", name, err))
	}()
	stop := func() {
		cancel(nil)
		<-ended
		forget()
	}
	return &job{books: l.books, ctx: running, stop: stop}, nil
}

// verdict is the error that ended the leg: an interruption rather than what
// followed from it.
func (j *job) verdict(run context.Context, err error) error {
	if err != nil && run.Err() != nil {
		return ErrInterrupted
	}
	return err
}
