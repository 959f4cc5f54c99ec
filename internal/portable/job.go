// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package portable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/metricsx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
)

// Job is a pipeline that was handed to a runner. Its methods may be called from
// several goroutines.
type Job struct {
	server  *Server
	id      string
	graph   *pipepb.Pipeline
	options Options
	workers *workers
	life    context.Context

	ended chan struct{} // closed when the runner has said its last word
	err   error         // how it ended; read after ended
}

// How long ending a job may take.
const (
	cancelTimeout = 2 * time.Second
	endTimeout    = quietTimeout + quitTimeout
)

// Run runs a pipeline until it ends or ctx does. When ctx ends it cancels the
// job and waits a moment for it to end; that is no error.
//
// The context of the job is never cancelled: prism then returns results that
// crash whoever looks at them. The cancel call of the job service is the way.
func (s *Server) Run(ctx context.Context, name string, p *beam.Pipeline, o Options) error {
	job, err := s.Submit(ctx, name, p, o)
	if err != nil && ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	err = job.Wait(ctx)
	if ctx.Err() != nil {
		return job.Cancel(context.WithoutCancel(ctx))
	}
	return err
}

// ID is the runner's name for the job.
func (j *Job) ID() string { return j.id }

// Ended is closed when the job has ended.
func (j *Job) Ended() <-chan struct{} { return j.ended }

// Wait waits until the job ends and its workers are gone, and tells how it
// ended: nil if it is done or was cancelled. When ctx ends first, Wait returns
// its error and the job goes on.
func (j *Job) Wait(ctx context.Context) error {
	select {
	case <-j.ended:
		j.workers.close()
		return j.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Cancel cancels the job and ends its workers, which is the end of it whatever
// the runner does: without workers it fails, and is started again
// [Options.Retries] times in vain. Cancel takes some seconds at most. On a job
// that has ended it does nothing.
func (j *Job) Cancel(ctx context.Context) error {
	defer j.workers.close()
	select {
	case <-j.ended:
		return nil
	default:
	}
	ctx, done := context.WithTimeout(ctx, cancelTimeout)
	defer done()
	// First at Flink: its job server forgets what it was waiting for.
	err := j.cancelAtFlink(ctx)
	if _, failed := j.server.jobs.Cancel(ctx, &jobpb.CancelJobRequest{JobId: j.id}); failed != nil {
		err = errors.Join(err, fmt.Errorf("cancelling job %s at %s: %w", j.id, j.server.where, failed))
	}
	if err != nil {
		return err
	}
	select {
	case <-j.ended:
	case <-time.After(endTimeout):
	}
	return nil
}

// State asks the runner for the state.
func (j *Job) State(ctx context.Context) (State, error) {
	answer, err := j.server.jobs.GetState(ctx, &jobpb.GetJobStateRequest{JobId: j.id})
	if err != nil {
		return "", fmt.Errorf("state of job %s at %s: %w", j.id, j.server.where, err)
	}
	return stateOf(answer.GetState()), nil
}

// Counters are the sums of the pipeline's own counters, by "namespace.name",
// over all bundles that the workers have ended so far. They are there while the
// job runs, on every runner, and count a bundle again that was repeated.
func (j *Job) Counters() map[string]int64 { return j.workers.counters.snapshot() }

// Metrics are what the runner knows. Flink's job server knows nothing before the
// end of a job, and nothing of one that failed.
func (j *Job) Metrics(ctx context.Context) (*metrics.Results, error) {
	answer, err := j.server.jobs.GetJobMetrics(ctx, &jobpb.GetJobMetricsRequest{JobId: j.id})
	if err != nil {
		return nil, fmt.Errorf("metrics of job %s at %s: %w", j.id, j.server.where, err)
	}
	return metricsx.FromMonitoringInfos(j.graph, answer.GetMetrics().GetAttempted(), answer.GetMetrics().GetCommitted()), nil
}
