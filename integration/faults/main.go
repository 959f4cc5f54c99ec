// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Command faults runs the table of accidents that sources, throttle, ack and sinks
// must come through without losing a message; rows of the source of normal topics
// begin with "remoting-", those of sinks with "write-" and "lite-write-". Its last line is one JSON object with a verdict a row;
// it ends with status 1 if anything was lost.
//
// faults txn kills workers that write exactly once, at each step of that; a line of
// JSON for each row says what consumers see.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/bus"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/scenario"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/txn"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/worker"
)

func main() {
	worker.Run()
	bus.Run()
	txn.Run()
	others := map[string]bool{}
	flag.VisitAll(func(f *flag.Flag) { others[f.Name] = true })
	only := flag.String("only", "", "run the rows whose names contain one of these, separated by commas")
	long := flag.Bool("long", false, "run the rows that take up to a minute or more as well")
	real := flag.Bool("real", true, "run rows on a real RocketMQ as well, where Java and Maven are there")
	listing := flag.Bool("list", false, "print the rows and run none")
	atOnce := flag.Int("at-once", 4, "how many rows on embedded brokers run beside each other; they mostly wait")
	markdown := flag.String("markdown", "", "write the table to this file as well")
	seed := flag.Uint64("seed", uint64(rand.Uint32()), "seed of the random moments")
	flag.Usage = usageOf(others)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if flag.Arg(0) == "txn" {
		os.Exit(txn.Command(ctx, flag.Args()[1:]))
	}
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "error: %q is no part of this program\n", flag.Args())
		flag.Usage()
		os.Exit(2)
	}
	var parts []string
	if *only != "" {
		parts = strings.Split(*only, ",")
	}
	rows := scenario.Find(parts...)
	if len(rows) == 0 {
		fmt.Fprintf(os.Stderr, "error: --only %q: no row has such a name; --list prints them\n", *only)
		os.Exit(2)
	}
	if *listing {
		list(rows)
		return
	}
	if !run(ctx, rows, settings{*long, *real, *seed, *atOnce, *markdown}) {
		os.Exit(1)
	}
}

// usageOf leaves out the flags that others have registered: Beam's.
func usageOf(others map[string]bool) func() {
	return func() {
		fmt.Fprintln(os.Stderr, "usage: faults [flags]\n       faults txn [flags]   kills workers that write exactly once; see faults txn --help")
		flag.VisitAll(func(f *flag.Flag) {
			if !others[f.Name] {
				fmt.Fprintf(os.Stderr, "  --%-10s %s (default %q)\n", f.Name, f.Usage, f.DefValue)
			}
		})
	}
}
