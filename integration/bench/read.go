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
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/profile"
	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/readbench"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
)

// readFlags are what the command was told.
type readFlags struct {
	messages               []int
	queues, body, pairs    int
	target, clientGo       string
	cpuProfile, memProfile string
}

// clientGoSource is where the program with rocketmq-client-go is, from the
// project's root.
var clientGoSource = filepath.Join("integration", "bench", "clientgo")

func readCommand() *cobra.Command {
	f := &readFlags{}
	c := &cobra.Command{
		Use: "read", Short: "Read messages of a normal topic",
		Long: "Compares a loop of pulls with the Beam pipeline rocketmqio.Read → count on prism, on the same\n" +
			"server and alternating; beside them a loop of pulls on rocketmq-client-go, and the pipeline with\n" +
			"a source that has its records at hand, which is the limit of prism.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := c.Flags()
	flags.IntSliceVar(&f.messages, "messages", []int{300_000, 1_200_000}, "messages of a topic, for each topic that is read")
	flags.IntVar(&f.queues, "queues", 4, "queues that they lie in")
	flags.IntVar(&f.body, "body", 1024, "bytes of each body")
	flags.IntVar(&f.pairs, "pairs", 3, "pairs of legs for each topic")
	flags.StringVar(&f.target, "target", targetReal, "real, embedded or both")
	flags.StringVar(&f.clientGo, "client-go", clientGoSource, "folder of the program that pulls with rocketmq-client-go; empty leaves it out")
	flags.StringVar(&f.cpuProfile, "cpuprofile", "", "file for a CPU profile of the pipeline legs")
	flags.StringVar(&f.memProfile, "memprofile", "", "file for a profile of the pipeline legs' allocations")
	return c
}

func (f *readFlags) check() error {
	if len(f.messages) == 0 {
		return errors.New("--messages: want at least one number")
	}
	for _, n := range f.messages {
		if n < 1 {
			return fmt.Errorf("--messages %d: want at least 1", n)
		}
	}
	for _, n := range []struct {
		flag       string
		value, low int
	}{{"queues", f.queues, 1}, {"body", f.body, 0}, {"pairs", f.pairs, 1}} {
		if n.value < n.low {
			return fmt.Errorf("--%s %d: want at least %d", n.flag, n.value, n.low)
		}
	}
	return checkTarget(f.target)
}

// normalTarget is a kind of server for normal topics.
type normalTarget struct {
	name   string
	start  func(ctx context.Context, queues int, topics []string) (*normalServer, error)
	result *map[string]*readbench.Summary
}

func (f *readFlags) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	log := quietBeam(stderr)
	recorder := profile.New(f.cpuProfile, f.memProfile)
	comparison := &readbench.Comparison{Rounds: f.pairs, Around: recorder.Record, Log: log}
	if f.clientGo != "" {
		log.Info("building the program with rocketmq-client-go", "folder", f.clientGo)
		if comparison.ClientGo, err = readbench.BuildClientGo(ctx, f.clientGo, stderr); err != nil {
			if ctx.Err() != nil || os.Getenv("CI") == "true" {
				return err
			}
			fmt.Fprintf(stderr, "not measured with rocketmq-client-go: %v\n", err)
		}
		defer func() { err = errors.Join(err, comparison.ClientGo.Close()) }()
	}
	var report readbench.Report
	for _, t := range []normalTarget{{targetReal, startNormalReal, &report.Real}, {targetEmbedded, startNormalEmbedded, &report.Embedded}} {
		if f.target != t.name && f.target != targetBoth {
			continue
		}
		err := f.measure(ctx, stdout, log, t, comparison)
		var missing *realmq.Missing
		if errors.As(err, &missing) && os.Getenv("CI") != "true" {
			fmt.Fprintf(stderr, "not measured on a real RocketMQ: %v\n", missing)
			continue
		}
		if err != nil {
			return fmt.Errorf("target %s: %w", t.name, err)
		}
	}
	if err := recorder.Write(); err != nil {
		return err
	}
	return report.WriteJSON(stdout)
}

// measure fills each topic of one server and compares on it.
func (f *readFlags) measure(ctx context.Context, stdout io.Writer, log *slog.Logger, t normalTarget, comparison *readbench.Comparison) (err error) {
	var topics []string
	for _, n := range f.messages {
		topics = append(topics, readTopic(n))
	}
	log.Info("starting the server", "target", t.name)
	s, err := t.start(ctx, f.queues, topics)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	*t.result = make(map[string]*readbench.Summary)
	for _, n := range f.messages {
		log.Info("filling", "topic", readTopic(n), "messages", n)
		backlog, err := readbench.Fill(ctx, s.nameServers, readTopic(n), readbench.Load{Messages: n, Body: f.body})
		if err != nil {
			return err
		}
		rounds, err := comparison.Compare(ctx, backlog)
		if err != nil {
			return err
		}
		(*t.result)[strconv.Itoa(n)] = readbench.Summarize(rounds)
		if err := readbench.WriteTable(stdout, fmt.Sprintf("%s, %d", t.name, n), rounds); err != nil {
			return err
		}
	}
	return nil
}

func readTopic(messages int) string { return fmt.Sprintf("bench-%d", messages) }
