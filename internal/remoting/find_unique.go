// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"fmt"
	"time"
)

// A broker's index has unique keys and other keys in one table, and answers a query
// by unique key with the last 32 messages of either (a message that has it as both
// counts twice). So a message can hide behind later ones that have its unique key as
// an ordinary key. An answer that is full therefore says nothing of what came before
// its first message, which is asked for next.

const (
	// mostUnique is how many messages a query by unique key brings (defaultQueryMaxNum).
	mostUnique = 32
	// indexUnit is how exactly the index knows when messages were stored: it may
	// have one as stored so much sooner.
	indexUnit = time.Second
	// scanGroup is RocketMQ's own group for looking at messages.
	scanGroup = "TOOLS_CONSUMER"
)

// uniqueAt finds the messages with a unique key at one broker.
func (c *Client) uniqueAt(ctx context.Context, op operation, q Query, broker string) ([]Message, error) {
	for {
		all, err := c.indexed(ctx, op, q, broker)
		if err != nil {
			return nil, err
		}
		if found := q.matching(all); len(found) > 0 || len(all) < mostUnique {
			return found, nil
		}
		first := firstStored(all)
		if q.Until.IsZero() || first.Before(q.Until) {
			q.Until = first
			continue
		}
		// The index tells no more of that second.
		found, err := c.scanFor(ctx, q, broker, first.Add(-indexUnit), first)
		if err != nil || len(found) > 0 {
			return found, err
		}
		q.Until = first.Add(-indexUnit)
	}
}

func firstStored(all []Message) (first time.Time) {
	for i := range all {
		if first.IsZero() || all[i].Stored.Before(first) {
			first = all[i].Stored
		}
	}
	return first
}

// scanFor looks for the key among the messages that were stored between two instants.
func (c *Client) scanFor(ctx context.Context, q Query, broker string, from, to time.Time) ([]Message, error) {
	route, err := c.route(ctx, c.topicField(q.Topic))
	if err != nil {
		return nil, err
	}
	var out []Message
	for _, queue := range route.Readable() {
		if queue.Broker != broker {
			continue
		}
		queue.Topic = q.Topic
		found, err := c.scanQueue(ctx, q, queue, from, to)
		if err != nil {
			return nil, fmt.Errorf("looking for unique key %q, which more than %d messages have as a key: %w", q.Key, mostUnique, err)
		}
		out = append(out, found...)
	}
	return out, nil
}

func (c *Client) scanQueue(ctx context.Context, q Query, queue Queue, from, to time.Time) (out []Message, err error) {
	at, err := c.OffsetByTime(ctx, queue, from)
	if err != nil {
		return nil, err
	}
	least, err := c.MinOffset(ctx, queue)
	if err != nil {
		return nil, err
	}
	at = max(at, least)
	for {
		got, err := c.Pull(ctx, PullRequest{Queue: queue, Group: scanGroup, Offset: at})
		if err != nil {
			return nil, err
		}
		out = append(out, q.matching(got.Messages)...)
		n := len(got.Messages)
		if got.Next <= at || got.Next >= got.Max || n > 0 && got.Messages[n-1].Stored.After(to) {
			return out, nil
		}
		at = got.Next
	}
}
