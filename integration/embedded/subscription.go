// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import "time"

// subscriptionLife is how long the broker keeps a lite subscription that nobody
// renews.
const subscriptionLife = 3 * time.Minute

// subscription is what one client wants of the lite topics. It lives on the
// broker: a proxy that restarts does not lose it.
type subscription struct {
	client   string
	group    string
	topic    string
	wildcard bool
	lites    map[string]bool
	expiry   stopper
}

// liteAction is what a SyncLiteSubscription asks for.
type liteAction int

const (
	partialAdd liteAction = iota
	partialRemove
	completeAdd
	completeRemove
)

type subscribeRequest struct {
	client string
	group  string
	topic  string
	action liteAction
	lites  []string
	offset *offsetOption
}

// offsetOption is where a new lite subscription starts.
type offsetOption struct {
	min, max bool
	offset   *int64
	tail     *int64
}

// subscribe carries out a SyncLiteSubscription. The checks of the group are the
// proxy's, the quota of all subscriptions is looked at only by partialAdd, before
// it adds anything: so a batch may go over, and adding again what is there may be
// refused. The real broker is like that.
func (c *core) subscribe(r subscribeRequest) error {
	defer c.tellEvicted()
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.notify()
	if err := c.checkBinding(r.group, r.topic); err != nil {
		return err
	}
	g := c.groups[r.group]
	if len(r.lites) > g.clientQuota+300 {
		return refuse(reasonLiteSubscriptionQuota, "lite subscription quota exceeded: %d", g.clientQuota)
	}
	if c.topics[r.topic] == nil {
		return topicNotFound(r.topic)
	}
	switch r.action {
	case completeRemove:
		c.unsubscribe(r.client)
		return nil
	case completeAdd:
		c.completeAdd(g, r)
		return nil
	case partialRemove:
		s := c.subscription(r)
		for _, l := range r.lites {
			c.dropLite(s, l)
		}
		return nil
	default:
		return c.partialAdd(g, r)
	}
}

// checkBinding refuses a group that is not bound to the topic.
func (c *core) checkBinding(groupName, topicName string) error {
	g := c.findGroup(groupName)
	if g == nil {
		return refuse(reasonIllegalGroup, "group not found: %s", groupName)
	}
	if g.bindTopic == topicName {
		return nil
	}
	bound := g.bindTopic
	if bound == "" {
		bound = "null"
	}
	return refuse(reasonIllegalTopic, "lite group %s is expected to bind topic %s, but actual is %s", groupName, bound, topicName)
}

// checkMode refuses a lite consumer in a regular group and the reverse.
func (c *core) checkMode(groupName string, lite bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.findGroup(groupName)
	switch {
	case g == nil:
		return refuse(reasonIllegalGroup, "group not found: %s", groupName)
	case lite && !g.lite():
		return refuse(reasonIllegalGroup, "regular group cannot use LITE mode: %s", groupName)
	case !lite && g.lite():
		return refuse(reasonIllegalGroup, "lite group must use LITE mode: %s", groupName)
	}
	return nil
}

func (c *core) completeAdd(g *group, r subscribeRequest) {
	s := c.subscription(r)
	if g.wildcard {
		if !s.wildcard {
			s.wildcard = true
			c.subCount++
		}
	} else {
		want := map[string]bool{}
		for _, l := range r.lites {
			want[l] = true
		}
		for l := range s.lites {
			if !want[l] {
				c.dropLite(s, l)
			}
		}
		for l := range want {
			c.addLite(s, l)
		}
	}
	c.wakeAll(g)
}

func (c *core) partialAdd(g *group, r subscribeRequest) error {
	if c.subCount >= c.cfg.subscriptionQuota {
		return refuse(reasonLiteSubscriptionQuota, "org.apache.rocketmq.broker.lite.LiteQuotaException: lite subscription quota exceeded %d", c.cfg.subscriptionQuota)
	}
	if g.wildcard {
		return refuse(reasonInternal, "java.lang.IllegalStateException: subscribe lite operation is not supported for this group")
	}
	s := c.subscription(r)
	for _, l := range r.lites {
		if g.exclusive {
			c.takeOver(s, l)
		}
		c.addLite(s, l)
		c.resetOffset(g, c.topics[r.topic], l, r.offset)
	}
	c.wakeAll(g)
	return nil
}

// takeOver takes a lite topic away from the other clients of an exclusive group
// and tells them, once the lock is free.
func (c *core) takeOver(by *subscription, lite string) {
	for id, s := range c.subs {
		if s != by && s.group == by.group && c.dropLite(s, lite) {
			c.log.Info("lite topic taken over", "lite_topic", lite, "from", id, "by", by.client)
			c.evicted = append(c.evicted, eviction{id, lite})
		}
	}
}

// eviction is a client that has to be told that a lite topic is no longer its own.
type eviction struct{ client, lite string }

// tellEvicted tells them. The lock is not held: telling writes to a network.
func (c *core) tellEvicted() {
	c.mu.Lock()
	list := c.evicted
	c.evicted = nil
	c.mu.Unlock()
	for _, e := range list {
		c.onUnsubscribe(e.client, e.lite)
	}
}

func (c *core) resetOffset(g *group, t *topic, lite string, o *offsetOption) {
	if o == nil {
		return
	}
	q := t.lites[lite]
	if q == nil {
		q = newQueue(t, lite, 0)
		t.lites[lite] = q
	}
	cur := q.cursor(g)
	target := cur.committed
	switch {
	case o.min:
		target = 0
	case o.max:
		target = q.maxOffset()
	case o.offset != nil:
		target = *o.offset
	case o.tail != nil:
		target = max(0, cur.committed-*o.tail)
	}
	if target == cur.committed {
		return
	}
	cur.committed, cur.order = target, nil
	c.armUnlock(cur)
	c.offer(cur)
}

// subscription returns the client's subscription, new if need be, and renews it.
func (c *core) subscription(r subscribeRequest) *subscription {
	s := c.subs[r.client]
	if s == nil {
		s = &subscription{client: r.client, group: r.group, topic: r.topic, lites: map[string]bool{}}
		c.subs[r.client] = s
	}
	if s.expiry != nil {
		s.expiry.Stop()
	}
	var mine stopper
	mine = c.after(subscriptionLife, func() {
		if c.subs[s.client] == s && s.expiry == mine {
			c.log.Info("lite subscription expired", "client", s.client, "group", s.group, "topic", s.topic)
			c.unsubscribe(s.client)
		}
	})
	s.expiry = mine
	return s
}

func (c *core) addLite(s *subscription, lite string) {
	if !s.lites[lite] {
		s.lites[lite] = true
		c.subCount++
	}
}

func (c *core) dropLite(s *subscription, lite string) bool {
	if !s.lites[lite] {
		return false
	}
	delete(s.lites, lite)
	c.subCount--
	return true
}

// unsubscribe removes all that a client was subscribed to.
func (c *core) unsubscribe(client string) {
	s := c.subs[client]
	if s == nil {
		return
	}
	s.expiry.Stop()
	delete(c.subs, client)
	c.subCount -= len(s.lites)
	if s.wildcard {
		c.subCount--
	}
	if g := c.groups[s.group]; g != nil && len(g.ready) > 0 {
		c.wakeAll(g)
	}
}

// goOffline is unsubscribe for callers outside the lock.
func (c *core) goOffline(client string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unsubscribe(client)
	c.notify()
}

func (c *core) subscribed(client string, g *group, lite string) bool {
	s := c.subs[client]
	return s != nil && s.group == g.name && (s.wildcard || s.lites[lite])
}
