// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"slices"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// viewMessage answers VIEW_MESSAGE_BY_ID (33), for an offset of the commit log.
func (c *remotingCall) viewMessage() *remoting.Command {
	if a := c.missing("offset"); a != nil {
		return a
	}
	at := c.number("offset", -1)
	r := c.at.b.core.byCommitLog(at)
	if r == nil {
		return c.refuse(remoting.CodeSystemError, "can not find message by the offset, %d", at)
	}
	return &remoting.Command{Body: encodeRecords([]*record{r}, c.at)}
}

func (c *core) byCommitLog(at int64) *record {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.topics {
		i, ok := slices.BinarySearchFunc(t.order, at, func(r *record, at int64) int { return int(r.commitLog - at) })
		if ok {
			t.order[i].wireOf()
			return t.order[i]
		}
	}
	return nil
}
