// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/profile"
	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/scalebench"
)

// scaleFlags are what the command was told.
type scaleFlags struct {
	common
	only              []string
	messages          int
	json, plots, page string
	from              string
}

func scaleCommand() *cobra.Command {
	f := &scaleFlags{}
	c := benchCommand("scale", "Receive and acknowledge more at a time, from more lite topics, larger, on more instances",
		"Measures how the pipeline litegrpcio.Read → ackfn.Ack scales with the polls under way, the number\n"+
			"of lite topics, the size of messages (on prism), and the parallelism on Flink; at each point beside\n"+
			"a loop on the generated gRPC stubs with the same load, on the same server and alternating.\n"+
			"The page is a file of Markdown: what stands between its marks is written anew.", f)
	flags := c.Flags()
	flags.StringSliceVar(&f.only, "only", nil, "dimensions to measure: fetch, lite-topics, payload, flink; default all")
	flags.IntVar(&f.messages, "messages", 2000, "messages of each leg, less where they are large")
	flags.StringVar(&f.json, "json", "", "file for the results, beside the last line of the output")
	flags.StringVar(&f.plots, "plots", "", "folder for the plots, as SVG")
	flags.StringVar(&f.page, "page", "", "file of Markdown for the tables, which shows the plots beside it")
	flags.StringVar(&f.from, "from", "", "measure nothing, but draw plots and page of the results in this file")
	f.pairsFlag(flags, "pairs of legs at each point")
	flags.StringVar(&f.target, "target", targetReal, "real or embedded")
	f.profileFlags(flags)
	return c
}

func (f *scaleFlags) check() error {
	if f.target == targetBoth {
		return fmt.Errorf("--target %s: want real or embedded, for there is one set of plots", f.target)
	}
	if _, err := f.dimensions(); err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	return f.common.check(least{"messages", f.messages, 1}, least{"pairs", f.pairs, 1})
}

func (f *scaleFlags) dimensions() ([]scalebench.Dimension, error) {
	return scalebench.Choose(scalebench.Plan(f.messages), f.only)
}

// run tells what was measured even if not all of it was, as after an interrupt;
// plots and page are not of interrupted runs.
func (f *scaleFlags) run(ctx context.Context, c *console) error {
	if f.from != "" {
		report, err := scalebench.Read(f.from)
		if err != nil {
			return fmt.Errorf("--from: %w", err)
		}
		return errors.Join(f.draw(report), f.write(c, report))
	}
	profiles := profile.New(f.cpuProfile, f.memProfile)
	report, err := f.measurement(c).all(ctx, c, f.target, profiles)
	if ctx.Err() != nil {
		err = errors.Join(errors.New("interrupted: not all was measured"), err)
	}
	if ctx.Err() == nil {
		err = errors.Join(err, f.draw(report))
	}
	return errors.Join(err, profiles.Write(), f.write(c, report))
}

func (f *scaleFlags) measurement(c *console) measurement[scalebench.Result] {
	dimensions, _ := f.dimensions() // was checked
	run := &scalebench.Run{Dimensions: dimensions, Pairs: f.pairs}
	return measurement[scalebench.Result]{
		start: func(ctx context.Context, t target) (*server, error) { return t.lite(ctx, run.Legs()) },
		measure: func(ctx context.Context, at site) (result *scalebench.Result, err error) {
			jobs := &flinkJobs{}
			defer func() { err = errors.Join(err, jobs.close()) }()
			run.Endpoints, run.Around, run.Log, run.Runner = at.address, at.profiles.Record, at.log, jobs.runner
			return run.Measure(ctx, func(curve *scalebench.Curve) error { return curve.WriteTable(c.stdout) })
		},
	}
}

// draw writes plots and page.
func (f *scaleFlags) draw(report comparison.Report[scalebench.Result]) error {
	result := report.Real
	if f.target == targetEmbedded {
		result = report.Embedded
	}
	if result == nil { // a real RocketMQ is not to be had
		return nil
	}
	if f.plots != "" {
		if err := result.Plot(f.plots); err != nil {
			return err
		}
	}
	if f.page != "" {
		return result.WritePage(f.page, scalebench.Plan(f.messages), f.target)
	}
	return nil
}

// write writes the line of JSON, to the file and last of the output.
func (f *scaleFlags) write(c *console, report comparison.Report[scalebench.Result]) error {
	var line bytes.Buffer
	if err := report.WriteJSON(&line); err != nil {
		return err
	}
	_, err := c.stdout.Write(line.Bytes())
	if f.json != "" {
		err = errors.Join(err, os.WriteFile(f.json, line.Bytes(), 0o644))
	}
	return err
}
