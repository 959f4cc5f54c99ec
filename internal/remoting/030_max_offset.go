// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import "context"

// GET_MAX_OFFSET asks for the end of a queue.

// MaxOffset returns the offset of the message that will be stored next.
func (c *Client) MaxOffset(ctx context.Context, q Queue) (int64, error) {
	return c.askOffset(ctx, q, request{op: queueOp("reading the end", q, ""), code: codeMaxOffset, fields: c.queueFields(q)})
}
