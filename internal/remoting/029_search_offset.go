// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"strconv"
	"time"
)

// SEARCH_OFFSET_BY_TIMESTAMP finds an offset by time of storing, in
// milliseconds.

// OffsetByTime returns the offset of the first message that was stored at t or
// later, to the millisecond; when there is none, the offset of the message that
// will be stored next. On an empty queue that has never had a message it is 0.
// A broker may answer 0 for times before its oldest message, even where the
// queue begins later: compare with [Client.MinOffset].
func (c *Client) OffsetByTime(ctx context.Context, q Queue, t time.Time) (int64, error) {
	r := request{op: queueOp("reading the offset at "+t.UTC().Format(time.RFC3339Nano), q, ""),
		code: codeSearchOffset, fields: c.queueFields(q)}
	r.fields["timestamp"] = strconv.FormatInt(ceilMillis(t), 10)
	r.fields["boundaryType"] = "lower"
	return c.askOffset(ctx, q, r)
}

// ceilMillis rounds up, for a message stored in the same millisecond is stored
// before t.
func ceilMillis(t time.Time) int64 {
	ms := t.UnixMilli()
	if time.UnixMilli(ms).Before(t) {
		ms++
	}
	return max(ms, 0)
}
