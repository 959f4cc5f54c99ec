// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// searchOffset answers SEARCH_OFFSET_BY_TIMESTAMP (29), with milliseconds.
func (c *remotingCall) searchOffset() *remoting.Command {
	if a := c.missing("timestamp"); a != nil {
		return a
	}
	at := time.UnixMilli(c.number("timestamp", 0))
	upper := c.text("boundaryType") == "upper"
	return c.ofQueue(func(q *queue) int64 { return q.searchTime(at, upper) })
}
