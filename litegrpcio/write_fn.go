// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/errgroup"

	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
	"github.com/rocketmq-beam/rocketmq-beam/internal/names"
)

func init() {
	register.DoFn4x1[context.Context, beam.EventTime, Message, func(beam.EventTime, WriteResult), error](&writeFn{})
	register.Emitter2[beam.EventTime, WriteResult]()
}

// writePrefix is the namespace of the sink's metrics.
const writePrefix = "rocketmq.litegrpcio.write"

var (
	sentCounter      = beam.NewCounter(writePrefix, "sent")
	retriedCounter   = beam.NewCounter(writePrefix, "retried")
	throttledCounter = beam.NewCounter(writePrefix, "throttled")
)

// writeFn buffers messages and sends a buffer when it is full and when the
// bundle ends.
type writeFn struct {
	Config writeConfig

	pending []pendingWrite
	bytes   int
}

type pendingWrite struct {
	message   Message
	eventTime beam.EventTime
	result    WriteResult
	throttled int
}

// How much a bundle buffers.
const (
	mostPending      = 512
	mostPendingBytes = 16 << 20
)

// StartBundle forgets what a failed bundle left behind.
func (fn *writeFn) StartBundle(context.Context, func(beam.EventTime, WriteResult)) error {
	fn.pending, fn.bytes = fn.pending[:0], 0
	return nil
}

// ProcessElement checks and buffers a message.
func (fn *writeFn) ProcessElement(ctx context.Context, et beam.EventTime, m Message, emit func(beam.EventTime, WriteResult)) error {
	if m.LiteTopic == "" {
		m.LiteTopic = fn.Config.LiteTopic
	}
	if err := names.CheckLiteTopic(m.LiteTopic); err != nil {
		return fmt.Errorf("litegrpcio.Write: a message with keys %q for topic %q: %w", m.Keys, fn.Config.Topic, err)
	}
	fn.pending = append(fn.pending, pendingWrite{message: m, eventTime: et})
	fn.bytes += len(m.Body)
	if len(fn.pending) < mostPending && fn.bytes < mostPendingBytes {
		return nil
	}
	return fn.flush(ctx, emit)
}

// FinishBundle returns when all is stored.
func (fn *writeFn) FinishBundle(ctx context.Context, emit func(beam.EventTime, WriteResult)) error {
	return fn.flush(ctx, emit)
}

// flush sends what is buffered: lite topics side by side, the messages of one
// in their order.
func (fn *writeFn) flush(ctx context.Context, emit func(beam.EventTime, WriteResult)) error {
	if len(fn.pending) == 0 {
		return nil
	}
	key, err := fn.Config.poolKey()
	if err != nil {
		return err
	}
	producer, release, err := producers.Acquire(ctx, key, func(ctx context.Context) (*litegrpc.Producer, error) {
		return openProducer(ctx, fn.Config)
	})
	if err != nil {
		return err
	}
	defer release()
	lanes := make(map[string][]*pendingWrite)
	for i := range fn.pending {
		p := &fn.pending[i]
		lanes[p.message.LiteTopic] = append(lanes[p.message.LiteTopic], p)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(fn.Config.MaxInFlight)
	for _, lane := range lanes {
		group.Go(func() error { return fn.sendLane(groupCtx, producer, lane) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, p := range fn.pending {
		emit(p.eventTime, p.result)
		retriedCounter.Inc(ctx, int64(p.result.Attempts-1))
		throttledCounter.Inc(ctx, int64(p.throttled))
	}
	sentCounter.Inc(ctx, int64(len(fn.pending)))
	fn.pending, fn.bytes = fn.pending[:0], 0
	return nil
}

func (fn *writeFn) sendLane(ctx context.Context, producer *litegrpc.Producer, lane []*pendingWrite) error {
	for _, p := range lane {
		if err := fn.send(ctx, producer, p); err != nil {
			return fmt.Errorf("litegrpcio.Write: message with keys %q, %d attempts: %w", p.message.Keys, p.result.Attempts, err)
		}
	}
	return nil
}

// longestThrottle bounds how long one message waits for a broker that asks to
// slow down.
const longestThrottle = 2 * time.Minute

// send sends one message until it is stored, its attempts are used up, or it
// turns out that it never can be. All tries bear the same id.
func (fn *writeFn) send(ctx context.Context, producer *litegrpc.Producer, p *pendingWrite) error {
	out := litegrpc.Outgoing{
		LiteTopic: p.message.LiteTopic, Body: p.message.Body, Keys: p.message.Keys, Tag: p.message.Tag,
		Properties: p.message.Properties, ID: producer.NewMessageID(),
	}
	sent, err := backoff.Retry(ctx, func() (litegrpc.Sent, error) {
		sent, err := producer.Send(ctx, out)
		if err != nil && litegrpc.ClassOf(err) == litegrpc.Throttled {
			p.throttled++
			return sent, err
		}
		p.result.Attempts++
		if err != nil && (litegrpc.ClassOf(err) == litegrpc.Permanent || p.result.Attempts >= fn.Config.MaxAttempts) {
			return sent, backoff.Permanent(err)
		}
		return sent, err
	}, backoff.WithBackOff(sendPauses()), backoff.WithMaxElapsedTime(longestThrottle))
	if err != nil {
		return err
	}
	p.result.LiteTopic, p.result.Keys = p.message.LiteTopic, p.message.Keys
	p.result.MessageID, p.result.Offset = sent.MessageID, sent.Offset
	return nil
}

func sendPauses() backoff.BackOff {
	return &backoff.ExponentialBackOff{InitialInterval: 50 * time.Millisecond, Multiplier: 2, RandomizationFactor: 0.3, MaxInterval: 5 * time.Second}
}
