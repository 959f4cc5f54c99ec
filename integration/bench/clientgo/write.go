// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
)

// runWrite sends messages asynchronously, one a request, and counts those that
// were not stored. numbers are messages, bytes of a body and requests in flight.
func runWrite(nameServer, topic string, numbers []string) error {
	var n [3]int
	for i, text := range numbers {
		var err error
		if n[i], err = strconv.Atoi(text); err != nil {
			return err
		}
	}
	messages, body, inFlight := n[0], n[1], n[2]
	p, err := rocketmq.NewProducer(producer.WithGroupName("bench-client-go"),
		producer.WithNsResolver(primitive.NewPassthroughResolver([]string{nameServer})))
	if err != nil {
		return err
	}
	if err := p.Start(); err != nil {
		return err
	}
	began, cpu := time.Now(), cpuTime()
	failed := sendAll(p, topic, messages, make([]byte, body), inFlight)
	sum := result{Messages: messages, Calls: messages, Failed: failed, Seconds: time.Since(began).Seconds(), CPUSeconds: (cpuTime() - cpu).Seconds()}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	sum.Allocations, sum.Bytes = m.Mallocs, m.TotalAlloc
	return json.NewEncoder(os.Stdout).Encode(sum)
}

func sendAll(p rocketmq.Producer, topic string, messages int, body []byte, inFlight int) int {
	var failed atomic.Int64
	var pending sync.WaitGroup
	slots := make(chan struct{}, inFlight)
	for i := range messages {
		slots <- struct{}{}
		pending.Add(1)
		done := func() { <-slots; pending.Done() }
		m := primitive.NewMessage(topic, body).WithTag("paid").WithKeys([]string{fmt.Sprint("order-", i)})
		err := p.SendAsync(context.Background(), func(_ context.Context, r *primitive.SendResult, err error) {
			if err != nil || r == nil {
				failed.Add(1)
			}
			done()
		}, m)
		if err != nil {
			failed.Add(1)
			done()
		}
	}
	pending.Wait()
	return int(failed.Load())
}
