// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// AckMessage acknowledges messages one by one; each entry has a status of its
// own. It needs no session. A lite message needs its lite topic in the entry.
func (p *proxy) AckMessage(_ context.Context, req *v2.AckMessageRequest) (*v2.AckMessageResponse, error) {
	topic, group, err := p.b.checkBoth(req.GetTopic(), req.GetGroup())
	if err != nil {
		return &v2.AckMessageResponse{Status: statusOf(err)}, nil
	}
	if len(req.GetEntries()) == 0 {
		return &v2.AckMessageResponse{Status: statusOf(fault(v2.Code_INTERNAL_SERVER_ERROR, "ack message result is empty"))}, nil
	}
	failed := p.b.faults.takeAckFailures(len(req.GetEntries()))
	res := &v2.AckMessageResponse{}
	for i, e := range req.GetEntries() {
		st, bad := failed[i]
		if bad {
			p.b.core.log.Info("ack entry failed on request", "entry", i, "code", st.GetCode().String())
		} else {
			st = statusOf(p.ackEntry(topic, group, e))
		}
		res.Entries = append(res.Entries, &v2.AckMessageResultEntry{
			MessageId: e.GetMessageId(), ReceiptHandle: e.GetReceiptHandle(), Status: st,
		})
	}
	res.Status = summary(res.Entries)
	return res, nil
}

func (p *proxy) ackEntry(topic, group string, e *v2.AckMessageEntry) error {
	h, err := parseHandle(e.GetReceiptHandle())
	if err != nil {
		return err
	}
	return p.b.core.ack(liteAck{group: group, topic: topic, lite: e.GetLiteTopic(), handle: h})
}

// summary is the status of the whole answer: that of all entries if they agree.
func summary(entries []*v2.AckMessageResultEntry) *v2.Status {
	code := entries[0].GetStatus().GetCode()
	for _, e := range entries {
		if e.GetStatus().GetCode() != code {
			code = v2.Code_MULTIPLE_RESULTS
			break
		}
	}
	return &v2.Status{Code: code, Message: code.String()}
}
