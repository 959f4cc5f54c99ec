// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package readbench

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// pullSize is how many messages a pull asks for, on all sides. Brokers give no
// more unless they are told to.
const pullSize = 32

// group is the consumer group of all legs. None of them starts from what it has
// committed.
const group = "bench-readers"

// raw is the least program that reads: a loop of pulls for each queue, one pull
// under way at a time.
func raw(ctx context.Context, b *Backlog, t *tally) error {
	t.begin()
	c, err := newClient(b.NameServers)
	if err != nil {
		return err
	}
	defer c.Close()
	pulling, ctx := errgroup.WithContext(ctx)
	for i, q := range b.Queues {
		pulling.Go(func() error { return pullAll(ctx, c, q, b.Ends[i], t) })
	}
	return pulling.Wait()
}

func pullAll(ctx context.Context, c *remoting.Client, q remoting.Queue, end int64, t *tally) error {
	for at := int64(0); at < end; {
		r, err := c.Pull(ctx, remoting.PullRequest{Queue: q, Group: group, Offset: at, Max: pullSize})
		if err != nil {
			return err
		}
		n := 0
		for i := range r.Messages {
			m := &r.Messages[i]
			if m.Err != nil {
				return fmt.Errorf("message at offset %d of queue %d: %w", m.QueueOffset, q.ID, m.Err)
			}
			if t.mark(q.ID, m.QueueOffset) {
				n++
			}
		}
		t.call(n)
		if r.Next <= at {
			return fmt.Errorf("queue %d ends at offset %d, want %d", q.ID, r.Max, end)
		}
		at = r.Next
	}
	return nil
}
