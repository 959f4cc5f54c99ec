// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"encoding/json"
)

// UPDATE_AND_CREATE_SUBSCRIPTIONGROUP makes a consumer group at one broker, or
// changes it.

// GroupConfig says what a consumer group shall be.
type GroupConfig struct {
	Name string
	// Cluster is where to make it; empty means at every master.
	Cluster string
	// RetryMaxTimes is how often a message may be given back before it goes to
	// the dead-letter topic; 0 means 16.
	RetryMaxTimes int
	// Attributes are those of RocketMQ 5.
	Attributes map[string]string
}

const defaultRetries = 16

// CreateGroup makes the consumer group, or changes it, at each master in turn;
// it stops at the first that refuses.
func (c *Client) CreateGroup(ctx context.Context, g GroupConfig) error {
	op := operation{verb: "creating the consumer group", group: g.Name, queue: -1}
	attributes := make(map[string]string, len(g.Attributes))
	for name, value := range g.Attributes {
		attributes["+"+name] = value
	}
	body, err := json.Marshal(map[string]any{
		"groupName": c.groupField(g.Name), "consumeEnable": true, "consumeFromMinEnable": true,
		"consumeBroadcastEnable": true, "retryQueueNums": 1, "retryMaxTimes": orDefault(g.RetryMaxTimes, defaultRetries),
		"brokerId": masterID, "whichBrokerWhenConsumeSlowly": 1, "notifyConsumerIdsChangedEnable": true,
		"attributes": attributes,
	})
	if err != nil {
		return &Error{Op: op.String(), Class: Permanent, Err: err}
	}
	return c.atMasters(ctx, g.Cluster, request{op: op, code: codeCreateGroup, body: body})
}
