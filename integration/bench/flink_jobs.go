// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/litebench"
	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/scalebench"
	"github.com/rocketmq-beam/rocketmq-beam/integration/flink"
	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
)

// flinkJobs runs pipelines on Flink. The job server starts with the first of
// them.
type flinkJobs struct {
	server *flink.Server
	jobs   *portable.Server
}

// Bundles on Flink: its own choice of 1000 elements or a second would have an ack
// wait for a second.
const (
	flinkBundleSize = 200
	flinkBundleTime = 100 * time.Millisecond
)

// runner is that of a point: Flink with a parallelism of its value, or prism.
func (f *flinkJobs) runner(ctx context.Context, d scalebench.Dimension, p scalebench.Point) (litebench.Runner, error) {
	if !d.Flink {
		return nil, nil
	}
	if err := f.start(ctx); err != nil {
		if _, missing := errors.AsType[*flink.Missing](err); missing && os.Getenv("CI") != "true" {
			return nil, &scalebench.SkippedError{Reason: err}
		}
		return nil, err
	}
	options := portable.Options{Streaming: true, Parallelism: p.Value, MaxBundleSize: flinkBundleSize, MaxBundleTime: flinkBundleTime}
	return func(ctx context.Context, name string, pipeline *beam.Pipeline) error {
		return f.jobs.Run(ctx, name, pipeline, options)
	}, nil
}

func (f *flinkJobs) start(ctx context.Context) (err error) {
	if f.jobs != nil {
		return nil
	}
	if f.server == nil {
		if f.server, err = flink.Start(ctx); err != nil {
			return err
		}
	}
	f.jobs, err = portable.Dial(ctx, f.server.Endpoint())
	return err
}

// close ends the job server with all its jobs.
func (f *flinkJobs) close() error {
	var errs []error
	if f.jobs != nil {
		errs = append(errs, f.jobs.Close())
	}
	if f.server != nil {
		errs = append(errs, f.server.Close())
	}
	return errors.Join(errs...)
}
