// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"encoding/json"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// members are the clients of a consumer group, as their heartbeats tell.
type members struct {
	clients       map[string]*remotingConn
	subscriptions map[string]subscribed
	actively      bool // pulls by itself (CONSUME_ACTIVELY)
}

// subscribed is what a group wants of a topic.
type subscribed struct {
	Topic      string `json:"topic"`
	Expression string `json:"subString"`
	Kind       string `json:"expressionType"`
	Version    int64  `json:"subVersion"`
}

// heartbeat answers HEART_BEAT (34). A consumer group's retry topic comes into
// being with its first heartbeat.
func (c *remotingCall) heartbeat() *remoting.Command {
	var in struct {
		Client    string `json:"clientID"`
		Producers []struct {
			Group string `json:"groupName"`
		} `json:"producerDataSet"`
		Consumers []struct {
			Group         string       `json:"groupName"`
			Type          string       `json:"consumeType"`
			Subscriptions []subscribed `json:"subscriptionDataSet"`
		} `json:"consumerDataSet"`
	}
	if err := json.Unmarshal(c.cmd.Body, &in); err != nil {
		return c.refuse(remoting.CodeSystemError, "%v", err)
	}
	core := c.at.b.core
	core.mu.Lock()
	defer core.mu.Unlock()
	for _, p := range in.Producers {
		if core.producers[p.Group] == nil {
			core.producers[p.Group] = map[string]*remotingConn{}
		}
		core.producers[p.Group][in.Client] = c.conn
	}
	for _, d := range in.Consumers {
		if core.findValidGroup(d.Group) == nil {
			continue
		}
		retry := core.topicNamed(retryPrefix+d.Group, kindNormal)
		if !retry.at(c.at.broker).exists() {
			retry.reshape(c.at.broker, shape{reads: 1, writes: 1, perm: permRead | permWrite})
		}
		m := core.consumers[d.Group]
		if m == nil {
			m = &members{clients: map[string]*remotingConn{}, subscriptions: map[string]subscribed{}}
			core.consumers[d.Group] = m
		}
		m.clients[in.Client], m.actively = c.conn, d.Type == "CONSUME_ACTIVELY"
		for _, s := range d.Subscriptions {
			m.subscriptions[s.Topic] = s
		}
	}
	core.notify()
	return c.ok(map[string]string{"IS_SUPPORT_HEART_BEAT_V2": "true", "IS_SUB_CHANGE": "true"})
}

// leaveConn forgets the clients of a connection that is over. The lock is not
// held.
func (c *core) leaveConn(conn *remotingConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for group, m := range c.consumers {
		for id, at := range m.clients {
			if at == conn {
				m.leave(c, group, id)
			}
		}
	}
	for group, clients := range c.producers {
		for id, at := range clients {
			if at == conn {
				c.leaveProducers(group, id)
			}
		}
	}
	c.notify()
}

func (c *core) leaveProducers(group, client string) {
	delete(c.producers[group], client)
	if len(c.producers[group]) == 0 {
		delete(c.producers, group)
	}
}

func (m *members) leave(c *core, group, client string) {
	delete(m.clients, client)
	if len(m.clients) == 0 {
		delete(c.consumers, group)
	}
}
