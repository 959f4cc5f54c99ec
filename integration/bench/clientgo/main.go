// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Command clientgo reads a topic with the PullFrom of rocketmq-client-go, a
// goroutine a queue, from offset 0 to the end that the first answer names; or it
// writes to one with SendAsync. Its only line of output is a JSON object. The
// benchmark that runs it gives it a home folder to write in.
//
//	clientgo nameserver topic batch
//	clientgo write nameserver topic messages bytes in-flight
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "clientgo:", err)
		os.Exit(1)
	}
}

// result is what the benchmark reads.
type result struct {
	Messages    int     `json:"messages"`
	Seconds     float64 `json:"seconds"`
	CPUSeconds  float64 `json:"cpu_seconds"`
	Calls       int     `json:"calls"`
	Failed      int     `json:"failed,omitempty"`
	Allocations uint64  `json:"allocations"`
	Bytes       uint64  `json:"bytes"`
}

func run() error {
	if len(os.Args) == 7 && os.Args[1] == "write" {
		return runWrite(os.Args[2], os.Args[3], os.Args[4:])
	}
	if len(os.Args) != 4 {
		return fmt.Errorf("want three arguments: name server, topic, batch size")
	}
	topic := os.Args[2]
	batch, err := strconv.Atoi(os.Args[3])
	if err != nil {
		return fmt.Errorf("batch size: %w", err)
	}
	c, err := rocketmq.NewPullConsumer(consumer.WithGroupName("bench-client-go"),
		consumer.WithNsResolver(primitive.NewPassthroughResolver([]string{os.Args[1]})))
	if err != nil {
		return err
	}
	// Assigned no queue, it pulls nothing of its own accord.
	if err := c.Assign(topic, nil); err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	queues, err := c.GetTopicRouteInfo(topic)
	if err != nil {
		return err
	}
	began, cpu := time.Now(), cpuTime()
	sum, err := readAll(c, queues, batch)
	if err != nil {
		return err
	}
	sum.Seconds, sum.CPUSeconds = time.Since(began).Seconds(), (cpuTime() - cpu).Seconds()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	sum.Allocations, sum.Bytes = m.Mallocs, m.TotalAlloc
	return json.NewEncoder(os.Stdout).Encode(sum)
}

func readAll(c rocketmq.PullConsumer, queues []*primitive.MessageQueue, batch int) (sum result, err error) {
	type part struct {
		result
		err error
	}
	parts := make(chan part, len(queues))
	for _, q := range queues {
		go func() {
			r, err := read(c, q, batch)
			parts <- part{r, err}
		}()
	}
	for range queues {
		p := <-parts
		if p.err != nil {
			return sum, p.err
		}
		sum.Messages += p.Messages
		sum.Calls += p.Calls
	}
	return sum, nil
}

func read(c rocketmq.PullConsumer, q *primitive.MessageQueue, batch int) (r result, err error) {
	end := int64(1)
	for at := int64(0); at < end; {
		answer, err := c.PullFrom(context.Background(), q, at, batch)
		if err != nil {
			return r, fmt.Errorf("queue %d at offset %d: %w", q.QueueId, at, err)
		}
		r.Messages += len(answer.GetMessageExts())
		r.Calls++
		at, end = answer.NextBeginOffset, answer.MaxOffset
	}
	return r, nil
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
