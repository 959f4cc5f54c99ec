// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"go.uber.org/goleak"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/bus"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/scenario"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/worker"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
)

var (
	long = flag.Bool("faults.long", os.Getenv("CI") == "true", "run the rows that take up to a minute or more as well")
	seed = flag.Uint64("faults.seed", uint64(rand.Uint32()), "seed of the random moments")
)

// TestMain is also what the worker and broker processes of the tests run.
func TestMain(m *testing.M) {
	worker.Run()
	bus.Run()
	flag.Parse()
	moreAtOnce()
	scratch, err := os.MkdirTemp("", "faults-") // prism leaves an empty file there for each pipeline
	if err == nil {
		err = os.Setenv("TMPDIR", scratch)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	beam.Init()
	code := realmqtest.Wrap(m).Run()
	litegrpcio.Shutdown()
	ackfn.Shutdown()
	if code == 0 {
		if err := goleak.Find(prismStays()...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	_ = os.RemoveAll(scratch) // nothing in it is of use
	os.Exit(code)
}

// moreAtOnce lets more rows run beside each other than there are processors,
// unless the command line says something else: they mostly wait.
func moreAtOnce() {
	const atOnce = 6
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(max(atOnce, runtime.GOMAXPROCS(0)))) // the flag is there and takes numbers
	}
}

// TestEmbedded runs the rows for an embedded broker. The workers are processes of
// their own; for the rows that kill one, so is the broker.
func TestEmbedded(t *testing.T) {
	t.Parallel() // beside TestReal, which mostly waits
	set := scenario.Settings{Seed: *seed}
	for _, row := range scenario.Table() {
		for _, place := range row.Places {
			if place == scenario.RealMQ {
				continue
			}
			t.Run(row.Name, func(t *testing.T) {
				t.Parallel()
				play(t, row, place, set)
			})
		}
	}
}

func play(t *testing.T, row scenario.Row, place scenario.Place, set scenario.Settings) {
	t.Helper()
	if row.Long && !*long {
		t.Skip("skipped: takes up to a minute or more; run with -faults.long")
	}
	set.Log = t.Logf
	v := scenario.Run(t.Context(), row, place, set)
	t.Logf("%s\n%s", row.About, v)
	if !v.OK() {
		t.Errorf("%s\n%s", v.Error, strings.Join(v.Faults, "\n"))
	}
}

// TestReal runs the rows for a real RocketMQ: first, beside each other, those
// that leave the servers alone, then one by one those that restart them.
func TestReal(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts three JVMs")
	}
	t.Parallel()
	mq := realmqtest.Start(t)
	set := scenario.Settings{Seed: *seed, Cluster: mq}
	t.Run("together", func(t *testing.T) {
		for _, row := range scenario.Table() {
			if slices.Contains(row.Places, scenario.RealMQ) && !row.Alone {
				t.Run(row.Name, func(t *testing.T) {
					t.Parallel()
					play(t, row, scenario.RealMQ, set)
				})
			}
		}
	})
	for _, row := range scenario.Table() {
		if slices.Contains(row.Places, scenario.RealMQ) && row.Alone {
			t.Run(row.Name, func(t *testing.T) { play(t, row, scenario.RealMQ, set) })
		}
	}
}
