// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package local runs pipelines on prism inside the program, so that they can be
// ended from outside, and keeps the runner's own log out of the way.
package local

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamruntime "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
)

// Runner is a prism job server in this process. It lasts as long as the process:
// prism has no way to stop it.
type Runner struct {
	jobs jobpb.JobServiceClient
}

// Start starts the job server. The program must have called [Init].
func Start(ctx context.Context) (*Runner, error) {
	jobs, err := prism.CreateJobServer(ctx, prism.Options{})
	if err != nil {
		return nil, fmt.Errorf("starting prism: %w", err)
	}
	return &Runner{jobs: jobs}, nil
}

// How long ending a job may take.
const (
	cancelTimeout = time.Second
	endTimeout    = quietTimeout + quitTimeout
)

// Run runs a pipeline until it ends or ctx does. When ctx ends it cancels the
// job and waits a moment for it to end; that is no error.
//
// The context of the job is never cancelled: prism then returns results that
// crash whoever looks at them. The cancel call of the job service is the way.
func (r *Runner) Run(ctx context.Context, name string, p *beam.Pipeline) error {
	life := context.WithoutCancel(ctx)
	workers, err := startWorkers(life)
	if err != nil {
		return err
	}
	defer workers.close()
	id, err := r.submit(life, name, p, workers)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- runnerlib.WaitForCompletion(life, r.jobs, id) }()
	select {
	case err := <-ended:
		return plain(err)
	case <-ctx.Done():
	}
	return r.cancel(life, id, ended)
}

// cancel ends a job and leaves it alone if it takes too long.
func (r *Runner) cancel(life context.Context, id string, ended <-chan error) error {
	ctx, done := context.WithTimeout(life, cancelTimeout)
	defer done()
	if _, err := r.jobs.Cancel(ctx, &jobpb.CancelJobRequest{JobId: id}); err != nil {
		return fmt.Errorf("cancelling the job: %w", err)
	}
	select {
	case <-ended:
	case <-time.After(endTimeout):
	}
	return nil
}

// submit hands the pipeline over as Beam's universal runner does, which would
// give no way to cancel it.
func (r *Runner) submit(ctx context.Context, name string, p *beam.Pipeline, w *workers) (string, error) {
	graph, err := marshal(ctx, p, w)
	if err != nil {
		return "", err
	}
	// A worker inside the program needs no binary, yet one must be staged.
	binary, err := os.CreateTemp("", "rocketmq-beam-worker-*")
	if err != nil {
		return "", fmt.Errorf("staging the worker: %w", err)
	}
	defer os.Remove(binary.Name())
	defer binary.Close()
	if err := runnerlib.UpdateGoEnvironmentWorker(binary.Name(), graph); err != nil {
		return "", fmt.Errorf("staging the worker: %w", err)
	}
	hooks.SerializeHooksToOptions()
	options, err := tools.OptionsToProto(beamruntime.RawOptionsWrapper{
		Options: beam.PipelineOptions.Export(), AppName: name, Experiments: experiments, Parallelism: -1,
	})
	if err != nil {
		return "", fmt.Errorf("pipeline options: %w", err)
	}
	prepared, err := r.jobs.Prepare(ctx, &jobpb.PrepareJobRequest{Pipeline: graph, PipelineOptions: options, JobName: name})
	if err != nil {
		return "", fmt.Errorf("preparing the job: %w", err)
	}
	token, err := runnerlib.Stage(ctx, prepared.GetPreparationId(), prepared.GetArtifactStagingEndpoint().GetUrl(), binary.Name(), prepared.GetStagingSessionToken())
	if err != nil {
		return "", fmt.Errorf("staging the worker: %w", err)
	}
	return runnerlib.Submit(ctx, r.jobs, prepared.GetPreparationId(), token)
}

// experiments switch off that prism asks running sources to split. A source
// whose tracker refuses every split only loses time by it.
var experiments = []string{"beam_fn_api", "prism_disable_sdf_split"}

func marshal(ctx context.Context, p *beam.Pipeline, w *workers) (*pipepb.Pipeline, error) {
	edges, _, err := p.Build()
	if err != nil {
		return nil, fmt.Errorf("building the pipeline: %w", err)
	}
	environment, err := graphx.CreateEnvironment(ctx, "beam:env:external:v1", w.config)
	if err != nil {
		return nil, fmt.Errorf("building the pipeline: %w", err)
	}
	graph, err := graphx.Marshal(edges, &graphx.Options{Environment: environment})
	if err != nil {
		return nil, fmt.Errorf("building the pipeline: %w", err)
	}
	return graph, nil
}
