// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package runnerflag is the choice of a runner that all pipelines of the program
// have: prism inside the program, or Flink behind its job server.
package runnerflag

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
)

// Choice is a runner and what it is told.
type Choice struct {
	// Flink is the address of Beam's job server for Flink, host:port; empty means
	// prism inside the program.
	Flink   string
	Options portable.Options
}

// Flags adds the flags of a runner.
func (c *Choice) Flags(f *pflag.FlagSet) {
	o := &c.Options
	f.StringVar(&c.Flink, "flink", c.Flink, "job server of Flink, host:port; empty: prism inside the program")
	f.DurationVar(&o.CheckpointingInterval, "checkpointing-interval", o.CheckpointingInterval, "time between two checkpoints on Flink; 0: none")
	f.IntVar(&o.Parallelism, "parallelism", o.Parallelism, "parallel instances of each step on Flink; 0: as many as it has")
	f.IntVar(&o.MaxBundleSize, "max-bundle-size", o.MaxBundleSize, "most elements of a bundle on Flink; 0: see docs/runners.md")
	f.DurationVar(&o.MaxBundleTime, "max-bundle-time", o.MaxBundleTime, "longest time of a bundle on Flink; 0: see docs/runners.md")
	f.IntVar(&o.Retries, "execution-retries", o.Retries, "how often Flink starts a failed job again; 0: 3 times, -1: never")
	f.StringVar(&o.StateBackend, "state-backend", o.StateBackend, "filesystem or rocksdb; empty: as Flink is configured")
	f.StringVar(&o.StateBackendStoragePath, "state-backend-storage-path", o.StateBackendStoragePath, "URL for state and checkpoints, with --state-backend")
	f.StringVar(&o.SavepointPath, "savepoint-path", o.SavepointPath, "savepoint or retained checkpoint to start from; of a Flink cluster")
	f.StringVar(&o.FlinkREST, "flink-rest", o.FlinkREST, "REST service of the Flink cluster, host:port, to cancel jobs there too")
}

// Check refuses what cannot work. Its error names each flag that is wrong.
func (c *Choice) Check() error {
	var faults []error
	if c.Flink == "" && c.Options.ForFlink() {
		faults = append(faults, errors.New("--checkpointing-interval, --parallelism and the other options of Flink need --flink host:port: prism has no use for them"))
	}
	faults = append(faults, checkAddress("--flink", c.Flink), checkAddress("--flink-rest", c.Options.FlinkREST))
	if err := c.Options.Check(); err != nil {
		faults = append(faults, fmt.Errorf("options of Flink: %w", err))
	}
	return errors.Join(faults...)
}

func checkAddress(flag, addr string) error {
	if addr == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host == "" || port == "" || strings.Contains(addr, "/") {
		return fmt.Errorf("%s %q: want host:port", flag, addr)
	}
	return nil
}

// Open connects to the runner, or starts it.
func (c *Choice) Open(ctx context.Context) (*portable.Server, error) {
	if c.Flink == "" {
		return portable.Prism(ctx)
	}
	return portable.Dial(ctx, c.Flink)
}

// Name is the runner's, for people.
func (c *Choice) Name() string {
	if c.Flink == "" {
		return "prism, inside the program"
	}
	return "Flink, through the job server at " + c.Flink
}
