// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

// MinInvisibleDuration is the shortest lease that a proxy grants on receiving.
const MinInvisibleDuration = 10 * time.Second

// MinAwaitDuration is the shortest long poll: a proxy waits so long even if
// asked for less, and refuses a request whose deadline is sooner.
const MinAwaitDuration = 5 * time.Second

// Batch is what one long poll brought.
type Batch struct {
	// Messages were leased to this client; each must be acknowledged or
	// deferred, or it comes back.
	Messages []coders.AckableMessage
	// Corrupt are deliveries whose body did not match its checksum or could not
	// be decompressed, and those without a receipt handle or lite topic. Nothing
	// was done about them: they come back.
	Corrupt []Corrupt
}

// Corrupt is a delivery that cannot be used.
type Corrupt struct {
	Handle coders.ReceiptHandle
	Err    error
}

// Receive asks one broker for up to most messages, for as long as await, and
// leases them for invisible. An empty batch without an error means that there
// was nothing. A batch may come together with an error: these messages are
// leased and must not be thrown away. Cancelling ctx ends the call at once;
// messages that the proxy was about to send then come back when their lease
// ends. Calls in turn ask all brokers and use all proxies.
func (c *Consumer) Receive(ctx context.Context, most int, invisible, await time.Duration) (Batch, error) {
	pickCtx, cancel := context.WithTimeout(ctx, c.client.cfg.RequestTimeout)
	l, err := c.client.pick(pickCtx)
	cancel()
	if err != nil {
		return Batch{}, err
	}
	queue := c.nextQueue()
	op := fmt.Sprintf("receiving from topic %q for group %q at %s", c.cfg.Topic, c.cfg.Group, l.addr)
	await = max(await, MinAwaitDuration)
	ctx, cancel = context.WithTimeout(ctx, await+c.client.cfg.RequestTimeout)
	defer cancel()
	signed, err := l.sign(ctx)
	if err != nil {
		return Batch{}, failed(op, err)
	}
	stream, err := l.stub.ReceiveMessage(signed, c.receiveRequest(queue, most, invisible, await))
	if err != nil {
		return Batch{}, l.judge(failed(op, err))
	}
	batch, err := c.drain(stream, op, most, invisible)
	return batch, ofKnownName(l.judge(err))
}

// nextQueue takes the brokers in turn, and shifts the turn after each round of
// proxies: else, with as many of the one as of the other, each proxy would be
// asked for one broker only.
func (c *Consumer) nextQueue() *v2.MessageQueue {
	route := c.route.Load()
	n := c.turn.Add(1)
	n += n / uint64(len(route.addresses))
	return route.readable[n%uint64(len(route.readable))]
}

// receiveRequest asks a broker for messages of any lite topic (queue id -1).
// The attempt id would let the proxy repeat a lost answer; each poll has its
// own, because a lost answer is better left to the end of its lease than
// mistaken for another poll's.
func (c *Consumer) receiveRequest(queue *v2.MessageQueue, most int, invisible, await time.Duration) *v2.ReceiveMessageRequest {
	attempt := uuid.NewString()
	return &v2.ReceiveMessageRequest{
		Group: c.client.resource(c.cfg.Group),
		MessageQueue: &v2.MessageQueue{
			Topic: c.client.resource(c.cfg.Topic), Id: -1, Permission: v2.Permission_READ, Broker: queue.GetBroker(),
		},
		FilterExpression:   everything(),
		BatchSize:          int32(most),
		InvisibleDuration:  durationpb.New(invisible),
		AutoRenew:          false, // the handle would be the proxy's and die with it
		LongPollingTimeout: durationpb.New(await),
		AttemptId:          &attempt,
	}
}

// drain reads the stream to its end and keeps what came before an error.
func (c *Consumer) drain(stream v2.MessagingService_ReceiveMessageClient, op string, most int, invisible time.Duration) (Batch, error) {
	var batch Batch
	var verdict error
	for {
		answer, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return batch, verdict
		}
		if err != nil {
			return batch, failed(op, err)
		}
		if s := answer.GetStatus(); s != nil && s.GetCode() != v2.Code_MESSAGE_NOT_FOUND {
			verdict = answered(op, s)
		}
		if m := answer.GetMessage(); m != nil {
			if batch.Messages == nil {
				batch.Messages = make([]coders.AckableMessage, 0, most)
			}
			c.take(&batch, m, time.Now().Add(invisible))
		}
	}
}

func (c *Consumer) take(batch *Batch, m *v2.Message, until time.Time) {
	out := coders.AckableMessage{Handle: c.handleOf(m, until)}
	if err := fillMessage(&out, m); err != nil {
		batch.Corrupt = append(batch.Corrupt, Corrupt{Handle: out.Handle, Err: err})
		return
	}
	batch.Messages = append(batch.Messages, out)
}

func (c *Consumer) handleOf(m *v2.Message, until time.Time) coders.ReceiptHandle {
	p := m.GetSystemProperties()
	if d := p.GetInvisibleDuration().AsDuration(); d > 0 && d <= MaxInvisibleDuration {
		until = time.Now().Add(d) // what was granted, where the proxy says it; no broker grants more
	}
	return coders.ReceiptHandle{
		Endpoints: c.endpoints, Namespace: c.cfg.Namespace, ConsumerGroup: c.cfg.Group,
		Topic: c.cfg.Topic, LiteTopic: p.GetLiteTopic(), MessageID: p.GetMessageId(),
		Handle: p.GetReceiptHandle(), DeliveryAttempt: max(p.GetDeliveryAttempt(), 1), InvisibleUntil: until,
	}
}
