// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Command faults runs the table of accidents that the sources, throttle and ack
// must come through without losing a message; rows of the source of normal topics
// begin with "remoting-". Its last line is one JSON object with a verdict a row;
// it ends with status 1 if anything was lost.
//
// faults txn kills workers that write exactly once, at each step of that; a line of
// JSON for each row says what consumers see.
package main

import (
	"context"
	"encoding/json"
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
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
)

func main() {
	worker.Run()
	bus.Run()
	txn.Run()
	only := flag.String("only", "", "run the rows whose names contain one of these, separated by commas")
	long := flag.Bool("long", false, "run the rows that take about a minute each as well")
	real := flag.Bool("real", true, "run rows on a real RocketMQ as well, where Java and Maven are there")
	seed := flag.Uint64("seed", uint64(rand.Uint32()), "seed of the random moments")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if flag.Arg(0) == "txn" {
		os.Exit(txn.Command(ctx, flag.Args()[1:]))
	}
	var parts []string
	if *only != "" {
		parts = strings.Split(*only, ",")
	}
	if !run(ctx, scenario.Find(parts...), *long, *real, *seed) {
		os.Exit(1)
	}
}

// summary is the last line.
type summary struct {
	Rows    []scenario.Verdict `json:"rows"`
	Lost    int                `json:"lost"`
	Failed  int                `json:"failed"`
	Skipped []string           `json:"skipped"`
}

// run runs the rows one after another and says whether all went well.
func run(ctx context.Context, rows []scenario.Row, long, real bool, seed uint64) bool {
	out := summary{Rows: []scenario.Verdict{}, Skipped: []string{}}
	set := scenario.Settings{Seed: seed, Log: func(format string, args ...any) { fmt.Printf("  "+format+"\n", args...) }}
	var unavailable error
	if real {
		set.Cluster, unavailable = cluster(ctx, rows, long)
		if set.Cluster != nil {
			defer set.Cluster.Close()
		}
	}
	for _, row := range rows {
		for _, place := range row.Places {
			name := fmt.Sprintf("%s/%s", row.Name, place)
			switch {
			case row.Long && !long:
				out.Skipped = append(out.Skipped, name+": long")
			case place == scenario.RealMQ && set.Cluster == nil:
				out.Skipped = append(out.Skipped, fmt.Sprintf("%s: no real RocketMQ (%v)", name, unavailable))
			default:
				fmt.Printf("%s: %s\n", name, row.About)
				v := scenario.Run(ctx, row, place, set)
				fmt.Println(v)
				out.add(v)
			}
		}
	}
	for _, s := range out.Skipped {
		fmt.Println("skipped:", s)
	}
	line, err := json.Marshal(out)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return false
	}
	fmt.Println(string(line))
	return out.Failed == 0 && out.Lost == 0 && len(out.Rows) > 0
}

func (s *summary) add(v scenario.Verdict) {
	s.Rows = append(s.Rows, v)
	s.Lost += v.Lost
	if !v.OK() {
		s.Failed++
	}
}

// cluster starts a real RocketMQ if a row needs one and it can be had.
func cluster(ctx context.Context, rows []scenario.Row, long bool) (*realmq.Cluster, error) {
	needed := false
	for _, row := range rows {
		for _, place := range row.Places {
			needed = needed || place == scenario.RealMQ && (long || !row.Long)
		}
	}
	if !needed {
		return nil, nil
	}
	return realmq.Start(ctx)
}
