// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"fmt"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// sendHeartbeat keeps the client registered at one proxy. A proxy that lost the
// client's settings answers UNRECOGNIZED_CLIENT_TYPE.
func (l *link) sendHeartbeat(ctx context.Context, group *v2.Resource, kind v2.ClientType) error {
	_, err := unary(ctx, l, fmt.Sprintf("heartbeat of group %q at %s", group.GetName(), l.addr),
		&v2.HeartbeatRequest{Group: group, ClientType: kind}, l.stub.Heartbeat, (*v2.HeartbeatResponse).GetStatus)
	return err
}
