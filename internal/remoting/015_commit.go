// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"fmt"
	"strconv"
)

// UPDATE_CONSUMER_OFFSET writes a group's committed offset of a queue.

// Commit commits offset, that of the message the group wants next, and returns
// when the broker has answered. The broker takes any offset, also one lower than
// before, and writes it to disk within some seconds (flushConsumerOffsetInterval).
// A group or topic that does not exist is an error of 5.5.0; older brokers may
// take it. Negative offsets are refused here.
func (c *Client) Commit(ctx context.Context, q Queue, group string, offset int64) error {
	op := queueOp("committing offset "+strconv.FormatInt(offset, 10), q, group)
	if offset < 0 {
		return &Error{Op: op.String(), Class: Permanent, Err: fmt.Errorf("offset %d is negative", offset)}
	}
	r := request{op: op, code: codeCommit, fields: c.queueFields(q)}
	r.fields["consumerGroup"] = c.groupField(group)
	r.fields["commitOffset"] = strconv.FormatInt(offset, 10)
	_, err := c.askQueue(ctx, q, forWriting, masterID, r)
	return err
}
