// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/writebench"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

// writeFlags are what the command was told.
type writeFlags struct {
	common
	messages, body, queues, pending                int
	asyncInFlight, batchInFlight, clientGoInFlight int
	clientGo                                       string
}

const writeTopic = "bench-write"

func writeCommand() *cobra.Command {
	f := &writeFlags{}
	c := benchCommand("write", "Write messages to a normal topic",
		"Compares raw producers, one that has many requests of a message each in flight and one that\n"+
			"sends batches of 64, with the Beam pipeline source → rocketmqio.Write on prism, on the same\n"+
			"server and alternating; beside them the asynchronous producer of rocketmq-client-go. How many\n"+
			"requests in flight suit the raw producers best is tried first. They send each message once;\n"+
			"what they fail to store is counted.", f)
	flags := c.Flags()
	flags.IntVar(&f.messages, "messages", 200_000, "messages of a leg")
	flags.IntVar(&f.body, "body", 1024, "bytes of each body")
	flags.IntVar(&f.queues, "queues", 4, "queues of the topic")
	flags.IntVar(&f.asyncInFlight, "async-in-flight", 0, "requests of one message in flight; 0: try which number is best")
	flags.IntVar(&f.batchInFlight, "batches-in-flight", 0, "requests of 64 messages in flight; 0: try which number is best")
	flags.IntVar(&f.pending, "pending", rocketmqio.DefaultPendingMax, "messages that the pipeline has in flight, rocketmqio.WritePendingMax")
	flags.IntVar(&f.clientGoInFlight, "client-go-in-flight", 1000, "messages that rocketmq-client-go has in flight")
	flags.StringVar(&f.clientGo, "client-go", clientGoSource, "folder of the program that sends with rocketmq-client-go; empty leaves it out")
	f.pairsFlag(flags, "legs of each program")
	f.targetFlag(flags, targetReal)
	f.profileFlags(flags)
	return c
}

func (f *writeFlags) check() error {
	return f.common.check(least{"messages", f.messages, 1}, least{"body", f.body, 1}, least{"queues", f.queues, 1}, least{"pairs", f.pairs, 1},
		least{"async-in-flight", f.asyncInFlight, 0}, least{"batches-in-flight", f.batchInFlight, 0}, least{"client-go-in-flight", f.clientGoInFlight, 1}, least{"pending", f.pending, 1})
}

func (f *writeFlags) run(ctx context.Context, c *console) (err error) {
	settings := writebench.Settings{
		Load:          writebench.Load{Messages: f.messages, Body: f.body},
		AsyncInFlight: f.asyncInFlight, BatchInFlight: f.batchInFlight, ClientGoInFlight: f.clientGoInFlight,
		Pending: f.pending,
	}
	program, err := buildClientGo(ctx, c, f.clientGo)
	if err != nil {
		return err
	}
	if program != nil { // else the interface would not be nil
		settings.ClientGo = program
	}
	defer func() { err = errors.Join(err, program.Close()) }()
	return measurement[writebench.Summary]{
		start: func(ctx context.Context, t target) (*server, error) {
			return t.normal(ctx, f.queues, []string{writeTopic})
		},
		measure: func(ctx context.Context, at site) (_ *writebench.Summary, err error) {
			target, err := writebench.Open(ctx, at.address, writeTopic)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, target.Close()) }()
			w := &writebench.Comparison{Rounds: f.pairs, Settings: settings, Around: at.profiles.Record, Log: at.log}
			rounds, err := w.Compare(ctx, target)
			if err != nil {
				return nil, err
			}
			return writebench.Summarize(rounds, &w.Settings), writebench.WriteTable(c.stdout, at.name, rounds)
		},
	}.run(ctx, c, &f.common)
}
