// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"errors"
	"fmt"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

// Acknowledger is a session on which messages can be acknowledged and deferred:
// [Acker] and [Consumer].
type Acknowledger interface {
	// Ack acknowledges deliveries in one request and returns one error a handle,
	// nil for those that the broker took.
	Ack(ctx context.Context, topic string, handles []coders.ReceiptHandle) []error
	// ChangeInvisible makes a message visible again after d from now and returns
	// the handle to use from then on.
	ChangeInvisible(ctx context.Context, h coders.ReceiptHandle, d Deferral) (coders.ReceiptHandle, error)
}

// Ack acknowledges deliveries of one topic in one request and returns one error
// a handle, in their order; nil means that the broker took it. The status of
// the answer as a whole proves nothing: each entry has its own, and an entry
// that the broker left out is an error.
func (a *Acker) Ack(ctx context.Context, topic string, handles []coders.ReceiptHandle) []error {
	return a.client.ack(ctx, a.cfg.Group, topic, handles)
}

// Ack is [Acker.Ack] on the session of a consumer.
func (c *Consumer) Ack(ctx context.Context, topic string, handles []coders.ReceiptHandle) []error {
	return c.client.ack(ctx, c.cfg.Group, topic, handles)
}

func (c *client) ack(ctx context.Context, group, topic string, handles []coders.ReceiptHandle) []error {
	errs := make([]error, len(handles))
	request := &v2.AckMessageRequest{Group: c.resource(group), Topic: c.resource(topic)}
	position := make(map[string]int, len(handles)) // receipt handle → index
	for i := range handles {
		h := &handles[i]
		if h.LiteTopic == "" {
			errs[i] = &Error{Op: ackOp(*h), Class: Permanent, Err: errNoLiteTopic}
			continue
		}
		if _, twice := position[h.Handle]; twice {
			continue // asked once, answered for both below
		}
		position[h.Handle] = i
		request.Entries = append(request.Entries, &v2.AckMessageEntry{
			MessageId: h.MessageID, ReceiptHandle: h.Handle, LiteTopic: &h.LiteTopic,
		})
	}
	if len(request.Entries) > 0 {
		c.sendAck(ctx, request, handles, position, errs)
	}
	for i, h := range handles {
		if first, ok := position[h.Handle]; ok && first != i && errs[i] == nil {
			errs[i] = errs[first]
		}
	}
	return errs
}

func (c *client) sendAck(ctx context.Context, request *v2.AckMessageRequest, handles []coders.ReceiptHandle, position map[string]int, errs []error) {
	all := func(err error) {
		for _, i := range position {
			errs[i] = err
		}
	}
	pickCtx, cancel := context.WithTimeout(ctx, c.cfg.RequestTimeout)
	l, err := c.pick(pickCtx)
	cancel()
	if err != nil {
		all(err)
		return
	}
	op := fmt.Sprintf("acking %d messages of topic %q for group %q at %s", len(request.Entries), request.GetTopic().GetName(), request.GetGroup().GetName(), l.addr)
	answer, err := unary(ctx, l, op, request, l.stub.AckMessage, ackStatus)
	if err != nil {
		all(ofKnownName(err))
		return
	}
	heard := make([]bool, len(handles))
	for _, e := range answer.GetEntries() {
		i, asked := position[e.GetReceiptHandle()]
		if !asked {
			continue
		}
		heard[i] = true
		if e.GetStatus().GetCode() != v2.Code_OK {
			errs[i] = ofKnownName(answered(ackOp(handles[i]), e.GetStatus()))
		}
	}
	for _, i := range position {
		if heard[i] {
			continue
		}
		errs[i] = &Error{Op: ackOp(handles[i]), Class: Transient, Err: errors.New("the proxy's answer left it out")}
	}
}

// ackStatus is the status of a whole answer, as far as it says something of its
// own: with entries, each of these speaks for itself.
func ackStatus(r *v2.AckMessageResponse) *v2.Status {
	if len(r.GetEntries()) > 0 {
		return &v2.Status{Code: v2.Code_OK}
	}
	return r.GetStatus()
}

func ackOp(h coders.ReceiptHandle) string { return "acking " + h.String() }
