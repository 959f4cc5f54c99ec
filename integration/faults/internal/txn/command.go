// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package txn

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
)

// Command is the program's subcommand txn. It returns the exit code.
func Command(ctx context.Context, args []string) int {
	f := flag.NewFlagSet("txn", flag.ExitOnError)
	n := f.Int("n", 20_000, "messages, embedded")
	kills := f.Int("kills", 28, "workers that are killed, embedded")
	realN := f.Int("real-n", 3000, "messages, on a real RocketMQ; 0 leaves it out")
	realKills := f.Int("real-kills", 12, "workers that are killed, on a real RocketMQ")
	seed := f.Uint64("seed", uint64(rand.Uint32()), "seed of the random moments")
	onFlink := f.Bool("flink", false, "run the rows on Flink alone, with n messages and checkpoints each 2 s: the job fails once, and workers are killed at each step")
	_ = f.Parse(args) // ends the process by itself
	o := Options{Messages: *n, Kills: *kills, Seed: *seed, Log: func(format string, args ...any) { fmt.Printf("  "+format+"\n", args...) }}
	good := true
	show := func(v Verdict, random bool) {
		line, _ := json.Marshal(v) // has nothing that cannot be written
		fmt.Println(string(line))
		good = good && v.OK(random)
	}
	if *onFlink {
		failed := FlinkFails(ctx, o)
		show(failed, false)
		o.Kills = len(steps)
		killed := FlinkKilled(ctx, o)
		show(killed, false)
		// A run without the failures shows nothing of them.
		return exitCode(good && len(failed.Kills) > 0 && len(killed.Kills) == len(steps))
	}
	show(Embedded(ctx, o), false)
	random := o
	random.Messages, random.Kills, random.Random = min(*n, 2000), len(steps), true
	v := Embedded(ctx, random)
	v.Row = "txn-random-keys/embedded"
	show(v, true)
	if *realN > 0 {
		o.Messages, o.Kills = *realN, *realKills
		good = onReal(ctx, o, show) && good
	}
	return exitCode(good)
}

func exitCode(good bool) int {
	if good {
		return 0
	}
	return 1
}

// onReal runs the rows on a real RocketMQ, if there can be one.
func onReal(ctx context.Context, o Options, show func(Verdict, bool)) bool {
	mq, err := realmq.Start(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "skipped: no real RocketMQ:", err)
		return os.Getenv("CI") != "true"
	}
	defer mq.Close()
	show(Real(ctx, mq, o), false)
	o.RestartBroker = true
	show(Real(ctx, mq, o), false)
	return true
}
