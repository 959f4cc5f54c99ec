// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// Restart restarts all proxies on their old ports: connections are cut and all
// sessions forgotten. Messages, leases and lite subscriptions stay, for the
// broker behind the proxies has not restarted; call ForgetSubscriptions to lose
// the subscriptions as well.
func (b *Broker) Restart() {
	for i := range b.proxies {
		b.RestartProxy(i)
	}
}

// RestartProxy is Restart for one of several proxies.
func (b *Broker) RestartProxy(i int) {
	p := b.proxies[i]
	if !p.running() {
		b.ResumeProxy(i)
		return
	}
	p.restart()
	b.core.log.Info("proxy restarted", "proxy", i, "address", p.addr)
}

// Stop closes all ports and cuts all connections, so that clients are refused,
// until Resume. Sessions are forgotten.
func (b *Broker) Stop() {
	for i := range b.proxies {
		b.StopProxy(i)
	}
}

// Resume listens again on the addresses that Stop closed. It panics if another
// process has taken one of them.
func (b *Broker) Resume() {
	for i := range b.proxies {
		b.ResumeProxy(i)
	}
}

// StopProxy is Stop for one of several proxies.
func (b *Broker) StopProxy(i int) {
	p := b.proxies[i]
	if !p.running() {
		return
	}
	p.stop()
	b.core.log.Info("proxy stopped", "proxy", i, "address", p.addr)
}

// ResumeProxy is Resume for one of several proxies.
func (b *Broker) ResumeProxy(i int) {
	p := b.proxies[i]
	if err := p.resume(); err != nil && err != errClosed {
		panic("embedded: resuming a proxy: " + err.Error())
	}
	b.core.log.Info("proxy listens again", "proxy", i, "address", p.addr)
}

// CutConnections breaks all connections; sessions stay, and clients may connect
// again at once.
func (b *Broker) CutConnections() {
	for _, p := range b.proxies {
		p.cutConnections()
	}
	b.core.log.Info("connections cut")
}

// ForgetSessions makes all proxies forget the settings of their clients while
// connections and telemetry streams stay open, as if the settings had been lost.
func (b *Broker) ForgetSessions() {
	n := 0
	for _, p := range b.proxies {
		n += p.forgetSessions()
	}
	b.core.log.Info("sessions forgotten", "sessions", n)
}

// ForgetSubscriptions drops the lite subscriptions of all clients of a group.
func (b *Broker) ForgetSubscriptions(group string) {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for id, s := range c.subs {
		if s.group == group {
			c.unsubscribe(id)
			n++
		}
	}
	c.notify()
	c.log.Info("lite subscriptions forgotten", "group", group, "clients", n)
}

// ExpireLeases makes the invisibility of everything that is out run out now. The
// handles of those deliveries expire with it.
func (b *Broker) ExpireLeases() {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, t := range c.topics {
		for _, q := range t.queues {
			for _, cur := range q.cursors {
				n += c.expireNow(cur)
			}
		}
		for _, q := range t.lites {
			for _, cur := range q.cursors {
				n += c.expireNow(cur)
			}
		}
	}
	c.notify()
	c.log.Info("leases expired", "messages", n)
}

// CutReceiveAfter breaks the next ReceiveMessage that has messages after n of
// them were sent. All of them, sent or not, stay invisible until their time is
// up. Calls add up: each one cuts one answer.
func (b *Broker) CutReceiveAfter(n int) {
	b.faults.addCut(n)
	b.core.log.Info("next receive will be cut", "after", n)
}

// FailAckEntry answers entry k (from 0) of the next AckMessage that has so many
// entries with this code, and does not carry it out.
func (b *Broker) FailAckEntry(k int, code v2.Code) {
	b.faults.addAckFailure(k, &v2.Status{Code: code, Message: code.String()})
	b.core.log.Info("next ack will have a failed entry", "entry", k, "code", code.String())
}

// Busy answers the next n requests of the method with TOO_MANY_REQUESTS, in
// addition to those of earlier calls. AnyMethod is allowed.
func (b *Broker) Busy(m Method, n int) {
	b.faults.addBusy(m, n)
	b.core.log.Info("busy for the next requests", "method", string(m), "requests", n)
}

// DeliverTwice delivers a message once more to each group that knows it, at once
// and whether or not it is out or acked. The additional delivery has a handle of
// its own, which can be acked. It is false for an unknown message.
func (b *Broker) DeliverTwice(messageID string) bool {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.byID[messageID]
	if r == nil || r.home == nil {
		return false
	}
	for _, cur := range r.home.cursors {
		cur.group.again = append(cur.group.again, &extra{cur, r})
		c.wakeAll(cur.group)
	}
	c.notify()
	c.log.Info("message will be delivered once more", "id", messageID, "groups", len(r.home.cursors))
	return true
}

// DeleteLiteTopic removes a lite topic with its messages and everything that any
// group knew of it, as the broker does when its time to live is over. Clients are
// not told.
func (b *Broker) DeleteLiteTopic(topic, lite string) {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.topics[topic]
	if t == nil || t.lites[lite] == nil {
		return
	}
	q := t.lites[lite]
	delete(t.lites, lite)
	if len(q.msgs) > 0 {
		c.liteCount--
	}
	q.stopTimers()
	for _, cur := range q.cursors {
		cur.dead = true
	}
	for _, r := range q.msgs {
		r.home = nil
	}
	for _, s := range c.subs {
		if s.topic == topic {
			c.dropLite(s, lite)
		}
	}
	c.forgetMessages(t, lite)
	c.notify()
	c.log.Info("lite topic deleted", "topic", topic, "lite_topic", lite, "messages", len(q.msgs))
}

// UnsubscribeLite takes a lite topic away from a client and tells it so on its
// telemetry stream, as happens when another client of an exclusive group takes
// it over. An empty clientID stands for all clients that are subscribed to it.
func (b *Broker) UnsubscribeLite(clientID, lite string) {
	c := b.core
	c.mu.Lock()
	var told []string
	for id, s := range c.subs {
		if clientID == "" && s.lites[lite] || id == clientID {
			c.dropLite(s, lite)
			told = append(told, id)
		}
	}
	c.notify()
	c.mu.Unlock()
	for _, id := range told {
		c.onUnsubscribe(id, lite)
	}
	c.log.Info("lite topic taken away", "lite_topic", lite, "clients", len(told))
}
