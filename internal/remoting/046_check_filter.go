// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"encoding/json"
)

// CHECK_CLIENT_CONFIG has a broker compile a filter expression. Pulling does
// not tell: RocketMQ 5.5.0 lets every message pass an SQL expression that it
// cannot compile.

// CheckFilter asks the brokers of a topic whether they take the expression.
// Class Permanent means that one does not. Ask before pulling with an SQL
// expression. Tag expressions are always right, and nobody is asked.
func (c *Client) CheckFilter(ctx context.Context, topic, group string, e Expression) error {
	if e.Type() == typeTag {
		return nil
	}
	op := operation{verb: "checking the filter " + e.String(), topic: topic, group: group, queue: -1}
	body, err := json.Marshal(map[string]any{"clientId": c.cfg.ClientID, "group": c.groupField(group),
		"subscriptionData": c.subscription(topic, e)})
	if err != nil {
		return &Error{Op: op.String(), Class: Permanent, Err: err}
	}
	return c.eachBroker(ctx, op, func(op operation, broker string) error {
		r := request{op: op, code: codeCheckClient, body: body, fields: map[string]string{"bname": broker}}
		_, err := c.askQueue(ctx, Queue{Topic: topic, Broker: broker}, forReading, masterID, r)
		return err
	})
}
