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

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/litebench"
	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/profile"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
)

// liteFlags are what the command was told.
type liteFlags struct {
	load                   litebench.Load
	pairs                  int
	target                 string
	cpuProfile, memProfile string
}

// The names of the targets.
const (
	targetReal     = "real"
	targetEmbedded = "embedded"
	targetBoth     = "both"
)

func liteCommand() *cobra.Command {
	f := &liteFlags{}
	c := &cobra.Command{
		Use: "lite", Short: "Receive and acknowledge messages of lite topics",
		Long: "Compares a loop on the generated gRPC stubs, which receives and acknowledges, with the\n" +
			"Beam pipeline litegrpcio.Read → ackfn.Ack on prism, on the same server and alternating.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := c.Flags()
	flags.IntVar(&f.load.Messages, "messages", 0, "messages of each leg; 0 for the target's default (real 15000, embedded 50000)")
	flags.IntVar(&f.load.LiteTopics, "lite-topics", 200, "lite topics that they lie in")
	flags.IntVar(&f.load.Body, "body", 256, "bytes of each body")
	flags.IntVar(&f.load.Concurrency, "concurrency", 4, "polls under way at a time")
	flags.IntVar(&f.pairs, "pairs", 3, "pairs of legs")
	flags.StringVar(&f.target, "target", targetBoth, "real, embedded or both")
	flags.StringVar(&f.cpuProfile, "cpuprofile", "", "file for a CPU profile of the pipeline legs")
	flags.StringVar(&f.memProfile, "memprofile", "", "file for a profile of the pipeline legs' allocations")
	return c
}

func (f *liteFlags) check() error {
	for _, n := range []struct {
		flag       string
		value, low int
	}{
		{"messages", f.load.Messages, 0}, {"lite-topics", f.load.LiteTopics, 1}, {"body", f.load.Body, 0},
		{"concurrency", f.load.Concurrency, 1}, {"pairs", f.pairs, 1},
	} {
		if n.value < n.low {
			return fmt.Errorf("--%s %d: want at least %d", n.flag, n.value, n.low)
		}
	}
	return checkTarget(f.target)
}

func checkTarget(target string) error {
	switch target {
	case targetReal, targetEmbedded, targetBoth:
		return nil
	}
	return fmt.Errorf("--target %q: want real, embedded or both", target)
}

func (f *liteFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	log := quietBeam(stderr)
	recorder := profile.New(f.cpuProfile, f.memProfile)
	var report comparison.Report
	for _, t := range []struct {
		name   string
		start  func(context.Context, []string) (server, error)
		load   int
		result **comparison.Summary
	}{
		{targetReal, startReal, 15_000, &report.Real},
		{targetEmbedded, startEmbedded, 50_000, &report.Embedded},
	} {
		if f.target != t.name && f.target != targetBoth {
			continue
		}
		load := f.load
		if load.Messages == 0 {
			load.Messages = t.load
		}
		pairs, err := f.compare(ctx, log.With("target", t.name), load, t.start, recorder)
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
	if err := recorder.Write(); err != nil {
		return err
	}
	return report.WriteJSON(stdout)
}

func (f *liteFlags) compare(ctx context.Context, log *slog.Logger, load litebench.Load, start func(context.Context, []string) (server, error), recorder *profile.Recorder) (pairs []comparison.Pair, err error) {
	log.Info("starting the server")
	s, err := start(ctx, litebench.LegNames(f.pairs))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return litebench.Compare(ctx, log, load, s.Endpoints(), f.pairs, recorder.Record)
}

// quietBeam makes Beam ready and returns the log of the benchmark. Beam, prism
// and the transforms log warnings only.
func quietBeam(w io.Writer) *slog.Logger {
	if !beam.Initialized() {
		beam.Init() // which sets the default logger
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn})))
	return slog.New(slog.NewTextHandler(w, nil))
}
