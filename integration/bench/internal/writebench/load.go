// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package writebench writes messages to a normal topic: by the least programs
// that can, and by the whole Beam pipeline.
package writebench

import (
	"context"
	"fmt"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// Load is what a leg writes: Messages of Body bytes each, with a key and a tag.
type Load struct{ Messages, Body int }

const (
	tag       = "paid"
	producers = "bench-producers"
)

func keyOf(i int) string { return fmt.Sprint("order-", i) }

// Target is a topic to write to, with the client that the raw legs send with.
type Target struct {
	NameServers, Topic string

	client *remoting.Client
	queues []remoting.Queue
}

// Open finds the topic's queues.
func Open(ctx context.Context, nameServers, topic string) (*Target, error) {
	c, err := remoting.NewClient(remoting.Config{NameServers: nameServers, Timeout: 5 * time.Second})
	if err != nil {
		return nil, err
	}
	route, err := c.Route(ctx, topic)
	if err == nil && len(route.Writable()) == 0 {
		err = fmt.Errorf("topic %q has no queue that can be written to", topic)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return &Target{NameServers: nameServers, Topic: topic, client: c, queues: route.Writable()}, nil
}

// Close closes the client.
func (t *Target) Close() error { return t.client.Close() }

// holds is how many messages the topic holds.
func (t *Target) holds(ctx context.Context) (sum int, err error) {
	for _, q := range t.queues {
		end, err := t.client.MaxOffset(ctx, q)
		if err != nil {
			return 0, err
		}
		sum += int(end)
	}
	return sum, nil
}

// settled waits until the topic holds what it should, or stands still: a broker
// shows messages a moment after it has acknowledged them.
func (t *Target) settled(ctx context.Context, want int) (int, error) {
	const pause, patience = 50 * time.Millisecond, 3 * time.Second
	last, since := -1, time.Now()
	for {
		holds, err := t.holds(ctx)
		if err != nil || holds >= want {
			return holds, err
		}
		if holds != last {
			last, since = holds, time.Now()
		}
		if time.Since(since) > patience {
			return holds, nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return holds, context.Cause(ctx)
		}
	}
}
