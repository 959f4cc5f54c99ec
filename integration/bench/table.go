// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/tablebench"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
)

// tableFlags are what the command was told.
type tableFlags struct {
	messages, body, queues, pairs int
	target, program               string
}

func tableCommand() *cobra.Command {
	f := &tableFlags{}
	c := &cobra.Command{
		Use: "table", Short: "Copy a topic as rows",
		Long: "Compares the pipeline rocketmqio.Read → rocketmqio.Write, which copies messages as bytes (raw),\n" +
			"with a script that copies them as rows of three columns (pipeline): both on prism, on the same\n" +
			"server and alternating. The script runs in a process of its own, whose allocations are not counted.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := c.Flags()
	flags.IntVar(&f.messages, "messages", 100_000, "messages that are copied")
	flags.IntVar(&f.body, "body", 256, "bytes of each body, about")
	flags.IntVar(&f.queues, "queues", 4, "queues of each topic")
	flags.IntVar(&f.pairs, "pairs", 3, "pairs of legs")
	flags.StringVar(&f.target, "target", targetBoth, "real, embedded or both")
	flags.StringVar(&f.program, "pipelines", "pipelines", "folder of the program that runs scripts, from the project's root")
	return c
}

func (f *tableFlags) check() error {
	for _, n := range []struct {
		flag       string
		value, low int
	}{{"messages", f.messages, 1}, {"body", f.body, 1}, {"queues", f.queues, 1}, {"pairs", f.pairs, 1}} {
		if n.value < n.low {
			return fmt.Errorf("--%s %d: want at least %d", n.flag, n.value, n.low)
		}
	}
	return checkTarget(f.target)
}

func (f *tableFlags) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	log := quietBeam(stderr)
	log.Info("building the program that runs scripts", "folder", f.program)
	program, remove, err := tablebench.BuildProgram(ctx, f.program)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	var report comparison.Report
	for _, t := range []struct {
		name   string
		start  func(ctx context.Context, queues int, topics []string) (*normalServer, error)
		result **comparison.Summary
	}{{targetReal, startNormalReal, &report.Real}, {targetEmbedded, startNormalEmbedded, &report.Embedded}} {
		if f.target != t.name && f.target != targetBoth {
			continue
		}
		pairs, err := f.compare(ctx, log.With("target", t.name), program, t.start)
		var missing *realmq.Missing
		if errors.As(err, &missing) && os.Getenv("CI") != "true" {
			fmt.Fprintf(stderr, "not measured on a real RocketMQ: %v\n", missing)
			continue
		}
		if err != nil {
			return fmt.Errorf("target %s: %w", t.name, err)
		}
		*t.result = comparison.Summarize(pairs)
		if err := comparison.WriteTable(stdout, t.name, pairs); err != nil {
			return err
		}
	}
	return report.WriteJSON(stdout)
}

func (f *tableFlags) compare(ctx context.Context, log *slog.Logger, program string, start func(context.Context, int, []string) (*normalServer, error)) (pairs []comparison.Pair, err error) {
	log.Info("starting the server")
	s, err := start(ctx, f.queues, tablebench.Topics(f.pairs))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	log.Info("filling the topic", "messages", f.messages)
	n, err := tablebench.Fill(ctx, s.nameServers, f.messages, f.body)
	if err != nil {
		return nil, err
	}
	b := &tablebench.Bench{NameServers: s.nameServers, Messages: n, Program: program}
	return comparison.Alternate(f.pairs, func(pair int, side comparison.Side) (comparison.Run, error) {
		run, err := b.Run(ctx, pair, side)
		if err == nil {
			log.Info("copied", "pair", pair+1, "side", side, "per second", int(run.PerSecond()))
		}
		return run, err
	})
}
