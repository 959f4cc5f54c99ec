// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"context"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/beamlog"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
	"github.com/rocketmq-beam/rocketmq-beam/internal/pool"
)

// route is what decides over which session a handle goes: the routing triple,
// and the main topic, which a session must name to the proxy. A lite group is
// bound to one topic, so there is one session a triple.
type route struct {
	endpoints, namespace, group, topic string
}

func routeOf(h *coders.ReceiptHandle) route {
	return route{h.Endpoints, h.Namespace, h.ConsumerGroup, h.Topic}
}

// sessionKey is all that two callers must agree on to share a session.
type sessionKey struct {
	route
	credentials    auth.Source
	tls            auth.TLS
	requestTimeout time.Duration
}

// sessionIdle is how long a session that nobody uses stays open. It is longer
// than the usual pause between two bundles of a stream, and short enough not to
// keep a worker's connections when a pipeline has ended.
const sessionIdle = 30 * time.Second

// sessions are shared by all bundles of the process.
var sessions = pool.New[sessionKey](
	func(*litegrpc.Acker) time.Duration { return sessionIdle },
	func(a *litegrpc.Acker) { a.Close(context.Background()) },
)

// session returns the session of r, opened if there is none, and a function to
// give it back. It is held during one request only: a bundle that fails never
// calls FinishBundle and could not give it back.
func (s *settings) session(ctx context.Context, r route) (litegrpc.Acknowledger, func(), error) {
	key := sessionKey{route: r, credentials: s.Credentials, tls: s.TLS, requestTimeout: s.RequestTimeout}
	a, hold, err := sessions.Acquire(ctx, key, func(ctx context.Context) (*litegrpc.Acker, error) { return openSession(ctx, key) })
	if err != nil {
		return nil, nil, err
	}
	return a, hold.Release, nil
}

func openSession(ctx context.Context, key sessionKey) (*litegrpc.Acker, error) {
	endpoints, err := litegrpc.ParseEndpoints(key.endpoints)
	if err != nil {
		return nil, &litegrpc.Error{Op: "opening a session", Class: litegrpc.Permanent, Err: err, Hint: "the handle's endpoints are those of the source"}
	}
	return litegrpc.NewAcker(ctx, litegrpc.AckerConfig{
		Config: litegrpc.Config{
			Endpoints: endpoints, Namespace: key.namespace, Credentials: key.credentials.Provider(key.endpoints),
			TLS: key.tls, RequestTimeout: key.requestTimeout, Logger: beamlog.Logger("rocketmq.ackfn"),
		},
		Group: key.group, Topic: key.topic,
	})
}
