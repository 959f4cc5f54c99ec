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

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/profile"
	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/readbench"
	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/writebench"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
)

// writeFlags are what the command was told.
type writeFlags struct {
	messages, body, queues, pairs                  int
	asyncInFlight, batchInFlight, clientGoInFlight int
	target, clientGo                               string
	cpuProfile, memProfile                         string
}

const writeTopic = "bench-write"

func writeCommand() *cobra.Command {
	f := &writeFlags{}
	c := &cobra.Command{
		Use: "write", Short: "Write messages to a normal topic",
		Long: "Compares raw producers, one that has many requests of a message each in flight and one that\n" +
			"sends batches of 64, with the Beam pipeline source → rocketmqio.Write on prism, on the same\n" +
			"server and alternating; beside them the asynchronous producer of rocketmq-client-go. How many\n" +
			"requests in flight suit the raw producers best is tried first. They send each message once;\n" +
			"what they fail to store is counted.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := c.Flags()
	flags.IntVar(&f.messages, "messages", 200_000, "messages of a leg")
	flags.IntVar(&f.body, "body", 1024, "bytes of each body")
	flags.IntVar(&f.queues, "queues", 4, "queues of the topic")
	flags.IntVar(&f.pairs, "pairs", 3, "legs of each program")
	flags.IntVar(&f.asyncInFlight, "async-in-flight", 0, "requests of one message in flight; 0: try which number is best")
	flags.IntVar(&f.batchInFlight, "batches-in-flight", 0, "requests of 64 messages in flight; 0: try which number is best")
	flags.IntVar(&f.clientGoInFlight, "client-go-in-flight", 1000, "messages that rocketmq-client-go has in flight")
	flags.StringVar(&f.target, "target", targetReal, "real, embedded or both")
	flags.StringVar(&f.clientGo, "client-go", clientGoSource, "folder of the program that sends with rocketmq-client-go; empty leaves it out")
	flags.StringVar(&f.cpuProfile, "cpuprofile", "", "file for a CPU profile of the pipeline legs")
	flags.StringVar(&f.memProfile, "memprofile", "", "file for a profile of the pipeline legs' allocations")
	return c
}

func (f *writeFlags) check() error {
	for _, n := range []struct {
		flag       string
		value, low int
	}{
		{"messages", f.messages, 1}, {"body", f.body, 1}, {"queues", f.queues, 1}, {"pairs", f.pairs, 1},
		{"async-in-flight", f.asyncInFlight, 0}, {"batches-in-flight", f.batchInFlight, 0}, {"client-go-in-flight", f.clientGoInFlight, 1},
	} {
		if n.value < n.low {
			return fmt.Errorf("--%s %d: want at least %d", n.flag, n.value, n.low)
		}
	}
	return checkTarget(f.target)
}

func (f *writeFlags) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	log := quietBeam(stderr)
	recorder := profile.New(f.cpuProfile, f.memProfile)
	settings := writebench.Settings{
		Load:          writebench.Load{Messages: f.messages, Body: f.body},
		AsyncInFlight: f.asyncInFlight, BatchInFlight: f.batchInFlight, ClientGoInFlight: f.clientGoInFlight,
	}
	if f.clientGo != "" {
		log.Info("building the program with rocketmq-client-go", "folder", f.clientGo)
		program, err := readbench.BuildClientGo(ctx, f.clientGo, stderr)
		switch {
		case err == nil:
			settings.ClientGo = program
		case ctx.Err() != nil || os.Getenv("CI") == "true":
			return err
		default:
			fmt.Fprintf(stderr, "not measured with rocketmq-client-go: %v\n", err)
		}
		defer func() { err = errors.Join(err, program.Close()) }()
	}
	var report writebench.Report
	for _, t := range []struct {
		name   string
		start  func(ctx context.Context, queues int, topics []string) (*normalServer, error)
		result **writebench.Summary
	}{{targetReal, startNormalReal, &report.Real}, {targetEmbedded, startNormalEmbedded, &report.Embedded}} {
		if f.target != t.name && f.target != targetBoth {
			continue
		}
		c := &writebench.Comparison{Rounds: f.pairs, Settings: settings, Around: recorder.Record, Log: log}
		rounds, err := f.measure(ctx, log.With("target", t.name), t.start, c)
		if missing, ok := errors.AsType[*realmq.Missing](err); ok && os.Getenv("CI") != "true" {
			fmt.Fprintf(stderr, "not measured on a real RocketMQ: %v\n", missing)
			continue
		}
		if err != nil {
			return fmt.Errorf("target %s: %w", t.name, err)
		}
		*t.result = writebench.Summarize(rounds, &c.Settings)
		if err := writebench.WriteTable(stdout, t.name, rounds); err != nil {
			return err
		}
	}
	if err := recorder.Write(); err != nil {
		return err
	}
	return report.WriteJSON(stdout)
}

func (f *writeFlags) measure(ctx context.Context, log *slog.Logger, start func(context.Context, int, []string) (*normalServer, error), c *writebench.Comparison) (rounds []writebench.Round, err error) {
	log.Info("starting the server")
	s, err := start(ctx, f.queues, []string{writeTopic})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	target, err := writebench.Open(ctx, s.nameServers, writeTopic)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	return c.Compare(ctx, target)
}
