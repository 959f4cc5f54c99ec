// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"encoding/json"
	"regexp"
	"strconv"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// faq is what RocketMQ ends many of its texts with.
const faq = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."

// autoCreateTopic is the topic after whose model unknown ones are made.
const autoCreateTopic = "TBW102"

// The parts of a route, as JSON has them.
type (
	routeData struct {
		Brokers      []routeBroker       `json:"brokerDatas"`
		FilterServer map[string][]string `json:"filterServerTable"`
		Queues       []routeQueues       `json:"queueDatas"`
	}
	routeBroker struct {
		Addrs        map[string]string `json:"brokerAddrs"`
		Name         string            `json:"brokerName"`
		Cluster      string            `json:"cluster"`
		ActingMaster bool              `json:"enableActingMaster"`
	}
	routeQueues struct {
		Broker  string `json:"brokerName"`
		Perm    int    `json:"perm"`
		Reads   int    `json:"readQueueNums"`
		SysFlag int    `json:"topicSysFlag"`
		Writes  int    `json:"writeQueueNums"`
	}
)

// standardJSON is the version from which on routes are standard JSON: 4.9.4.
const standardJSON = 401

// numericKey finds the keys that older clients get without quotes.
var numericKey = regexp.MustCompile(`"(\d+)":`)

// route answers GET_ROUTEINFO_BY_TOPIC (105).
func (c *remotingCall) route() *remoting.Command {
	topic := c.text("topic")
	r := c.at.b.routeOf(topic)
	if len(r.Queues) == 0 || len(r.Brokers) == 0 {
		return c.refuse(remoting.CodeTopicNotExist, "No topic route info in name server for the topic: %s%s", topic, faq)
	}
	body, err := json.Marshal(r)
	if err != nil {
		return c.refuse(remoting.CodeSystemError, "%v", err)
	}
	if c.cmd.Version < standardJSON && !c.flag("acceptStandardJsonOnly", false) {
		body = numericKey.ReplaceAll(body, []byte("$1:"))
	}
	return &remoting.Command{Body: body}
}

// routeOf is what the name server knows of a topic.
func (b *Broker) routeOf(topic string) routeData {
	r := routeData{FilterServer: map[string][]string{}}
	for i, name := range b.cfg.brokers {
		addrs := b.routeAddrs(i)
		if len(addrs) == 0 {
			continue
		}
		s := b.core.shapeOf(topic, i)
		if topic == autoCreateTopic && b.cfg.autoCreateTopic {
			s = shape{reads: 8, writes: 8, perm: permRead | permWrite | 1}
		}
		if !s.exists() {
			continue
		}
		r.Queues = append(r.Queues, routeQueues{Broker: name, Perm: s.perm, Reads: s.reads, Writes: s.writes})
		if via := b.cfg.routeVia; via != "" {
			name = via
		}
		r.Brokers = append(r.Brokers, routeBroker{Addrs: addrs, Name: name, Cluster: clusterName})
	}
	return r
}

// routeAddrs are the addresses of a broker and its slaves that are registered.
func (b *Broker) routeAddrs(broker int) map[string]string {
	out := map[string]string{}
	for _, e := range b.endpointsOf(broker) {
		e.mu.Lock()
		if !e.hidden {
			out[strconv.FormatInt(e.slave, 10)] = e.addr
		}
		e.mu.Unlock()
	}
	return out
}

func (c *core) shapeOf(topic string, broker int) shape {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.topics[topic]
	if t == nil {
		return shape{}
	}
	return t.at(broker)
}
