// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures what this module costs beside the least program that
// does the same work, on a real RocketMQ and on the embedded broker.
//
//	go run ./integration/bench lite
//	go run ./integration/bench read
//	go run ./integration/bench write
//	go run ./integration/bench table
//	go run ./integration/bench memory
//	go run ./integration/bench scale
//
// Progress goes to stderr, tables to stdout; the last line of stdout is a JSON
// object with medians.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use: "bench", Short: "Compare this module with the least program that does the same work",
		SilenceUsage: true, SilenceErrors: true, Args: cobra.NoArgs,
	}
	root.AddCommand(liteCommand(), brokerCommand(), readCommand(), writeCommand(), tableCommand(), memoryCommand(), scaleCommand(), slowReaderCommand(), normalBrokerCommand())
	return root
}
