// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"net"
	"strconv"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// QueryRoute lists the queues of a topic. As broker addresses it gives back the
// endpoints that the client used, as a proxy in cluster mode does.
func (p *proxy) QueryRoute(_ context.Context, req *v2.QueryRouteRequest) (*v2.QueryRouteResponse, error) {
	name, err := p.b.checkTopic(req.GetTopic())
	if err != nil {
		return &v2.QueryRouteResponse{Status: statusOf(err)}, nil
	}
	kind, queues, err := p.b.core.route(name)
	if err != nil {
		return &v2.QueryRouteResponse{Status: statusOf(err)}, nil
	}
	res := &v2.QueryRouteResponse{Status: okStatus()}
	broker := p.brokerOf(req.GetEndpoints())
	for i := range queues {
		res.MessageQueues = append(res.MessageQueues, &v2.MessageQueue{
			Topic: req.GetTopic(), Id: int32(i), Permission: v2.Permission_READ_WRITE,
			Broker: broker, AcceptMessageTypes: []v2.MessageType{messageType(kind)},
		})
	}
	return res, nil
}

// QueryAssignment lists what a push consumer of the group should poll.
func (p *proxy) QueryAssignment(_ context.Context, req *v2.QueryAssignmentRequest) (*v2.QueryAssignmentResponse, error) {
	topic, group, err := p.b.checkBoth(req.GetTopic(), req.GetGroup())
	if err != nil {
		return &v2.QueryAssignmentResponse{Status: statusOf(err)}, nil
	}
	_, queues, err := p.b.core.route(topic)
	if err != nil {
		return &v2.QueryAssignmentResponse{Status: statusOf(err)}, nil
	}
	ids := []int32{-1}
	if p.b.core.groupView(group).ordered {
		ids = ids[:0]
		for i := range queues {
			ids = append(ids, int32(i))
		}
	}
	res := &v2.QueryAssignmentResponse{Status: okStatus()}
	for _, id := range ids {
		res.Assignments = append(res.Assignments, &v2.Assignment{MessageQueue: &v2.MessageQueue{
			Topic: req.GetTopic(), Id: id, Permission: v2.Permission_READ_WRITE, Broker: p.brokerOf(req.GetEndpoints()),
		}})
	}
	return res, nil
}

func (p *proxy) brokerOf(ep *v2.Endpoints) *v2.Broker {
	if len(ep.GetAddresses()) == 0 {
		host, port, _ := net.SplitHostPort(p.addr)
		n, _ := strconv.Atoi(port)
		ep = &v2.Endpoints{Scheme: v2.AddressScheme_IPv4, Addresses: []*v2.Address{{Host: host, Port: int32(n)}}}
	}
	return &v2.Broker{Name: p.b.cfg.brokers[0], Id: 0, Endpoints: ep}
}

func messageType(k topicKind) v2.MessageType {
	switch k {
	case kindLite:
		return v2.MessageType_LITE
	case kindFIFO:
		return v2.MessageType_FIFO
	default:
		return v2.MessageType_NORMAL
	}
}

// route returns the kind of a topic and how many queues it has.
func (c *core) route(name string) (topicKind, int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.topics[name]
	if t == nil {
		return "", 0, topicNotFound(name)
	}
	return t.kind, len(t.queues), nil
}
