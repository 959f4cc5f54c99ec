// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// NotifyClientTermination ends a session, and with it a lite subscription. What
// the client still holds stays invisible until its time is up.
func (p *proxy) NotifyClientTermination(ctx context.Context, req *v2.NotifyClientTerminationRequest) (*v2.NotifyClientTerminationResponse, error) {
	return &v2.NotifyClientTerminationResponse{Status: statusOf(p.terminate(callerOf(ctx), req))}, nil
}

func (p *proxy) terminate(who caller, req *v2.NotifyClientTerminationRequest) error {
	if err := who.checkLanguage(); err != nil {
		return err
	}
	s := p.takeSession(who.id)
	if s == nil {
		return fault(v2.Code_UNRECOGNIZED_CLIENT_TYPE, "cannot find client settings for this client")
	}
	switch {
	case s.kind() == v2.ClientType_PRODUCER:
		return nil
	case p.isConsumer(s.kind()):
		if _, err := p.b.checkGroup(req.GetGroup()); err != nil {
			return err
		}
		if p.isLite(s.kind()) {
			p.b.core.goOffline(who.id)
		}
		return nil
	}
	return fault(v2.Code_UNRECOGNIZED_CLIENT_TYPE, "%s", s.kind())
}
