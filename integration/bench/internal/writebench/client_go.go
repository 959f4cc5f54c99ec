// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package writebench

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
)

// Program runs the program that sends with rocketmq-client-go.
type Program interface {
	Output(ctx context.Context, args ...string) ([]byte, error)
}

// clientGoResult is the last line of the program's output.
type clientGoResult struct {
	Messages    int     `json:"messages"`
	Failed      int     `json:"failed"`
	Seconds     float64 `json:"seconds"`
	CPUSeconds  float64 `json:"cpu_seconds"`
	Calls       int     `json:"calls"`
	Allocations uint64  `json:"allocations"`
	Bytes       uint64  `json:"bytes"`
}

func (t *Target) clientGo(ctx context.Context, p Program, load Load, inFlight int) (comparison.Run, int, error) {
	out, err := p.Output(ctx, "write", t.NameServers, t.Topic, strconv.Itoa(load.Messages), strconv.Itoa(load.Body), strconv.Itoa(inFlight))
	if err != nil {
		return comparison.Run{}, 0, err
	}
	var r clientGoResult
	if err := json.Unmarshal(out, &r); err != nil {
		return comparison.Run{}, 0, fmt.Errorf("it said %q: %w", out, err)
	}
	if r.Messages != load.Messages || r.Failed < 0 || r.Failed > r.Messages {
		return comparison.Run{}, 0, fmt.Errorf("it said %q: want %d messages", out, load.Messages)
	}
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	return comparison.Run{Messages: r.Messages - r.Failed, Elapsed: seconds(r.Seconds), CPU: seconds(r.CPUSeconds), Calls: r.Calls,
		LargestCall: 1, Allocations: r.Allocations, AllocatedBytes: r.Bytes}, r.Failed, nil
}
