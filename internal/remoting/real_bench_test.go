// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	. "github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// BenchmarkRealPull reads a topic of four queues with four goroutines, over
// one connection.
func BenchmarkRealPull(b *testing.B) {
	c, queues := realTopic(b, 4, realmq.Normal)
	group := realGroup(b, c)
	const each = 25_600
	fill(b, c, queues, each)
	ctx := background(b)
	var messages atomic.Int64
	for b.Loop() {
		var wg sync.WaitGroup
		for _, q := range queues {
			wg.Go(func() {
				for at := int64(0); at < each; {
					r, err := c.Pull(ctx, PullRequest{Queue: q, Group: group, Offset: at})
					if err != nil {
						b.Error(err)
						return
					}
					messages.Add(int64(len(r.Messages)))
					at = r.Next
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(messages.Load())/b.Elapsed().Seconds(), "msg/s")
}

// fill writes messages of 1 KiB to each queue, and prints how fast.
func fill(b *testing.B, c *Client, queues []Queue, each int) {
	at := time.Now()
	var wg sync.WaitGroup
	for _, q := range queues {
		wg.Go(func() {
			var batch []*OutMessage
			for i := range 64 {
				batch = append(batch, &OutMessage{Body: make([]byte, 1024), Properties: PropertiesOf(PropertyKeys, fmt.Sprint(i))})
			}
			for n := 0; n < each; n += len(batch) {
				if _, err := c.SendBatch(background(b), q, "producers", batch); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	total := each * len(queues)
	b.Logf("sent %d messages in batches of 64 by %d goroutines: %.0f msg/s", total, len(queues), float64(total)/time.Since(at).Seconds())
	eventually(b, "all can be read", func() bool {
		for _, q := range queues {
			if n, err := c.MaxOffset(background(b), q); n < int64(each) || err != nil {
				return false
			}
		}
		return true
	})
}
