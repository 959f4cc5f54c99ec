// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// ForwardMessageToDeadLetterQueue sends a message to the dead letters of its
// group at once and acknowledges it.
func (p *proxy) ForwardMessageToDeadLetterQueue(ctx context.Context, req *v2.ForwardMessageToDeadLetterQueueRequest) (*v2.ForwardMessageToDeadLetterQueueResponse, error) {
	st := statusOf(p.forward(callerOf(ctx), req))
	if st.GetCode() == v2.Code_OK {
		st.Message = "0" // the broker's answer has no text, so the proxy takes its number
	}
	return &v2.ForwardMessageToDeadLetterQueueResponse{Status: st}, nil
}

func (p *proxy) forward(who caller, req *v2.ForwardMessageToDeadLetterQueueRequest) error {
	topic, group, err := p.b.checkBoth(req.GetTopic(), req.GetGroup())
	if err != nil {
		return err
	}
	if p.session(who.id) == nil {
		return nullPointer("io.netty.channel.Channel.id()", "this.channel", frameOfChannel)
	}
	h, err := parseHandle(req.GetReceiptHandle())
	if err != nil {
		return err
	}
	a := liteAck{group: group, topic: topic, lite: req.GetLiteTopic(), handle: h}
	if err := p.b.core.forward(a); err != nil {
		return err
	}
	_ = p.b.core.ack(a) // the proxy does not wait for this one
	return nil
}

func (c *core) forward(a liteAck) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.notify()
	cur := c.cursorOf(a)
	if cur == nil {
		return refuse(reasonInternal, "look message by offset failed, %d", a.handle.commitLog)
	}
	rec := cur.record(a.handle.offset)
	if rec == nil {
		return refuse(reasonInternal, "look message by offset failed, %d", a.handle.commitLog)
	}
	c.deadLetter(rec, cur.group)
	return nil
}
