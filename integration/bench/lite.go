// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/litebench"
)

// liteFlags are what the command was told.
type liteFlags struct {
	common
	load litebench.Load
}

func liteCommand() *cobra.Command {
	f := &liteFlags{}
	c := benchCommand("lite", "Receive and acknowledge messages of lite topics",
		"Compares a loop on the generated gRPC stubs, which receives and acknowledges, with the\n"+
			"Beam pipeline litegrpcio.Read → ackfn.Ack on prism, on the same server and alternating.", f)
	flags := c.Flags()
	flags.IntVar(&f.load.Messages, "messages", 0, "messages of each leg; 0 for the target's default (real 15000, embedded 50000)")
	flags.IntVar(&f.load.LiteTopics, "lite-topics", 200, "lite topics that they lie in")
	flags.IntVar(&f.load.Body, "body", 256, "bytes of each body")
	flags.IntVar(&f.load.Concurrency, "concurrency", 4, "polls under way at a time")
	f.pairsFlag(flags, "pairs of legs")
	f.targetFlag(flags, targetBoth)
	f.profileFlags(flags)
	return c
}

func (f *liteFlags) check() error {
	return f.common.check(least{"messages", f.load.Messages, 0}, least{"lite-topics", f.load.LiteTopics, 1}, least{"body", f.load.Body, 0},
		least{"concurrency", f.load.Concurrency, 1}, least{"pairs", f.pairs, 1})
}

func (f *liteFlags) run(ctx context.Context, c *console) error {
	return measurement[comparison.Summary]{
		start: func(ctx context.Context, t target) (*server, error) {
			return t.lite(ctx, append((&litebench.Comparison{Pairs: f.pairs}).Legs(), litebench.WarmUp))
		},
		measure: func(ctx context.Context, at site) (*comparison.Summary, error) {
			l := &litebench.Comparison{Load: f.load, Endpoints: at.address, Pairs: f.pairs, Around: at.profiles.Record, Log: at.log}
			if l.Load.Messages == 0 {
				l.Load.Messages = map[string]int{targetReal: 15_000, targetEmbedded: 50_000}[at.name]
			}
			if err := l.WarmUp(ctx); err != nil {
				return nil, err
			}
			pairs, err := l.Compare(ctx)
			if err != nil {
				return nil, err
			}
			return comparison.Summarize(pairs), comparison.WriteTable(c.stdout, at.name, pairs)
		},
	}.run(ctx, c, &f.common)
}
