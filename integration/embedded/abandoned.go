// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

// What RocketMQ does with a long poll whose client has gone: the broker knows
// nothing of it. The poll waits on, takes the next messages that come for the
// client id, as long as that is subscribed, and what it took goes nowhere and
// comes again when its invisible duration is over, one attempt on. Only the end
// of the proxy, whose connection the poll came by, ends it too.

// stay takes over a lite poll whose client has gone. It returns at once; the
// poll ends with its time, with its first messages, or with the broker.
func (c *core) stay(p *poll, timeUp <-chan struct{}, look func() popResult) {
	c.mu.Lock()
	p.abandoned = true
	c.notify()
	c.mu.Unlock()
	c.strays.Go(func() {
		defer c.leave(p)
		for {
			select {
			case <-p.wake:
				if p.ended() || over(timeUp) { // of two that are ready, select takes any
					return
				}
				if res := c.lookAgain(p, look); res.found {
					c.log.Info("messages went to a long poll that its client gave up", "client", p.client, "group", p.group.name, "messages", len(res.got))
					return
				}
			case <-timeUp:
				return
			case <-c.closed:
				return
			}
		}
	})
}

// ended reports whether the proxy that the poll came by has ended.
func (p *poll) ended() bool { return p.proxyLives == nil || !p.proxyLives() }

func over(timeUp <-chan struct{}) bool {
	select {
	case <-timeUp:
		return true
	default:
		return false
	}
}
