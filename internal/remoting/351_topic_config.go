// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"encoding/json"
)

// GET_TOPIC_CONFIG asks a broker what a topic is. Brokers before 4.9.4 do not know
// the request, and those before 5.0 know no types.

// TypeLite is the type of topics that hold lite topics.
const TypeLite = "LITE"

// TopicType returns the type of a topic, as a broker of it knows it: NORMAL, FIFO,
// DELAY, TRANSACTION, LITE, MIXED, or nothing if none was given to it.
func (c *Client) TopicType(ctx context.Context, topic, broker string) (string, error) {
	op := operation{verb: "reading the type of the topic", topic: topic, broker: broker, queue: -1}
	r := request{op: op, code: codeTopicConfig, fields: map[string]string{"topic": c.topicField(topic), "lo": "true", "bname": broker}}
	answer, err := c.askQueue(ctx, Queue{Topic: topic, Broker: broker}, forReading, masterID, r)
	if err != nil {
		return "", err
	}
	var told struct {
		Attributes map[string]string `json:"attributes"`
	}
	if err := json.Unmarshal(answer.Body, &told); err != nil {
		return "", &Error{Op: op.String(), Addr: r.addr, Class: Transient, Err: malformed("the answer is no JSON object: %v", err)}
	}
	return told.Attributes["message.type"], nil
}
