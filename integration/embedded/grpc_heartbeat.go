// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// Heartbeat keeps a session alive. It needs one: without settings the answer is
// UNRECOGNIZED_CLIENT_TYPE. The group is checked anew each time.
func (p *proxy) Heartbeat(ctx context.Context, req *v2.HeartbeatRequest) (*v2.HeartbeatResponse, error) {
	return &v2.HeartbeatResponse{Status: statusOf(p.heartbeat(callerOf(ctx), req))}, nil
}

func (p *proxy) heartbeat(who caller, req *v2.HeartbeatRequest) error {
	s := p.session(who.id)
	if s == nil {
		return fault(v2.Code_UNRECOGNIZED_CLIENT_TYPE, "cannot find client settings for this client")
	}
	switch {
	case s.kind() == v2.ClientType_PRODUCER:
		if err := who.checkLanguage(); err != nil {
			return err
		}
	case p.isConsumer(s.kind()):
		group, err := p.b.checkGroup(req.GetGroup())
		if err != nil {
			return err
		}
		if err := who.checkLanguage(); err != nil {
			return err
		}
		if err := p.b.core.checkMode(group, p.isLite(s.kind())); err != nil {
			return err
		}
	default:
		return fault(v2.Code_UNRECOGNIZED_CLIENT_TYPE, "%s", s.kind())
	}
	p.keepAlive(s)
	return nil
}
