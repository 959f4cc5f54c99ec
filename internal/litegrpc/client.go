// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"github.com/google/uuid"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
)

// role is what tells the kinds of session apart.
type role interface {
	// String names group and topic, for errors.
	String() string
	// settings completes what the telemetry stream announces.
	settings(*v2.Settings)
	// fallBack switches to the older client type; false if there is none.
	fallBack() bool
	// opened is called when settings were agreed; the link is ready if it
	// returns nil.
	opened(context.Context, *link) error
	heartbeat(context.Context, *link) error
	resync(context.Context, *link) error
	// terminating is the group to name when the client says that it leaves.
	terminating() *v2.Resource
}

// client is what the kinds of session share: the links.
type client struct {
	cfg  Config
	role role
	end  context.CancelFunc
	ctx  context.Context // the life of the session

	mu     sync.Mutex
	links  []*link
	next   int
	closed bool
	wg     sync.WaitGroup // goroutines beside the links'
}

func newClient(cfg Config, r role) (*client, error) {
	cfg = cfg.withDefaults()
	if len(cfg.Endpoints) == 0 {
		return nil, &Error{Op: "opening a session", Class: Permanent, Err: errors.New("no endpoints given")}
	}
	c := &client{cfg: cfg, role: r}
	c.ctx, c.end = context.WithCancel(context.Background())
	return c, nil
}

// newClientID is unique among all clients of all processes; the broker treats
// two clients of one id as one.
func newClientID() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	return fmt.Sprintf("%s@%d@%s", host, os.Getpid(), uuid.NewString())
}

func (c *client) sign(ctx context.Context, clientID string) (context.Context, error) {
	var keys auth.Keys
	if c.cfg.Credentials != nil {
		var err error
		if keys, err = c.cfg.Credentials(ctx); err != nil {
			return ctx, fmt.Errorf("resolving credentials: %w", err)
		}
	}
	return sign(ctx, clientID, c.cfg.Namespace, keys, time.Now()), nil
}

func (c *client) resource(name string) *v2.Resource {
	return &v2.Resource{ResourceNamespace: c.cfg.Namespace, Name: name}
}

// connect makes the set of links those of addrs, keeping the ones that exist.
func (c *client) connect(addrs []Address) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	wanted := make(map[Address]bool, len(addrs))
	var kept, gone []*link
	for _, a := range addrs {
		wanted[a] = true
	}
	for _, l := range c.links {
		if wanted[l.addr] {
			kept = append(kept, l)
			delete(wanted, l.addr)
		} else {
			gone = append(gone, l)
		}
	}
	for _, a := range addrs {
		if !wanted[a] {
			continue
		}
		delete(wanted, a)
		l, err := newLink(c, a)
		if err != nil {
			return err
		}
		l.start(c.ctx)
		kept = append(kept, l)
	}
	c.links = kept
	for _, l := range gone {
		c.wg.Go(l.stop)
	}
	return nil
}

var errClosed = &Error{Op: "session", Class: Permanent, Err: errors.New("closed")}

// pick takes the links in turn and returns the first that is ready. If none is,
// it waits for one until ctx ends. If none ever will be, it returns the
// permanent error of one.
func (c *client) pick(ctx context.Context) (*link, error) {
	for {
		links, err := c.inTurn()
		if err != nil {
			return nil, err
		}
		var last error
		hopeless := len(links) > 0
		changes := make([]<-chan struct{}, 0, len(links))
		for _, l := range links {
			ready, err, change := l.state()
			if ready {
				return l, nil
			}
			permanent := err != nil && ClassOf(err) == Permanent
			hopeless = hopeless && permanent
			if permanent || last == nil {
				last = err
			}
			changes = append(changes, change)
		}
		if hopeless {
			return nil, last
		}
		if err := waitAny(ctx, changes); err != nil {
			return nil, notReady(last, err)
		}
	}
}

func notReady(last, cause error) error {
	if e, ok := errors.AsType[*Error](last); ok {
		e := *e
		e.Err = fmt.Errorf("%w (gave up waiting: %w)", e.Err, cause)
		return &e
	}
	return failed("waiting for a session", cause)
}

func (c *client) inTurn() ([]*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed
	}
	n := len(c.links)
	out := make([]*link, n)
	for i := range out {
		out[i] = c.links[(c.next+i)%n]
	}
	if n > 0 {
		c.next = (c.next + 1) % n
	}
	return out, nil
}

// waitAny waits until one of the channels closes or ctx ends.
func waitAny(ctx context.Context, channels []<-chan struct{}) error {
	if len(channels) == 1 {
		select {
		case <-channels[0]:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, ch := range channels {
		go func() {
			select {
			case <-ch:
				cancel(errChanged)
			case <-ctx.Done():
			}
		}()
	}
	<-ctx.Done()
	if context.Cause(ctx) == errChanged {
		return nil
	}
	return ctx.Err()
}

var errChanged = errors.New("changed")

// awaitStart waits for the first ready link within the start timeout.
func (c *client) awaitStart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.StartTimeout)
	defer cancel()
	_, err := c.pick(ctx)
	return err
}

// every runs do at the interval until the session ends.
func (c *client) every(interval time.Duration, do func(context.Context)) {
	c.wg.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-c.ctx.Done():
				return
			case <-ticker.C:
				do(c.ctx)
			}
		}
	})
}

// close says goodbye at each proxy within ctx, then ends all goroutines and
// connections. A second call does nothing.
func (c *client) close(ctx context.Context) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.closed = true
	links := c.links
	c.mu.Unlock()
	c.sayGoodbye(ctx, links)
	c.end()
	for _, l := range links {
		<-l.ended
	}
	c.wg.Wait()
}
