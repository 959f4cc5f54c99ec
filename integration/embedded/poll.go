// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"errors"
	"slices"
	"time"
)

var errClosed = errors.New("embedded: the broker is closed")

// poll is a ReceiveMessage that waits for messages.
type poll struct {
	group  *group
	client string
	topic  string
	wake   chan struct{} // of size 1
	asked  bool          // woken, has not looked yet

	proxyLives func() bool // of a lite poll: the proxy that it came by has not ended
	abandoned  bool        // its client has gone
}

// popResult is what a look into the queues gave. found without deliveries means
// that there were messages and all of them were filtered out or dead-lettered.
type popResult struct {
	found bool
	got   []delivery
}

// await looks once and then, for at most wait, each time that the group is told
// of something new. look runs under the lock.
func (c *core) await(ctx context.Context, p *poll, wait time.Duration, look func() popResult) (popResult, error) {
	c.mu.Lock()
	if c.isClosed() {
		c.mu.Unlock()
		return popResult{}, errClosed
	}
	res := look()
	if res.found || wait <= 0 {
		c.notify()
		c.mu.Unlock()
		return res, nil
	}
	p.wake = make(chan struct{}, 1)
	p.group.polls = append(p.group.polls, p)
	timeUp := make(chan struct{})
	timer := c.clock.afterFunc(wait, func() { close(timeUp) })
	c.notify()
	c.mu.Unlock()
	stays := false
	defer func() {
		if !stays {
			timer.Stop()
			c.leave(p)
		}
	}()
	for {
		select {
		case <-p.wake:
			if res := c.lookAgain(p, look); res.found {
				return res, nil
			}
		case <-timeUp:
			return popResult{}, nil
		case <-ctx.Done():
			if p.group.lite() && !p.ended() {
				stays = true
				c.stay(p, timeUp, look)
			}
			return popResult{}, ctx.Err()
		case <-c.closed:
			return popResult{}, errClosed
		}
	}
}

func (c *core) lookAgain(p *poll, look func() popResult) popResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.asked = false
	res := look()
	c.notify()
	return res
}

// leave takes a poll off the list. If it was woken and did not look, or left
// something behind, the next one is woken in its place: else what is ready would
// lie there until something new happens.
func (c *core) leave(p *poll) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(p.group.polls, p); i >= 0 {
		p.group.polls = slices.Delete(p.group.polls, i, i+1)
	}
	if p.group.lite() {
		if len(p.group.ready) > 0 {
			c.wakeAll(p.group)
		}
	} else {
		c.wake(p.group, func(o *poll) bool { return o.topic == p.topic })
	}
	c.notify()
}

// wake tells the first fitting poll that has not been told already.
func (c *core) wake(g *group, fits func(*poll) bool) {
	for _, p := range g.polls {
		if !p.asked && fits(p) {
			p.asked = true
			p.wake <- struct{}{}
			return
		}
	}
}

func (c *core) wakeAll(g *group) {
	for _, p := range g.polls {
		if !p.asked {
			p.asked = true
			p.wake <- struct{}{}
		}
	}
}
