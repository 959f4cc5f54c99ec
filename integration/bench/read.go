// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/readbench"
)

// readFlags are what the command was told.
type readFlags struct {
	common
	messages     []int
	queues, body int
	clientGo     string
}

// clientGoSource is where the program with rocketmq-client-go is, from the
// project's root.
var clientGoSource = filepath.Join("integration", "bench", "clientgo")

func readCommand() *cobra.Command {
	f := &readFlags{}
	c := benchCommand("read", "Read messages of a normal topic",
		"Compares a loop of pulls with the Beam pipeline rocketmqio.Read → count on prism, on the same\n"+
			"server and alternating; beside them a loop of pulls on rocketmq-client-go, and the pipeline with\n"+
			"a source that has its records at hand, which is the limit of prism.", f)
	flags := c.Flags()
	flags.IntSliceVar(&f.messages, "messages", []int{300_000, 1_200_000}, "messages of a topic, for each topic that is read")
	flags.IntVar(&f.queues, "queues", 4, "queues that they lie in")
	flags.IntVar(&f.body, "body", 1024, "bytes of each body")
	flags.StringVar(&f.clientGo, "client-go", clientGoSource, "folder of the program that pulls with rocketmq-client-go; empty leaves it out")
	f.pairsFlag(flags, "pairs of legs for each topic")
	f.targetFlag(flags, targetReal)
	f.profileFlags(flags)
	return c
}

func (f *readFlags) check() error {
	if len(f.messages) == 0 {
		return errors.New("--messages: want at least one number")
	}
	numbers := []least{{"queues", f.queues, 1}, {"body", f.body, 0}, {"pairs", f.pairs, 1}}
	for _, n := range f.messages {
		numbers = append(numbers, least{"messages", n, 1})
	}
	return f.common.check(numbers...)
}

func (f *readFlags) run(ctx context.Context, c *console) (err error) {
	program, err := buildClientGo(ctx, c, f.clientGo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, program.Close()) }()
	return measurement[map[string]*readbench.Summary]{
		start: func(ctx context.Context, t target) (*server, error) { return t.normal(ctx, f.queues, f.topics()) },
		measure: func(ctx context.Context, at site) (*map[string]*readbench.Summary, error) {
			comparison := &readbench.Comparison{Rounds: f.pairs, ClientGo: program, Around: at.profiles.Record, Log: at.log}
			results := make(map[string]*readbench.Summary)
			for _, n := range f.messages {
				if results[strconv.Itoa(n)], err = f.measure(ctx, c, at, n, comparison); err != nil {
					return nil, err
				}
			}
			return &results, nil
		},
	}.run(ctx, c, &f.common)
}

// measure fills a topic and compares on it.
func (f *readFlags) measure(ctx context.Context, c *console, at site, messages int, comparison *readbench.Comparison) (*readbench.Summary, error) {
	topic := readTopic(messages)
	at.log.Info("filling", "topic", topic, "messages", messages)
	backlog, err := readbench.Fill(ctx, at.address, topic, readbench.Load{Messages: messages, Body: f.body})
	if err != nil {
		return nil, err
	}
	rounds, err := comparison.Compare(ctx, backlog)
	if err != nil {
		return nil, err
	}
	return readbench.Summarize(rounds), readbench.WriteTable(c.stdout, fmt.Sprintf("%s, %d", at.name, messages), rounds)
}

func (f *readFlags) topics() []string {
	var topics []string
	for _, n := range f.messages {
		topics = append(topics, readTopic(n))
	}
	return topics
}

func readTopic(messages int) string { return fmt.Sprintf("bench-%d", messages) }
