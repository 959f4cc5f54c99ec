// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// ChangeInvisibleDuration gives a message a new deadline and answers with a new
// handle. It needs a session of the client, of any kind.
func (p *proxy) ChangeInvisibleDuration(ctx context.Context, req *v2.ChangeInvisibleDurationRequest) (*v2.ChangeInvisibleDurationResponse, error) {
	h, err := p.changeInvisible(callerOf(ctx), req)
	if err != nil {
		return &v2.ChangeInvisibleDurationResponse{Status: statusOf(err)}, nil
	}
	return &v2.ChangeInvisibleDurationResponse{Status: okStatus(), ReceiptHandle: h}, nil
}

func (p *proxy) changeInvisible(who caller, req *v2.ChangeInvisibleDurationRequest) (string, error) {
	topic, group, err := p.b.checkBoth(req.GetTopic(), req.GetGroup())
	if err != nil {
		return "", err
	}
	d := req.GetInvisibleDuration().AsDuration()
	if err := checkInvisible(d, 0); err != nil {
		return "", err
	}
	h, err := parseHandle(req.GetReceiptHandle())
	if err != nil {
		return "", err
	}
	if p.session(who.id) == nil {
		return "", nullPointer("io.netty.channel.Channel.id()", "this.channel", frameOfChannel)
	}
	return p.b.core.change(liteAck{group: group, topic: topic, lite: req.GetLiteTopic(), handle: h}, d, req.GetSuspend())
}
