// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package writebench

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// batchSize is how many messages a raw batch holds: as many as the pipeline's.
const batchSize = 64

// raw is the least program that writes: inFlight senders, each with one request
// of size messages under way, and no second try. It says how many messages were
// not acknowledged.
func (t *Target) raw(ctx context.Context, load Load, size, inFlight int) (failed int) {
	body := make([]byte, load.Body)
	var next, lost atomic.Int64
	var senders sync.WaitGroup
	for range min(inFlight, (load.Messages+size-1)/size) {
		senders.Go(func() {
			for ctx.Err() == nil {
				from := int(next.Add(int64(size))) - size
				if from >= load.Messages {
					return
				}
				to := min(from+size, load.Messages)
				if err := t.send(ctx, t.queues[from/size%len(t.queues)], from, to, body); err != nil {
					lost.Add(int64(to - from))
				}
			}
		})
	}
	senders.Wait()
	return int(lost.Load())
}

func (t *Target) send(ctx context.Context, q remoting.Queue, from, to int, body []byte) error {
	batch := make([]*remoting.OutMessage, 0, to-from)
	for i := from; i < to; i++ {
		batch = append(batch, &remoting.OutMessage{Body: body, Properties: remoting.PropertiesOf(
			remoting.PropertyKeys, keyOf(i), remoting.PropertyTags, tag,
		)})
	}
	if len(batch) == 1 {
		_, err := t.client.SendV2(ctx, q, producers, batch[0])
		return err
	}
	_, err := t.client.SendBatch(ctx, q, producers, batch)
	return err
}
