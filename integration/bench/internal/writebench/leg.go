// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package writebench

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
	// Async sends a message a request on this module's own client.
	Async Side = "async"
	// Batch sends batches on it.
	Batch Side = "batches"
	// ClientGo is the SendAsync of rocketmq-client-go, in another process.
	ClientGo Side = "client-go"
	// Pipeline is a source and rocketmqio.Write, on prism.
	Pipeline Side = "pipeline"
)

const legTimeout = 5 * time.Minute

// Leg is one run of one program. Its messages are those that were acknowledged.
type Leg struct {
	Side Side
	comparison.Run
	// Failed were not acknowledged.
	Failed int
	// Again are stored more often than once.
	Again int
}

// Settings say how the programs run.
type Settings struct {
	Load Load
	// In flight are requests: of one message, of 64, and of client-go.
	AsyncInFlight, BatchInFlight, ClientGoInFlight int
	// Pending are messages that the pipeline has in flight at most.
	Pending int
	// ClientGo runs rocketmq-client-go; nil leaves it out.
	ClientGo Program
}

// Run runs one program. It fails if the topic then holds less than what was
// acknowledged, or if the pipeline lost anything.
func (t *Target) Run(ctx context.Context, side Side, s *Settings) (Leg, error) {
	ctx, cancel := context.WithTimeout(ctx, legTimeout)
	defer cancel()
	before, err := t.holds(ctx)
	if err != nil {
		return Leg{}, err
	}
	runtime.GC() // the other side's garbage is not this one's to collect
	leg, err := t.leg(ctx, side, s)
	if err != nil {
		return Leg{}, fmt.Errorf("%s: %w", side, err)
	}
	after, err := t.settled(ctx, before+leg.Messages)
	if err != nil {
		return Leg{}, err
	}
	if stored := after - before; stored < leg.Messages {
		return Leg{}, fmt.Errorf("%s: %d messages were acknowledged, but only %d are stored", side, leg.Messages, stored)
	} else {
		leg.Again = max(stored-s.Load.Messages, 0)
	}
	return leg, ctx.Err()
}

func (t *Target) leg(ctx context.Context, side Side, s *Settings) (Leg, error) {
	leg := Leg{Side: side}
	n := s.Load.Messages
	before, begin := usage.Now(), time.Now()
	switch side {
	case ClientGo:
		run, failed, err := t.clientGo(ctx, s.ClientGo, s.Load, s.ClientGoInFlight)
		return Leg{side, run, failed, 0}, err
	case Pipeline:
		sum, err := t.pipeline(ctx, s.Load, s.Pending)
		if err != nil {
			return leg, err
		}
		leg.Failed = n - int(sum.written.Load())
		leg.Elapsed, leg.CPU = time.Duration(sum.to.Load()-sum.from.Load()), time.Duration(sum.cpu1.Load()-sum.cpu0.Load())
		if leg.Failed != 0 {
			return leg, fmt.Errorf("%d of %d messages have no result", leg.Failed, n)
		}
	default:
		size, inFlight := 1, s.AsyncInFlight
		if side == Batch {
			size, inFlight = batchSize, s.BatchInFlight
		}
		leg.Failed = t.raw(ctx, s.Load, size, inFlight)
		leg.Elapsed, leg.Calls, leg.LargestCall = time.Since(begin), (n+size-1)/size, size
	}
	spent := usage.Now().Minus(before)
	if side != Pipeline {
		leg.CPU = spent.CPU
	}
	leg.Messages, leg.Allocations, leg.AllocatedBytes = n-leg.Failed, spent.Allocations, spent.Bytes
	return leg, nil
}
