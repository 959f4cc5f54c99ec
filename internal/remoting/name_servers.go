// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// nameServers remembers which name server answered last.
type nameServers struct {
	mu    sync.Mutex
	addrs []string
	good  int // index of the one that answered last
}

// ordered returns the addresses, the good one first and those that cannot be
// reached last.
func (n *nameServers) ordered(down func(addr string) bool) []string {
	n.mu.Lock()
	out := slices.Concat(n.addrs[n.good:], n.addrs[:n.good])
	n.mu.Unlock()
	slices.SortStableFunc(out, func(a, b string) int {
		switch da, db := down(a), down(b); {
		case da == db:
			return 0
		case da:
			return 1
		}
		return -1
	})
	return out
}

func (n *nameServers) answered(addr string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.good = max(0, slices.Index(n.addrs, addr))
}

// askNames sends a request to one name server after the other until one
// answers. When none does, it starts again after a pause, three rounds in all,
// and returns the last error. A name server that does not know a topic may
// only be behind the others: then those are asked, too.
func (c *Client) askNames(ctx context.Context, r request) (*Command, error) {
	var last error
	for round := range routeRounds {
		if round > 0 && !pause(ctx, routePause<<(round-1)) {
			break
		}
		var unknown error
		addrs := c.names.ordered(c.isDown)
		for i, addr := range addrs {
			answer, err := c.askName(ctx, r, addr, len(addrs)-i)
			if err == nil {
				c.names.answered(addr)
				return answer, nil
			}
			last = err
			switch ClassOf(err) {
			case NoRoute:
				unknown = err
			case Permanent:
				if !isTransport(err) {
					return nil, err
				}
			}
			if ctx.Err() != nil {
				break
			}
		}
		if unknown != nil {
			return nil, unknown
		}
		if ctx.Err() != nil || c.ctx.Err() != nil {
			break
		}
	}
	return nil, last
}

// askName asks one name server. With a deadline, each of those left to ask gets
// its share of the time.
func (c *Client) askName(ctx context.Context, r request, addr string, left int) (*Command, error) {
	if until, ok := ctx.Deadline(); ok && left > 1 {
		share := time.Until(until) / time.Duration(left)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, share)
		defer cancel()
	}
	r.addr = addr
	return c.do(ctx, r)
}

func (c *Client) isDown(addr string) bool {
	p, err := c.peer(addr)
	return err == nil && p.down()
}

// isTransport says that no answer came, so that another server may do better.
func isTransport(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == CodeSuccess && !errors.Is(err, ErrClosed)
}
