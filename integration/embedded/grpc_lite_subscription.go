// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// SyncLiteSubscription says which lite topics a client wants. For a group with
// the wildcard attribute COMPLETE_ADD means all, whatever it lists; for one
// without it an empty list means none, and is answered OK all the same.
func (p *proxy) SyncLiteSubscription(ctx context.Context, req *v2.SyncLiteSubscriptionRequest) (*v2.SyncLiteSubscriptionResponse, error) {
	return &v2.SyncLiteSubscriptionResponse{Status: statusOf(p.syncLite(callerOf(ctx), req))}, nil
}

func (p *proxy) syncLite(who caller, req *v2.SyncLiteSubscriptionRequest) error {
	topic, group, err := p.b.checkBoth(req.GetTopic(), req.GetGroup())
	if err != nil {
		return err
	}
	r := subscribeRequest{client: who.id, group: group, topic: topic}
	for seen, i := map[string]bool{}, 0; i < len(req.GetLiteTopicSet()); i++ {
		if l := req.GetLiteTopicSet()[i]; !seen[l] {
			seen[l] = true
			r.lites = append(r.lites, l)
		}
	}
	switch req.GetAction() {
	case v2.LiteSubscriptionAction_PARTIAL_ADD:
		for _, l := range r.lites {
			if err := checkLiteTopic(l); err != nil {
				return err
			}
		}
		r.action, r.offset = partialAdd, startOf(req.GetOffsetOption())
	case v2.LiteSubscriptionAction_PARTIAL_REMOVE:
		r.action = partialRemove
	case v2.LiteSubscriptionAction_COMPLETE_ADD:
		r.action = completeAdd
	case v2.LiteSubscriptionAction_COMPLETE_REMOVE:
		r.action = completeRemove
	default:
		return fault(v2.Code_INTERNAL_SERVER_ERROR, "unknown LiteSubscriptionAction: %s. IllegalArgumentException", req.GetAction())
	}
	return p.b.core.subscribe(r)
}

func startOf(o *v2.OffsetOption) *offsetOption {
	switch t := o.GetOffsetType().(type) {
	case *v2.OffsetOption_Policy_:
		return &offsetOption{min: t.Policy == v2.OffsetOption_MIN, max: t.Policy == v2.OffsetOption_MAX}
	case *v2.OffsetOption_Offset:
		return &offsetOption{offset: &t.Offset}
	case *v2.OffsetOption_TailN:
		return &offsetOption{tail: &t.TailN}
	}
	return nil // the broker ignores timestamps
}
