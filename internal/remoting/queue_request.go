// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"fmt"
	"strconv"
)

// queueOp names an operation on a queue.
func queueOp(verb string, q Queue, group string) operation {
	return operation{verb: verb, topic: q.Topic, group: group, broker: q.Broker, queue: q.ID}
}

// topicField and groupField are names as servers know them.
func (c *Client) topicField(topic string) string { return WithNamespace(c.cfg.Namespace, topic) }
func (c *Client) groupField(group string) string { return WithNamespace(c.cfg.Namespace, group) }

// queueFields are the fields of every request about a queue. The broker's name
// is for proxies, which pass the request on.
func (c *Client) queueFields(q Queue) map[string]string {
	return map[string]string{
		"topic": c.topicField(q.Topic), "queueId": strconv.Itoa(q.ID), "bname": q.Broker,
	}
}

// askQueue sends a request about a queue to its broker: the master, or one with
// another id where that will do. A failure that a new route may cure has the
// route read again before it is next used.
func (c *Client) askQueue(ctx context.Context, q Queue, want role, id int64, r request) (*Command, error) {
	topic := c.topicField(q.Topic)
	addr, err := c.address(ctx, r.op, topic, q.Broker, want, id)
	if err != nil {
		return nil, err
	}
	r.addr = addr
	answer, err := c.do(ctx, r)
	c.doubtAfter(topic, err)
	return answer, err
}

// number reads a number from an answer.
func number(r request, cmd *Command, name string) (int64, error) {
	n, err := strconv.ParseInt(cmd.Fields[name], 10, 64)
	if err != nil {
		return 0, &Error{Op: r.op.String(), Addr: r.addr, Class: Transient,
			Err: malformed("the answer has %s=%q, want a number", name, cmd.Fields[name])}
	}
	return n, nil
}

// askOffset sends a request about a queue whose answer is an offset.
func (c *Client) askOffset(ctx context.Context, q Queue, r request) (int64, error) {
	answer, err := c.askQueue(ctx, q, forReading, masterID, r)
	if err != nil {
		return 0, err
	}
	n, err := number(r, answer, "offset")
	if err == nil && n < 0 {
		return 0, &Error{Op: r.op.String(), Class: Transient, Err: fmt.Errorf("the broker answers offset %d", n)}
	}
	return n, err
}
