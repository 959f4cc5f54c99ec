// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"errors"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

// Deferral says how a lease is changed.
type Deferral struct {
	// For is how long the message stays invisible, from now.
	For time.Duration
	// Suspend asks the broker not to count the next delivery as an attempt.
	// Brokers before 5.5 ignore it. 5.5.0 applies it to all messages of the lite
	// topic that were received in the same batch: each gets this duration in
	// place of its own, and one attempt back.
	Suspend bool
}

// MaxInvisibleDuration is the longest lease that a broker grants; beyond, it
// answers ILLEGAL_INVISIBLE_TIME.
const MaxInvisibleDuration = 12 * time.Hour

// ChangeInvisible asks the broker to deliver the message again after d.For, and
// returns the handle with which it can be acknowledged or deferred until then.
// On an error the old handle is returned: the broker may or may not have
// changed the lease.
func (a *Acker) ChangeInvisible(ctx context.Context, h coders.ReceiptHandle, d Deferral) (coders.ReceiptHandle, error) {
	return a.client.changeInvisible(ctx, a.cfg.Group, h, d)
}

// ChangeInvisible is [Acker.ChangeInvisible] on the session of a consumer.
func (c *Consumer) ChangeInvisible(ctx context.Context, h coders.ReceiptHandle, d Deferral) (coders.ReceiptHandle, error) {
	return c.client.changeInvisible(ctx, c.cfg.Group, h, d)
}

func (c *client) changeInvisible(ctx context.Context, group string, h coders.ReceiptHandle, d Deferral) (coders.ReceiptHandle, error) {
	op := "changing the invisible duration of " + h.String()
	if h.LiteTopic == "" {
		return h, &Error{Op: op, Class: Permanent, Err: errNoLiteTopic}
	}
	pickCtx, cancel := context.WithTimeout(ctx, c.cfg.RequestTimeout)
	l, err := c.pick(pickCtx) // unlike an ack, this call needs a session
	cancel()
	if err != nil {
		return h, err
	}
	request := &v2.ChangeInvisibleDurationRequest{
		Group: c.resource(group), Topic: c.resource(h.Topic), ReceiptHandle: h.Handle, MessageId: h.MessageID,
		LiteTopic: &h.LiteTopic, InvisibleDuration: durationpb.New(d.For),
	}
	if d.Suspend {
		request.Suspend = &d.Suspend
	}
	asked := time.Now()
	answer, err := unary(ctx, l, op, request, l.stub.ChangeInvisibleDuration, (*v2.ChangeInvisibleDurationResponse).GetStatus)
	if err != nil {
		return h, ofKnownName(err)
	}
	if answer.GetReceiptHandle() == "" {
		return h, &Error{Op: op, Class: Transient, Err: errors.New("the answer holds no new handle")}
	}
	h.Handle, h.InvisibleUntil = answer.GetReceiptHandle(), asked.Add(d.For)
	return h, nil
}
