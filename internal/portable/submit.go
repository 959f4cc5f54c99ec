// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package portable

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/protobuf/types/known/structpb"
)

// Submit hands the pipeline over and returns when the runner has taken it. The
// context bounds the handing over: if it ends meanwhile, Submit returns within a
// second, with the job if that has begun. The job goes on until it ends by itself or
// [Job.Cancel] is called. One of [Job.Wait] and [Job.Cancel] must be called, or
// the workers are left behind.
func (s *Server) Submit(ctx context.Context, name string, p *beam.Pipeline, o Options) (*Job, error) {
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("options for %s: %w", s.where, err)
	}
	life := context.WithoutCancel(ctx)
	workers, err := startWorkers(life, o.OnWorker)
	if err != nil {
		return nil, err
	}
	graph, err := marshal(ctx, p, workers)
	if err != nil {
		workers.close()
		return nil, err
	}
	id, err := s.hand(ctx, name, graph, o)
	if err != nil {
		workers.close()
		return nil, fmt.Errorf("handing job %q to %s: %w", name, s.where, err)
	}
	j := &Job{server: s, id: id, graph: graph, options: o, workers: workers, life: life, ended: make(chan struct{})}
	go j.follow()
	return j, nil
}

// hand prepares, stages and starts the job.
func (s *Server) hand(ctx context.Context, name string, graph *pipepb.Pipeline, o Options) (id string, err error) {
	// Workers inside the program need no binary, yet one must be staged.
	binary, err := os.CreateTemp("", "rocketmq-beam-worker-*")
	if err != nil {
		return "", fmt.Errorf("staging the worker: %w", err)
	}
	defer os.Remove(binary.Name())
	defer binary.Close()
	if err := runnerlib.UpdateGoEnvironmentWorker(binary.Name(), graph); err != nil {
		return "", fmt.Errorf("staging the worker: %w", err)
	}
	options, err := s.pipelineOptions(name, o)
	if err != nil {
		return "", err
	}
	prepared, err := s.jobs.Prepare(ctx, &jobpb.PrepareJobRequest{Pipeline: graph, PipelineOptions: options, JobName: name})
	if err != nil {
		return "", fmt.Errorf("preparing: %w", err)
	}
	if err := stage(ctx, prepared, binary.Name()); err != nil {
		return "", fmt.Errorf("staging at %s, which this process must reach: %w", prepared.GetArtifactStagingEndpoint().GetUrl(), err)
	}
	return s.start(ctx, prepared)
}

// stageTimeout is how long the place for artifacts may take to be reached.
const stageTimeout = 2 * time.Minute

// stage does what Beam's Stage does, without its older way for services that do
// not know this one: that sleeps, for seconds and whatever the context says, when
// the first way was broken off.
func stage(ctx context.Context, prepared *jobpb.PrepareJobResponse, binary string) error {
	ctx = grpcx.WriteWorkerID(ctx, prepared.GetPreparationId())
	conn, err := grpcx.Dial(ctx, prepared.GetArtifactStagingEndpoint().GetUrl(), stageTimeout)
	if err != nil {
		return err
	}
	defer conn.Close()
	return runnerlib.StageViaPortableAPI(ctx, conn, binary, prepared.GetStagingSessionToken())
}

// startGrace is for the answer to a start that the end of the context overtakes:
// whoever is to cancel the job must know it.
const startGrace = 700 * time.Millisecond

// start starts the job, unless ctx has ended by then.
func (s *Server) start(ctx context.Context, prepared *jobpb.PrepareJobResponse) (id string, err error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	longer, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(startGrace, giveUp) })()
	return runnerlib.Submit(longer, s.jobs, prepared.GetPreparationId(), prepared.GetStagingSessionToken())
}

// pipelineOptions are those of Beam, of the program and of the runner.
func (s *Server) pipelineOptions(name string, o Options) (*structpb.Struct, error) {
	hooks.SerializeHooksToOptions()
	all := map[string]any{
		"beam:option:go_options:v1":  beam.PipelineOptions.Export(),
		"beam:option:app_name:v1":    name,
		"beam:option:job_name:v1":    name,
		"beam:option:experiments:v1": append([]string{"beam_fn_api"}, s.experiments...),
	}
	for key, value := range o.runner() {
		all["beam:option:"+key+":v1"] = value
	}
	options, err := tools.OptionsToProto(all)
	if err != nil {
		return nil, fmt.Errorf("pipeline options: %w", err)
	}
	return options, nil
}

func marshal(ctx context.Context, p *beam.Pipeline, w *workers) (*pipepb.Pipeline, error) {
	edges, _, err := p.Build()
	if err != nil {
		return nil, fmt.Errorf("building the pipeline: %w", err)
	}
	environment, err := graphx.CreateEnvironment(ctx, graphx.URNEnvExternal, w.config)
	if err != nil {
		return nil, fmt.Errorf("building the pipeline: %w", err)
	}
	graph, err := graphx.Marshal(edges, &graphx.Options{Environment: environment})
	if err != nil {
		return nil, fmt.Errorf("building the pipeline: %w", err)
	}
	return graph, nil
}
