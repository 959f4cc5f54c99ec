// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"fmt"
	"strconv"
)

// END_TRANSACTION commits a half message or rolls it back. The broker answers
// it, unless told that the outcome is not known yet.

// Half is all that ending a transaction needs. It may be kept and used by
// another process.
type Half struct {
	Topic  string `json:"topic"`
	Group  string `json:"group"` // the producer group that sent it
	Broker string `json:"broker"`
	// UniqueKey is that of the message.
	UniqueKey string `json:"unique_key"`
	// QueueOffset and PhysicalOffset say where the half message is.
	QueueOffset    int64 `json:"queue_offset"`
	PhysicalOffset int64 `json:"physical_offset"`
}

// Half returns the handle of a half message that was sent for the group.
func (r *SendResult) Half(group string) (Half, error) {
	if len(r.OffsetIDs) != 1 || len(r.UniqueKeys) != 1 {
		return Half{}, fmt.Errorf("the result of sending has %d ids, want 1", len(r.OffsetIDs))
	}
	_, physical, err := ParseOffsetID(r.OffsetIDs[0])
	if err != nil {
		return Half{}, err
	}
	return Half{Topic: r.Queue.Topic, Group: group, Broker: r.Queue.Broker, UniqueKey: r.UniqueKeys[0],
		QueueOffset: r.Offset, PhysicalOffset: physical}, nil
}

// Outcome is how a transaction ends.
type Outcome int

// The outcomes.
const (
	// Unknown: not decided. The broker asks again later.
	Unknown Outcome = 0
	// Commit: consumers see the message.
	Commit Outcome = 2 << 2
	// Rollback: nobody ever sees it.
	Rollback Outcome = 3 << 2
)

func (o Outcome) String() string {
	switch o {
	case Unknown:
		return "unknown"
	case Commit:
		return "commit"
	case Rollback:
		return "rollback"
	}
	return fmt.Sprintf("outcome %d", int(o))
}

// EndTransaction ends the transaction of a half message and returns when the
// broker has answered. It can be repeated, but is not idempotent: a second
// commit stores the message a second time. Class NotFound means that the half
// message is gone, code [CodeIllegalOperation] that its check immunity time is
// over. Unknown is sent without waiting, for brokers do not answer it.
func (c *Client) EndTransaction(ctx context.Context, h Half, o Outcome) error {
	r := c.endRequest(h, o)
	_, err := c.askQueue(ctx, Queue{Topic: h.Topic, Broker: h.Broker}, forWriting, masterID, r)
	return err
}

func (c *Client) endRequest(h Half, o Outcome) request {
	op := operation{verb: "transaction " + h.UniqueKey + ": " + o.String(), topic: h.Topic, group: h.Group, broker: h.Broker, queue: -1}
	return request{op: op, code: codeEndTransaction, oneWay: o == Unknown, fields: map[string]string{
		"topic":                c.topicField(h.Topic),
		"producerGroup":        c.groupField(h.Group),
		"tranStateTableOffset": strconv.FormatInt(h.QueueOffset, 10),
		"commitLogOffset":      strconv.FormatInt(h.PhysicalOffset, 10),
		"commitOrRollback":     strconv.Itoa(int(o)),
		"fromTransactionCheck": "false",
		"msgId":                h.UniqueKey,
		"transactionId":        h.UniqueKey,
		"bname":                h.Broker,
	}}
}
