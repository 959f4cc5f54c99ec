// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"github.com/cenkalti/backoff/v5"
)

// route is where a topic lives.
type route struct {
	// readable has one queue for each broker that can be read from; writable
	// those that can be written to.
	readable, writable []*v2.MessageQueue
	// addresses are the proxies to talk to.
	addresses []Address
	// accepts are the message types of the topic.
	accepts []v2.MessageType
}

// queryRoute asks one proxy where topic lives.
func (l *link) queryRoute(ctx context.Context, topic string) (*route, error) {
	op := fmt.Sprintf("reading the route of topic %q at %s", topic, l.addr)
	endpoints := l.client.cfg.Endpoints
	answer, err := unary(ctx, l, op, &v2.QueryRouteRequest{Topic: l.client.resource(topic), Endpoints: endpoints.proto()},
		l.stub.QueryRoute, (*v2.QueryRouteResponse).GetStatus)
	if err != nil {
		return nil, err
	}
	r := newRoute(answer.GetMessageQueues(), endpoints)
	if len(r.addresses) == 0 {
		return nil, &Error{Op: op, Class: Transient, Err: errors.New("the route has no queues")}
	}
	return r, nil
}

// newRoute sorts the queues of an answer. Queues of one broker are alike to a
// lite client: receiving asks a broker, not a queue.
func newRoute(queues []*v2.MessageQueue, asked Endpoints) *route {
	r := &route{}
	seen := map[string]bool{}
	for _, q := range queues {
		broker := q.GetBroker()
		for _, a := range broker.GetEndpoints().GetAddresses() {
			r.addAddress(Address{Host: a.GetHost(), Port: int(a.GetPort())}, asked)
		}
		r.accepts = appendNew(r.accepts, q.GetAcceptMessageTypes()...)
		p := q.GetPermission()
		if name := "r/" + broker.GetName(); (p == v2.Permission_READ || p == v2.Permission_READ_WRITE) && !seen[name] {
			seen[name] = true
			r.readable = append(r.readable, q)
		}
		if name := "w/" + broker.GetName(); (p == v2.Permission_WRITE || p == v2.Permission_READ_WRITE) && !seen[name] {
			seen[name] = true
			r.writable = append(r.writable, q)
		}
	}
	return r
}

// addAddress adds a proxy of the route. In cluster mode a proxy answers with
// the host that it was asked for and its own port, which a port forward or a
// load balancer hides; so an address whose host is one of the endpoints asked
// stands for these, as they were given.
func (r *route) addAddress(a Address, asked Endpoints) {
	if !asked.hosts()[a.Host] {
		r.addresses = appendNew(r.addresses, a)
		return
	}
	for _, e := range asked {
		if e.Host == a.Host {
			r.addresses = appendNew(r.addresses, e)
		}
	}
}

func appendNew[T comparable](list []T, items ...T) []T {
	for _, x := range items {
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}

// findRoute asks the endpoints in turn until one knows the route. It returns
// the permanent error of one, else the last.
func (c *client) findRoute(ctx context.Context, topic string) (*route, error) {
	links, err := c.inTurn()
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		var r *route
		if r, err = l.queryRoute(ctx, topic); err == nil {
			return r, nil
		}
		if ClassOf(err) == Permanent {
			break
		}
	}
	return nil, err
}

// startRoute connects to the endpoints, finds the route of topic and connects
// to its proxies. What may pass is tried again until ctx ends; a topic created
// a moment ago, which the proxy does not know yet, twice.
func (c *client) startRoute(ctx context.Context, topic string) (*route, error) {
	if err := c.connect(c.cfg.Endpoints); err != nil {
		return nil, err
	}
	var last error
	missing := 0
	r, err := backoff.Retry(ctx, func() (*route, error) {
		r, err := c.findRoute(ctx, topic)
		if err == nil {
			return r, nil
		}
		last = err
		if isMissing(err) {
			missing++
		}
		if ClassOf(err) == Permanent && (!isMissing(err) || missing > 2) {
			return nil, backoff.Permanent(err)
		}
		return nil, err
	}, backoff.WithBackOff(startPauses()), backoff.WithMaxElapsedTime(0))
	if err != nil && ctx.Err() != nil && last != nil {
		return nil, notReady(last, err)
	}
	if err != nil {
		return nil, err
	}
	return r, c.connect(r.addresses)
}

func startPauses() backoff.BackOff {
	return &backoff.ExponentialBackOff{InitialInterval: firstPause, Multiplier: 2, RandomizationFactor: 0.2, MaxInterval: time.Second}
}

func isMissing(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == v2.Code_TOPIC_NOT_FOUND
}
