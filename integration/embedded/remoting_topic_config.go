// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"encoding/json"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// topicConfig answers GET_TOPIC_CONFIG (351).
func (c *remotingCall) topicConfig() *remoting.Command {
	if a := c.missing("topic"); a != nil {
		return a
	}
	name := c.text("topic")
	core := c.at.b.core
	core.mu.Lock()
	defer core.mu.Unlock()
	t := core.topics[name]
	if t == nil || c.at.broker >= len(t.shapes) {
		return c.refuse(remoting.CodeTopicNotExist, "No topic in this broker. topic: %s", name)
	}
	s := t.shapes[c.at.broker]
	body, err := json.Marshal(map[string]any{
		"topicName": name, "readQueueNums": s.reads, "writeQueueNums": s.writes, "perm": s.perm, "order": s.order,
		"topicFilterType": "SINGLE_TAG", "topicSysFlag": 0, "attributes": map[string]string{"message.type": string(t.kind)},
	})
	if err != nil {
		return c.refuse(remoting.CodeSystemError, "%v", err)
	}
	return &remoting.Command{Body: body}
}
