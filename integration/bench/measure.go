// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/profile"
	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/readbench"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
)

// measurement is what a command does on each server.
type measurement[T any] struct {
	start   func(ctx context.Context, t target) (*server, error)
	measure func(ctx context.Context, at site) (*T, error)
}

// site is where and how one server is measured.
type site struct {
	name, address string // of the target, of the server
	log           *slog.Logger
	profiles      *profile.Recorder
}

// run measures on each of the chosen servers and writes the profiles and the line
// of JSON.
func (m measurement[T]) run(ctx context.Context, c *console, f *common) error {
	profiles := profile.New(f.cpuProfile, f.memProfile)
	report, err := m.all(ctx, c, f.target, profiles)
	if err != nil {
		return err
	}
	if err := profiles.Write(); err != nil {
		return err
	}
	return report.WriteJSON(c.stdout)
}

// all measures on each of the chosen servers. What a server said before it failed
// is in the report, too.
func (m measurement[T]) all(ctx context.Context, c *console, chosen string, profiles *profile.Recorder) (report comparison.Report[T], err error) {
	for _, t := range targets() {
		if chosen != t.name && chosen != targetBoth {
			continue
		}
		result, err := m.one(ctx, t, c.log.With("target", t.name), profiles)
		if t.name == targetReal {
			report.Real = result
		} else {
			report.Embedded = result
		}
		if missing, ok := errors.AsType[*realmq.Missing](err); ok && os.Getenv("CI") != "true" {
			fmt.Fprintf(c.stderr, "not measured on a real RocketMQ: %v\n", missing)
			continue
		}
		if err != nil {
			return report, fmt.Errorf("target %s: %w", t.name, err)
		}
	}
	return report, nil
}

func (m measurement[T]) one(ctx context.Context, t target, log *slog.Logger, profiles *profile.Recorder) (result *T, err error) {
	log.Info("starting the server")
	s, err := m.start(ctx, t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return m.measure(ctx, site{t.name, s.address, log, profiles})
}

// buildClientGo builds the program with rocketmq-client-go. Where that fails, or
// with an empty folder, there is none.
func buildClientGo(ctx context.Context, c *console, folder string) (*readbench.ClientGoProgram, error) {
	if folder == "" {
		return nil, nil
	}
	c.log.Info("building the program with rocketmq-client-go", "folder", folder)
	program, err := readbench.BuildClientGo(ctx, folder, c.stderr)
	if err == nil || ctx.Err() != nil || os.Getenv("CI") == "true" {
		return program, err
	}
	fmt.Fprintf(c.stderr, "not measured with rocketmq-client-go: %v\n", err)
	return nil, nil
}
