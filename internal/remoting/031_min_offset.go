// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import "context"

// GET_MIN_OFFSET asks for the beginning of a queue.

// MinOffset returns the offset of the first message that the broker still has;
// of an empty queue, that of the message that will be stored next.
func (c *Client) MinOffset(ctx context.Context, q Queue) (int64, error) {
	return c.askOffset(ctx, q, request{op: queueOp("reading the beginning", q, ""), code: codeMinOffset, fields: c.queueFields(q)})
}
