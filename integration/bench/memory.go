// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/readbench"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

// memoryFlags are what the command was told.
type memoryFlags struct {
	common
	messages, queues, body int
	slow, pause            time.Duration
}

// memoryResult is one run and what it must keep to.
type memoryResult struct {
	readbench.SlowResult
	BacklogBytes   int64 `json:"backlog_bytes"`
	QueueThreshold int   `json:"queue_threshold"`
	TotalThreshold int   `json:"total_threshold"`
	// Bound is how many bytes of bodies the source may keep ready, by its
	// thresholds and the fixed limits of 64 MiB a queue and 256 MiB in total.
	Bound int64 `json:"bound_ready_bytes"`
}

func memoryCommand() *cobra.Command {
	f := &memoryFlags{}
	c := benchCommand("memory", "Hold a large backlog behind a slow consumer",
		"Reads a backlog of 2 GB with a pipeline whose consumer is slow for a minute and then is not, in\n"+
			"a process of its own, and tells how much memory that took: once with the default thresholds,\n"+
			"once with the widest, where the fixed limits of 64 MiB a queue and 256 MiB in total act.", f)
	flags := c.Flags()
	flags.IntVar(&f.messages, "messages", 2_000_000, "messages of the backlog")
	flags.IntVar(&f.queues, "queues", 4, "queues that they lie in")
	flags.IntVar(&f.body, "body", 1024, "bytes of each body")
	flags.DurationVar(&f.slow, "slow", time.Minute, "how long the consumer is slow")
	flags.DurationVar(&f.pause, "pause", time.Millisecond, "how long it takes for a message in that time")
	f.targetFlag(flags, targetReal)
	return c
}

func (f *memoryFlags) check() error {
	if f.slow <= 0 || f.pause <= 0 {
		return fmt.Errorf("--slow %v, --pause %v: want more than 0", f.slow, f.pause)
	}
	return f.common.check(least{"messages", f.messages, 1}, least{"queues", f.queues, 1}, least{"body", f.body, 1})
}

// memoryTopic holds the backlog.
const memoryTopic = "bench-backlog"

func (f *memoryFlags) run(ctx context.Context, c *console) error {
	return measurement[map[string]*memoryResult]{
		start: func(ctx context.Context, t target) (*server, error) {
			return t.normal(ctx, f.queues, []string{memoryTopic})
		},
		measure: func(ctx context.Context, at site) (*map[string]*memoryResult, error) {
			at.log.Info("filling", "messages", f.messages, "bytes", f.messages*f.body)
			if _, err := readbench.Fill(ctx, at.address, memoryTopic, readbench.Load{Messages: f.messages, Body: f.body}); err != nil {
				return nil, err
			}
			results, err := f.measure(ctx, at, c.stderr)
			return &results, err
		},
	}.run(ctx, c, &f.common)
}

// measure reads once with each setting.
func (f *memoryFlags) measure(ctx context.Context, at site, stderr io.Writer) (map[string]*memoryResult, error) {
	results := make(map[string]*memoryResult)
	for _, c := range []struct {
		name         string
		queue, total int
	}{
		{"default_thresholds", rocketmqio.DefaultQueueThreshold, rocketmqio.DefaultTotalThreshold},
		{"widest_thresholds", 1_000_000, 1_000_000},
	} {
		at.log.Info("reading slowly", "thresholds", c.name, "for", f.slow)
		r := &memoryResult{BacklogBytes: int64(f.messages) * int64(f.body), QueueThreshold: c.queue, TotalThreshold: c.total, Bound: f.bound(c.queue, c.total)}
		var err error
		if r.SlowResult, err = f.child(ctx, at.address, c.queue, c.total, stderr); err != nil {
			return nil, err
		}
		at.log.Info("read", "peak RSS", r.PeakRSS, "peak ready", r.PeakReady, "bound", r.Bound)
		if r.PeakReady > r.Bound {
			return nil, fmt.Errorf("%s: the source kept %d bytes ready, more than its thresholds allow: %d", c.name, r.PeakReady, r.Bound)
		}
		results[c.name] = r
	}
	return results, nil
}

// bound is what the source may keep ready: each queue may go over a limit by the
// pull that is under way.
func (f *memoryFlags) bound(queue, total int) int64 {
	const queueBytes, totalBytes = 64 << 20, 256 << 20
	messages := min(f.queues*queue, total)
	limit := min(int64(messages)*int64(f.body), int64(f.queues)*queueBytes, totalBytes)
	return limit + int64(f.queues*rocketmqio.DefaultPullBatchSize*f.body)
}

// child reads in a process of its own.
func (f *memoryFlags) child(ctx context.Context, nameServers string, queue, total int, stderr io.Writer) (r readbench.SlowResult, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	c := exec.CommandContext(ctx, self, slowReaderName, nameServers, memoryTopic, f.slow.String(), f.pause.String(), strconv.Itoa(queue), strconv.Itoa(total))
	c.Stderr = stderr
	out, err := c.Output()
	if err != nil {
		return r, fmt.Errorf("the reading process: %w", err)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return r, fmt.Errorf("the reading process said %q: %w", bytes.TrimSpace(out), err)
	}
	return r, nil
}

// slowReaderName is the hidden command that reads.
const slowReaderName = "slow-reader"

func slowReaderCommand() *cobra.Command {
	return &cobra.Command{
		Use: slowReaderName + " nameserver topic for pause queue-threshold total-threshold", Hidden: true, Args: cobra.ExactArgs(6),
		RunE: func(c *cobra.Command, args []string) error {
			newConsole(c.OutOrStdout(), c.ErrOrStderr())
			var slow readbench.Slow
			var errs [4]error
			slow.For, errs[0] = time.ParseDuration(args[2])
			slow.Pause, errs[1] = time.ParseDuration(args[3])
			slow.QueueThreshold, errs[2] = strconv.Atoi(args[4])
			slow.TotalThreshold, errs[3] = strconv.Atoi(args[5])
			if err := errors.Join(errs[:]...); err != nil {
				return err
			}
			backlog, err := readbench.Open(c.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			r, err := readbench.ReadSlowly(c.Context(), backlog, slow)
			if err != nil {
				return err
			}
			return json.NewEncoder(c.OutOrStdout()).Encode(r)
		},
	}
}
