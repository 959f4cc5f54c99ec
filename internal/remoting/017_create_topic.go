// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// UPDATE_AND_CREATE_TOPIC makes a topic at one broker, or changes it.

// TopicConfig says what a topic shall be.
type TopicConfig struct {
	Name string
	// Cluster is where to make it; empty means at every master.
	Cluster string
	// ReadQueues and WriteQueues are the numbers of queues at each broker; 0
	// means 8.
	ReadQueues, WriteQueues int
	// Perm is PermRead, PermWrite or both; 0 means both.
	Perm int
	// Attributes are those of RocketMQ 5, for instance "message.type": "FIFO".
	Attributes map[string]string
}

const defaultQueues = 8

// CreateTopic makes the topic, or changes it, at each master in turn; it stops
// at the first that refuses. Brokers tell the name servers a moment later.
func (c *Client) CreateTopic(ctx context.Context, t TopicConfig) error {
	op := operation{verb: "creating the topic", topic: t.Name, queue: -1}
	attributes := make([]string, 0, len(t.Attributes))
	for _, name := range slices.Sorted(maps.Keys(t.Attributes)) {
		attributes = append(attributes, fmt.Sprintf("+%s=%s", name, t.Attributes[name]))
	}
	return c.atMasters(ctx, t.Cluster, request{op: op, code: codeCreateTopic, fields: map[string]string{
		"topic":           c.topicField(t.Name),
		"defaultTopic":    "TBW102",
		"readQueueNums":   strconv.Itoa(orDefault(t.ReadQueues, defaultQueues)),
		"writeQueueNums":  strconv.Itoa(orDefault(t.WriteQueues, defaultQueues)),
		"perm":            strconv.Itoa(orDefault(t.Perm, PermRead|PermWrite)),
		"topicFilterType": "SINGLE_TAG",
		"topicSysFlag":    "0",
		"order":           "false",
		"attributes":      strings.Join(attributes, ","),
	}})
}

func orDefault(n, other int) int {
	if n <= 0 {
		return other
	}
	return n
}
