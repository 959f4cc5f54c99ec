// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package tablebench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

const batchSize = 64 // messages in a send

// rowBody is a row of the script's tables with about so many bytes.
func rowBody(n, bytes int) []byte {
	head := fmt.Sprintf("%d\x01name-%d\x01", n, n)
	return append([]byte(head), strings.Repeat("x", max(bytes-len(head), 1))...)
}

func newClient(nameServers string) (*remoting.Client, error) {
	return remoting.NewClient(remoting.Config{NameServers: nameServers, Timeout: 10 * time.Second})
}

// Fill fills the source topic, which nobody used before, with rows, and returns how
// many it holds then.
func Fill(ctx context.Context, nameServers string, messages, body int) (int, error) {
	c, err := newClient(nameServers)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	route, err := c.Route(ctx, Source)
	if err != nil {
		return 0, err
	}
	queues := route.Writable()
	for at := 0; at < messages; at += batchSize {
		var batch []*remoting.OutMessage
		for n := at; n < min(at+batchSize, messages); n++ {
			batch = append(batch, &remoting.OutMessage{Body: rowBody(n, body)})
		}
		if err := send(ctx, c, queues[at/batchSize%len(queues)], batch); err != nil {
			return 0, fmt.Errorf("filling topic %s: %w", Source, err)
		}
	}
	return await(ctx, c, Source, messages)
}

// send tries again what a busy broker refused.
func send(ctx context.Context, c *remoting.Client, q remoting.Queue, batch []*remoting.OutMessage) error {
	for {
		_, err := c.SendBatch(ctx, q, "bench-producers", batch)
		if class := remoting.ClassOf(err); err == nil || class != remoting.Throttled && class != remoting.Transient || ctx.Err() != nil {
			return err
		}
		if err := rest(ctx); err != nil {
			return err
		}
	}
}

// count is how many messages a topic holds once it stands still.
func count(ctx context.Context, nameServers, topic string) (int, error) {
	c, err := newClient(nameServers)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	return await(ctx, c, topic, 1<<62)
}

// await waits until a topic holds so many messages or stands still: brokers show
// what they stored a moment later.
func await(ctx context.Context, c *remoting.Client, topic string, want int) (int, error) {
	route, err := c.Route(ctx, topic)
	if err != nil {
		return 0, err
	}
	const patience = time.Second
	last, since := -1, time.Now()
	for {
		n := 0
		for _, q := range route.Readable() {
			end, err := c.MaxOffset(ctx, q)
			if err != nil {
				return 0, err
			}
			n += int(end)
		}
		if n != last {
			last, since = n, time.Now()
		}
		if n >= want || time.Since(since) > patience {
			return n, nil
		}
		if err := rest(ctx); err != nil {
			return 0, err
		}
	}
}

func rest(ctx context.Context) error {
	t := time.NewTimer(50 * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
