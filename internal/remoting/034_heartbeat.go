// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"encoding/json"
	"errors"
)

// HEART_BEAT tells a broker which groups live behind a connection. It forgets
// them when the connection closes, or 120 s after the last one.

// Heartbeat says who is alive.
type Heartbeat struct {
	// Topic is the topic whose brokers are told.
	Topic string
	// Producers are producer groups. A broker checks half messages at any of
	// them.
	Producers []string
	// Consumers are consumer groups. Pulling needs none of them, unless the
	// broker is set to reject pull consumers that it does not know.
	Consumers []ConsumerGroup
}

// ConsumerGroup is a group and what it reads.
type ConsumerGroup struct {
	Group      string
	Topic      string
	Expression Expression
}

// Wire forms.
type (
	heartbeatData struct {
		ClientID  string         `json:"clientID"`
		Producers []producerData `json:"producerDataSet"`
		Consumers []consumerData `json:"consumerDataSet"`
	}
	producerData struct {
		Group string `json:"groupName"`
	}
	consumerData struct {
		Group         string             `json:"groupName"`
		Type          string             `json:"consumeType"`
		Model         string             `json:"messageModel"`
		From          string             `json:"consumeFromWhere"`
		Subscriptions []subscriptionData `json:"subscriptionDataSet"`
	}
	subscriptionData struct {
		Topic      string   `json:"topic"`
		Text       string   `json:"subString"`
		Tags       []string `json:"tagsSet"`
		Codes      []int32  `json:"codeSet"`
		Version    int64    `json:"subVersion"`
		Expression string   `json:"expressionType"`
	}
)

// Heartbeat tells all brokers of the topic; it must be repeated, each 30 s or
// so. It goes to every broker even if one fails, and returns the errors joined.
func (c *Client) Heartbeat(ctx context.Context, h Heartbeat) error {
	op := operation{verb: "heartbeat", topic: h.Topic, queue: -1}
	body, err := json.Marshal(c.heartbeatData(h))
	if err != nil {
		return &Error{Op: op.String(), Class: Permanent, Err: err}
	}
	return c.eachBroker(ctx, op, func(op operation, broker string) error {
		r := request{op: op, code: codeHeartbeat, body: body, fields: map[string]string{"bname": broker}}
		_, err := c.askQueue(ctx, Queue{Topic: h.Topic, Broker: broker}, forReading, masterID, r)
		return err
	})
}

// eachBroker calls f for each broker of op's topic.
func (c *Client) eachBroker(ctx context.Context, op operation, f func(op operation, broker string) error) error {
	route, err := c.route(ctx, c.topicField(op.topic))
	if err != nil {
		return within(op, err)
	}
	var errs []error
	for _, b := range route.Brokers {
		op.broker = b.Name
		errs = append(errs, f(op, b.Name))
	}
	return errors.Join(errs...)
}

func (c *Client) heartbeatData(h Heartbeat) heartbeatData {
	data := heartbeatData{ClientID: c.cfg.ClientID, Producers: []producerData{}, Consumers: []consumerData{}}
	for _, group := range h.Producers {
		data.Producers = append(data.Producers, producerData{Group: c.groupField(group)})
	}
	for _, g := range h.Consumers {
		data.Consumers = append(data.Consumers, consumerData{Group: c.groupField(g.Group), Type: "CONSUME_ACTIVELY",
			Model: "CLUSTERING", From: "CONSUME_FROM_LAST_OFFSET", Subscriptions: []subscriptionData{c.subscription(g.Topic, g.Expression)}})
	}
	return data
}

func (c *Client) subscription(topic string, e Expression) subscriptionData {
	sub := subscriptionData{Topic: c.topicField(topic), Text: e.String(),
		Expression: e.Type(), Tags: []string{}, Codes: []int32{}}
	for _, tag := range e.tags {
		sub.Tags, sub.Codes = append(sub.Tags, tag), append(sub.Codes, javaHash(tag))
	}
	return sub
}
