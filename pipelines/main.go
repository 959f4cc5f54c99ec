// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Command pipelines holds the programs of this project, each a subcommand.
//
//	go run ./pipelines fairshare
//
// shows, without any server, what the project is for.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
