// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package readbench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/usage"
)

// Side is one of the programs that are compared.
type Side string

// The programs.
const (
	// Raw is a loop of pulls on this module's own client.
	Raw Side = "raw"
	// Pipeline is rocketmqio.Read and a step that counts, on prism.
	Pipeline Side = "pipeline"
	// ClientGo is a loop of pulls on rocketmq-client-go, in another process.
	ClientGo Side = "client-go"
	// Limit is the pipeline with a source that has its records at hand.
	Limit Side = "prism limit"
)

const legTimeout = 5 * time.Minute

// Leg is one run of one program.
type Leg struct {
	Side Side
	comparison.Run
	// Start is how long it took until the clock of Run started.
	Start time.Duration
}

// Run runs one program over all of the backlog. It fails if not all messages
// came, each of them once.
func (c *Comparison) Run(ctx context.Context, b *Backlog, side Side) (Leg, error) {
	ctx, cancel := context.WithTimeout(ctx, legTimeout)
	defer cancel()
	runtime.GC() // the other side's garbage is not this one's to collect
	if side == ClientGo {
		run, err := c.ClientGo.run(ctx, b)
		return Leg{Side: side, Run: run}, err
	}
	do := map[Side]func(context.Context, *Backlog, *tally) error{Raw: raw, Pipeline: pipeline, Limit: limit}[side]
	t := newTally(b.Ends)
	before, begin := usage.Now(), time.Now()
	if err := do(ctx, b, t); err != nil {
		return Leg{}, fmt.Errorf("%s on topic %q: %w", side, b.Topic, err)
	}
	spent := usage.Now().Minus(before)
	if err := t.verdict(); err != nil {
		return Leg{}, fmt.Errorf("%s on topic %q: %w", side, b.Topic, err)
	}
	return Leg{Side: side, Start: time.Unix(0, t.from.Load()).Sub(begin), Run: comparison.Run{
		Messages: b.Messages(), Elapsed: t.elapsed(), CPU: t.cpu(), Allocations: spent.Allocations, AllocatedBytes: spent.Bytes,
		Calls: int(t.calls.Load()), LargestCall: int(t.largest.Load()),
	}}, nil
}

// verdict is what was wrong with what came.
func (t *tally) verdict() error {
	distinct, twice, elsewhere := int(t.distinct.Load()), t.twice.Load(), t.elsewhere.Load()
	if distinct == t.all() && twice == 0 && elsewhere == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d messages came, %d came again, %d are not of the backlog", distinct, t.all(), twice, elsewhere)
}
