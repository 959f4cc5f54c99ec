// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import "context"

// QUERY_CONSUMER_OFFSET reads a group's committed offset of a queue. A broker
// that has none answers code 22, but only if it is told so: by default it
// answers offset 0 as if it were committed, when the queue still begins at 0
// and is held in memory.

// QueryCommitted returns what the group has committed for the queue, which is
// the offset of the message it wants next. found is false if, and only if, the
// broker says that there is none; every failure to find out is an error, so
// that nobody takes it for a group that never was. (Brokers of 4.x may not know
// how to say so, and answer offset 0 where this would come to the same.)
func (c *Client) QueryCommitted(ctx context.Context, q Queue, group string) (offset int64, found bool, err error) {
	r := request{op: queueOp("reading the committed offset", q, group), code: codeQueryCommitted,
		fields: c.queueFields(q), accept: []int{CodeQueryNotFound}}
	r.fields["consumerGroup"] = c.groupField(group)
	r.fields["setZeroIfNotFound"] = "false"
	answer, err := c.askQueue(ctx, q, forReading, masterID, r)
	if err != nil || answer.Code == CodeQueryNotFound {
		return 0, false, err
	}
	offset, err = number(r, answer, "offset")
	// Brokers of others answer -1 where Apache's answers code 22.
	return max(offset, 0), err == nil && offset >= 0, err
}
