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
	"time"
)

// oneSignal is for how long further signals count as the first.
const oneSignal = time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// Another signal ends the program at once; not one that comes with the first, as
	// timeout(1) and shells send it to the process and to its group.
	context.AfterFunc(ctx, func() { time.AfterFunc(oneSignal, stop) })
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
