// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// routeEntry is what the client knows of one topic's route. The client's lock
// guards it.
type routeEntry struct {
	route *Route
	at    time.Time // when it was read
	tried time.Time // when a reading last ended
	doubt bool      // a broker of it could not be reached, or was not in it
	fetch *routeFetch
}

// routeFetch is a reading under way. All who want it wait for the same.
type routeFetch struct {
	done  chan struct{}
	route *Route
	err   error
}

// route returns the route of a topic, given with its namespace, from memory
// where possible. One that is old is read again in the background; one in
// doubt is read again at once, and serves on if that fails.
func (c *Client) route(ctx context.Context, topic string) (*Route, error) {
	c.mu.Lock()
	e := c.entry(topic)
	known, now := e.route, time.Now()
	switch {
	case known != nil && !e.doubt && now.Sub(e.at) < c.cfg.RouteAge:
		c.mu.Unlock()
		return known, nil
	case known != nil && !e.doubt:
		if e.fetch == nil && now.Sub(e.tried) > time.Second {
			c.startFetch(e, topic)
		}
		c.mu.Unlock()
		return known, nil
	}
	f := e.fetch
	if f == nil {
		f = c.startFetch(e, topic)
	}
	c.mu.Unlock()
	select {
	case <-f.done:
		if f.err != nil && known != nil {
			return known, nil
		}
		return f.route, f.err
	case <-ctx.Done():
		op := operation{verb: "reading the route", topic: topic, queue: -1}
		return nil, unanswered(op.String(), "", context.Cause(ctx))
	}
}

// entry returns the topic's entry; the lock is held.
func (c *Client) entry(topic string) *routeEntry {
	e := c.routes[topic]
	if e == nil {
		e = &routeEntry{}
		c.routes[topic] = e
	}
	return e
}

// startFetch begins a reading that belongs to the client; the lock is held.
func (c *Client) startFetch(e *routeEntry, topic string) *routeFetch {
	f := &routeFetch{done: make(chan struct{})}
	if c.closed {
		f.err = &Error{Op: "reading the route of topic " + topic, Class: Permanent, Err: ErrClosed}
		close(f.done)
		return f
	}
	e.fetch = f
	c.wg.Go(func() {
		defer close(f.done)
		f.route, f.err = c.readRoute(c.ctx, topic)
		c.mu.Lock()
		defer c.mu.Unlock()
		e.fetch, e.tried = nil, time.Now()
	})
	return f
}

// learn takes a route that was read.
func (c *Client) learn(topic string, r *Route) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entry(topic)
	e.route, e.at, e.doubt = r, time.Now(), false
}

// doubt has the route of a topic read again before its next use.
func (c *Client) doubt(topic string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.routes[topic]; e != nil {
		e.doubt = true
	}
}

// doubtAfter does so if err is one that a new route may cure.
func (c *Client) doubtAfter(topic string, err error) {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return
	}
	unanswered := e.Code == CodeSuccess && e.Class == Transient && !errors.Is(err, context.Canceled)
	if unanswered || e.Class == NoRoute ||
		e.Code == CodeSlaveNotAvailable || e.Code == CodeServiceNotAvailable || e.Code == CodeNoPermission {
		c.doubt(topic)
	}
}

// role is which of a broker's addresses is wanted.
type role int

const (
	forWriting role = iota // the master
	forReading             // the master, or whoever else can tell
)

// address finds a broker of a topic, which is given with its namespace. A
// broker that is not in the route has it read again, once.
func (c *Client) address(ctx context.Context, op operation, topic, broker string, want role, id int64) (string, error) {
	for try := 1; ; try++ {
		r, err := c.route(ctx, topic)
		if err != nil {
			return "", within(op, err)
		}
		addr, ok := r.reader(broker, id)
		if want == forWriting {
			if master, has := r.master(broker); has {
				addr = master
			} else if _, listed := r.broker(broker); listed {
				ok = false // it has slaves only, and they take nothing
			}
		}
		if ok {
			return addr, nil
		}
		if try == tries {
			return "", &Error{Op: op.String(), Class: NoRoute,
				Err:  fmt.Errorf("the route has no address for broker %q", broker),
				Hint: "the broker is down or was replaced"}
		}
		c.doubt(topic)
	}
}
