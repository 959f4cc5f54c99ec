// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/tablebench"
)

// tableFlags are what the command was told.
type tableFlags struct {
	common
	messages, body, queues int
	program                string
}

func tableCommand() *cobra.Command {
	f := &tableFlags{}
	c := benchCommand("table", "Copy a topic as rows",
		"Compares the pipeline rocketmqio.Read → rocketmqio.Write, which copies messages as bytes (raw),\n"+
			"with a script that copies them as rows of three columns (pipeline): both on prism, on the same\n"+
			"server and alternating. The script runs in a process of its own, whose allocations are not counted.", f)
	flags := c.Flags()
	flags.IntVar(&f.messages, "messages", 100_000, "messages that are copied")
	flags.IntVar(&f.body, "body", 256, "bytes of each body, about")
	flags.IntVar(&f.queues, "queues", 4, "queues of each topic")
	flags.StringVar(&f.program, "pipelines", "pipelines", "folder of the program that runs scripts, from the project's root")
	f.pairsFlag(flags, "pairs of legs")
	f.targetFlag(flags, targetBoth)
	return c
}

func (f *tableFlags) check() error {
	return f.common.check(least{"messages", f.messages, 1}, least{"body", f.body, 1}, least{"queues", f.queues, 1}, least{"pairs", f.pairs, 1})
}

func (f *tableFlags) run(ctx context.Context, c *console) (err error) {
	c.log.Info("building the program that runs scripts", "folder", f.program)
	program, remove, err := tablebench.BuildProgram(ctx, f.program)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	return measurement[comparison.Summary]{
		start: func(ctx context.Context, t target) (*server, error) {
			return t.normal(ctx, f.queues, tablebench.Topics(f.pairs))
		},
		measure: func(ctx context.Context, at site) (*comparison.Summary, error) {
			pairs, err := f.compare(ctx, at, program)
			if err != nil {
				return nil, err
			}
			return comparison.Summarize(pairs), comparison.WriteTable(c.stdout, at.name, pairs)
		},
	}.run(ctx, c, &f.common)
}

func (f *tableFlags) compare(ctx context.Context, at site, program string) ([]comparison.Pair, error) {
	at.log.Info("filling the topic", "messages", f.messages)
	n, err := tablebench.Fill(ctx, at.address, f.messages, f.body)
	if err != nil {
		return nil, err
	}
	b := &tablebench.Bench{NameServers: at.address, Messages: n, Program: program}
	return comparison.Alternate(f.pairs, func(pair int, side comparison.Side) (comparison.Run, error) {
		run, err := b.Run(ctx, pair, side)
		if err == nil {
			at.log.Info("copied", "pair", pair+1, "side", side, "per second", int(run.PerSecond()))
		}
		return run, err
	})
}
