// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package readbench reads the messages of a normal topic: by the least program
// that can, by the whole Beam pipeline, and by what tells the two apart.
package readbench

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// Load is what a topic is filled with: Messages of Body bytes, in equal parts.
type Load struct{ Messages, Body int }

// Backlog is a filled topic. Reading takes nothing out of it, so that all legs
// read the same one.
type Backlog struct {
	NameServers, Topic string
	Queues             []remoting.Queue
	// Ends are the offsets behind the last messages, in the order of the queues.
	// The first messages have offset 0.
	Ends []int64
}

const (
	batchSize   = 64 // messages in a send
	fillTimeout = 10 * time.Minute
	producers   = "bench-producers"
)

// Fill fills a topic that nobody used before and waits until all of it can be
// read.
func Fill(ctx context.Context, nameServers, topic string, load Load) (*Backlog, error) {
	ctx, cancel := context.WithTimeout(ctx, fillTimeout)
	defer cancel()
	c, err := newClient(nameServers)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	route, err := c.Route(ctx, topic)
	if err != nil {
		return nil, err
	}
	b := &Backlog{NameServers: nameServers, Topic: topic, Queues: route.Writable()}
	if len(b.Queues) == 0 {
		return nil, fmt.Errorf("topic %q has no queue that can be written to", topic)
	}
	each := int64((load.Messages + len(b.Queues) - 1) / len(b.Queues))
	filling, stop := errgroup.WithContext(ctx)
	b.Ends = make([]int64, len(b.Queues))
	for i, q := range b.Queues {
		filling.Go(func() (err error) {
			b.Ends[i], err = fillQueue(stop, c, q, each, load.Body)
			return err
		})
	}
	if err := filling.Wait(); err != nil {
		return nil, fmt.Errorf("filling topic %q: %w", topic, err)
	}
	return b, nil
}

func newClient(nameServers string) (*remoting.Client, error) {
	return remoting.NewClient(remoting.Config{NameServers: nameServers, Timeout: 10 * time.Second})
}

// fillQueue sends batches until the queue holds as many as it should. A batch
// whose answer was lost may be there: what counts is the broker's own number.
func fillQueue(ctx context.Context, c *remoting.Client, q remoting.Queue, want int64, body int) (end int64, err error) {
	data := make([]byte, body)
	for end < want {
		for at := end; at < want; at += batchSize {
			var batch []*remoting.OutMessage
			for n := at; n < min(at+batchSize, want); n++ {
				batch = append(batch, &remoting.OutMessage{Body: data, Properties: remoting.PropertiesOf(
					remoting.PropertyKeys, fmt.Sprintf("order-%d-%d", q.ID, n), remoting.PropertyTags, "paid",
				)})
			}
			if err := send(ctx, c, q, batch); err != nil {
				return 0, err
			}
		}
		if end, err = settled(ctx, c, q, want); err != nil {
			return 0, err
		}
	}
	return end, nil
}

// send tries again what a busy broker refused.
func send(ctx context.Context, c *remoting.Client, q remoting.Queue, batch []*remoting.OutMessage) error {
	const pause = 50 * time.Millisecond
	for {
		_, err := c.SendBatch(ctx, q, producers, batch)
		if class := remoting.ClassOf(err); err == nil || class != remoting.Throttled && class != remoting.Transient || ctx.Err() != nil {
			return err
		}
		if err := rest(ctx, pause); err != nil {
			return err
		}
	}
}

// settled waits until the queue shows what was sent, or stands still.
func settled(ctx context.Context, c *remoting.Client, q remoting.Queue, want int64) (int64, error) {
	const pause, patience = 50 * time.Millisecond, 5 * time.Second
	last, since := int64(-1), time.Now()
	for {
		end, err := c.MaxOffset(ctx, q)
		if err != nil || end >= want {
			return end, err
		}
		if end != last {
			last, since = end, time.Now()
		}
		if time.Since(since) > patience {
			return end, nil
		}
		if err := rest(ctx, pause); err != nil {
			return 0, err
		}
	}
}

func rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Open finds a topic that was filled before.
func Open(ctx context.Context, nameServers, topic string) (*Backlog, error) {
	c, err := newClient(nameServers)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	route, err := c.Route(ctx, topic)
	if err != nil {
		return nil, err
	}
	b := &Backlog{NameServers: nameServers, Topic: topic, Queues: route.Readable()}
	for _, q := range b.Queues {
		end, err := c.MaxOffset(ctx, q)
		if err != nil {
			return nil, err
		}
		b.Ends = append(b.Ends, end)
	}
	return b, nil
}

// Messages is how many the backlog holds.
func (b *Backlog) Messages() (n int) {
	for _, end := range b.Ends {
		n += int(end)
	}
	return n
}
