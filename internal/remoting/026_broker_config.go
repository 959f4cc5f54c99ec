// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"slices"
	"strings"
)

// GET_BROKER_CONFIG asks a broker for its settings. The answer's body has a line
// "name=value" for each of them, in no order. With access control brokers tell
// them to those who may read the cluster's own data only.

// BrokerConfig returns those of the names that the broker has a setting for. The
// broker is one of the topic's. Other settings, among which there may be keys of
// the broker's own, are not kept.
func (c *Client) BrokerConfig(ctx context.Context, topic, broker string, names ...string) (map[string]string, error) {
	op := operation{verb: "reading the settings", topic: topic, broker: broker, queue: -1}
	r := request{op: op, code: codeBrokerConfig, fields: map[string]string{"bname": broker}}
	answer, err := c.askQueue(ctx, Queue{Topic: topic, Broker: broker}, forReading, masterID, r)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for line := range strings.Lines(string(answer.Body)) {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "=")
		if ok && slices.Contains(names, name) {
			out[name] = value
		}
	}
	return out, nil
}
