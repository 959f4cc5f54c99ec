// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// consumerList answers GET_CONSUMER_LIST_BY_GROUP (38): the client ids that
// heartbeats have told of.
func (c *remotingCall) consumerList() *remoting.Command {
	if a := c.missing("consumerGroup"); a != nil {
		return a
	}
	core := c.at.b.core
	core.mu.Lock()
	defer core.mu.Unlock()
	m := core.consumers[c.text("consumerGroup")]
	if m == nil || len(m.clients) == 0 {
		return c.refuse(remoting.CodeSystemError, "no consumer for this group, %s", c.text("consumerGroup"))
	}
	var out struct {
		IDs []string `json:"consumerIdList"`
	}
	out.IDs = slices.Sorted(maps.Keys(m.clients))
	body, err := json.Marshal(out)
	if err != nil {
		return c.refuse(remoting.CodeSystemError, "%v", err)
	}
	return &remoting.Command{Body: body}
}
