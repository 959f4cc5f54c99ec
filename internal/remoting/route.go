// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Queue is one queue of a topic.
type Queue struct {
	// Topic is without the namespace.
	Topic string
	// Broker is the broker's name in the route.
	Broker string
	// ID counts from 0 at each broker.
	ID int
}

// Permissions of a topic at a broker.
const (
	PermWrite = 1 << 1
	PermRead  = 1 << 2
)

// masterID is the id of the broker that takes messages. Others are its slaves.
const masterID = 0

// Route says where a topic's queues are.
type Route struct {
	Topic   string
	Queues  []QueueData
	Brokers []BrokerData
}

// QueueData is what a topic has at one broker.
type QueueData struct {
	Broker      string `json:"brokerName"`
	ReadQueues  int    `json:"readQueueNums"`
	WriteQueues int    `json:"writeQueueNums"`
	Perm        int    `json:"perm"`
}

// BrokerData is one broker, a master and its slaves.
type BrokerData struct {
	Cluster string           `json:"cluster"`
	Name    string           `json:"brokerName"`
	Addrs   map[int64]string `json:"brokerAddrs"`
}

// maxQueues bounds what a route may claim of one broker.
const maxQueues = 1 << 16

// Readable returns the queues that can be read, ordered by broker and id.
func (r *Route) Readable() []Queue {
	return r.queues(func(q QueueData) int { return q.ReadQueues }, PermRead)
}

// Writable returns the queues that can be written to and whose broker has a
// master, ordered by broker and id.
func (r *Route) Writable() []Queue {
	all := r.queues(func(q QueueData) int { return q.WriteQueues }, PermWrite)
	return slices.DeleteFunc(all, func(q Queue) bool { _, ok := r.master(q.Broker); return !ok })
}

func (r *Route) queues(count func(QueueData) int, perm int) (out []Queue) {
	for _, q := range r.Queues {
		if q.Perm&perm == 0 {
			continue
		}
		for id := range min(count(q), maxQueues) {
			out = append(out, Queue{Topic: r.Topic, Broker: q.Broker, ID: id})
		}
	}
	slices.SortStableFunc(out, func(a, b Queue) int { return strings.Compare(a.Broker, b.Broker) })
	return out
}

func (r *Route) broker(name string) (BrokerData, bool) {
	i := slices.IndexFunc(r.Brokers, func(b BrokerData) bool { return b.Name == name })
	if i < 0 {
		return BrokerData{}, false
	}
	return r.Brokers[i], true
}

// master returns the address of a broker's master.
func (r *Route) master(name string) (string, bool) {
	b, ok := r.broker(name)
	addr := b.Addrs[masterID]
	return addr, ok && addr != ""
}

// reader returns an address that look-ups about the broker can be sent to: that
// of the broker with this id, else its master, else any slave. Routes of
// vendors name a queue's broker and list the address of a proxy under another
// name, or under none that a look-up by name would find; then the proxy is
// asked, for it knows the way.
func (r *Route) reader(name string, id int64) (string, bool) {
	if b, ok := r.broker(name); ok {
		for _, addr := range []string{b.Addrs[id], b.Addrs[masterID], anyAddr(b)} {
			if addr != "" {
				return addr, true
			}
		}
	}
	if len(r.Brokers) == 1 {
		addr := anyAddr(r.Brokers[0])
		return addr, addr != ""
	}
	return "", false
}

// anyAddr is the address with the lowest id.
func anyAddr(b BrokerData) string {
	lowest, out := int64(0), ""
	for id, addr := range b.Addrs {
		if addr != "" && (out == "" || id < lowest) {
			lowest, out = id, addr
		}
	}
	return out
}

// decodeRoute reads the body of a route's answer.
func decodeRoute(topic string, body []byte) (*Route, error) {
	var wire struct {
		Queues  []QueueData  `json:"queueDatas"`
		Brokers []BrokerData `json:"brokerDatas"`
	}
	if err := json.Unmarshal(quoteKeys(body), &wire); err != nil {
		return nil, malformed("route: %v", err)
	}
	return &Route{Topic: topic, Queues: wire.Queues, Brokers: wire.Brokers}, nil
}

// quoteKeys puts quotes around numbers that are names of an object's members,
// as in {0:"127.0.0.1:10911"}. Servers before 4.9.4 write broker ids so, which
// is no JSON.
func quoteKeys(b []byte) []byte {
	if !bytes.ContainsAny(b, "{,") {
		return b
	}
	out := make([]byte, 0, len(b)+16)
	inString, escaped := false, false
	for i := 0; i < len(b); i++ {
		ch := b[i]
		out = append(out, ch)
		switch {
		case escaped:
			escaped = false
		case inString && ch == '\\':
			escaped = true
		case ch == '"':
			inString = !inString
		case !inString && (ch == '{' || ch == ','):
			if n := numericKey(b[i+1:]); n > 0 {
				out = append(out, '"')
				out = append(out, b[i+1:i+1+n]...)
				out = append(out, '"')
				i += n
			}
		}
	}
	return out
}

// numericKey returns the length of the number at the front of b, if a colon
// follows it.
func numericKey(b []byte) int {
	n := 0
	if len(b) > 0 && b[0] == '-' {
		n = 1
	}
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	if n < len(b) && b[n] == ':' {
		return n
	}
	return 0
}
