// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"sync"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// goodbyeTimeout bounds the farewell: a proxy that does not answer finds out by
// itself later.
const goodbyeTimeout = time.Second

// sayGoodbye tells the proxies that the client leaves (NotifyClientTermination),
// so that they do not keep messages for it until its heartbeats are missed.
// Best effort: what goes wrong here only makes that time longer.
func (c *client) sayGoodbye(ctx context.Context, links []*link) {
	ctx, cancel := context.WithTimeout(ctx, goodbyeTimeout)
	defer cancel()
	var wg sync.WaitGroup
	for _, l := range links {
		if ready, _, _ := l.state(); !ready {
			continue
		}
		wg.Go(func() { l.leave(ctx) })
	}
	wg.Wait()
}

// leave says goodbye to one proxy.
func (l *link) leave(ctx context.Context) {
	_, err := unary(ctx, l, "leaving "+l.addr.String(), &v2.NotifyClientTerminationRequest{Group: l.client.role.terminating()},
		l.stub.NotifyClientTermination, (*v2.NotifyClientTerminationResponse).GetStatus)
	if err != nil {
		l.log.Debug("leaving", "error", err)
	}
}

// giveUp leaves a proxy that knows the session, for it did not get ready: the next
// one is somebody else. Also when the client is closing, which does so for those that
// are ready.
func (l *link) giveUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbyeTimeout)
	defer cancel()
	l.leave(ctx)
}
