// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import "context"

// UNREGISTER_CLIENT takes a heartbeat back.

// Unregister tells all brokers of the topic that a producer group, a consumer
// group, or both, are no longer behind this client. Empty means: not this one.
func (c *Client) Unregister(ctx context.Context, topic, producer, consumer string) error {
	op := operation{verb: "unregistering", topic: topic, group: producer + consumer, queue: -1}
	return c.eachBroker(ctx, op, func(op operation, broker string) error {
		r := request{op: op, code: codeUnregister, fields: map[string]string{"clientID": c.cfg.ClientID, "bname": broker}}
		if producer != "" {
			r.fields["producerGroup"] = c.groupField(producer)
		}
		if consumer != "" {
			r.fields["consumerGroup"] = c.groupField(consumer)
		}
		_, err := c.askQueue(ctx, Queue{Topic: topic, Broker: broker}, forReading, masterID, r)
		return err
	})
}
