// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"errors"
	"strings"
	"time"
)

// SEND_BATCH_MESSAGE stores several messages of one queue: all of them, or
// none.

// batchEntryRoom is what an entry needs beside its body and properties: its fixed
// fields and a unique key. More would cost a copy, no more.
const batchEntryRoom = 22 + 64

// SendBatch stores messages in the queue, in their order, with consecutive
// offsets. All are of one time and none may be half or compressed. The broker
// refuses batches with delays, and those larger than its maxMessageSize (4 MiB).
// What [Client.Send] says of errors holds for the batch as a whole.
func (c *Client) SendBatch(ctx context.Context, q Queue, group string, messages []*OutMessage) (*SendResult, error) {
	op := queueOp("sending a batch", q, group)
	size := 0
	for _, m := range messages {
		size += len(m.Body) + len(m.Properties) + batchEntryRoom
	}
	buffer := c.newBody(size)
	defer buffer.release()
	keys := make([]string, 0, len(messages))
	refuse := func(err error) (*SendResult, error) {
		return nil, &Error{Op: op.String(), Class: Permanent, Err: err}
	}
	for _, m := range messages {
		if m.Half || m.Compression != NoCompression {
			return refuse(errors.New("messages of a batch cannot be half or compressed"))
		}
		key := m.UniqueKey
		if key == "" {
			key = c.NewUniqueKey()
		}
		var err error
		if buffer.bytes, err = appendKeyed(buffer.bytes, m, key); err != nil {
			return refuse(err)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return refuse(errors.New("the batch is empty"))
	}
	born := messages[0].Born
	if born.IsZero() {
		born = time.Now()
	}
	// Where a topic keeps batches whole, the batch needs a key of its own.
	var w PropertyWriter
	_ = w.Add(PropertyUniqueKey, strings.Join(keys, ",")) // each of them was written before
	p, err := w.Properties()
	if err != nil {
		p = PropertiesOf(PropertyUniqueKey, keys[0])
	}
	r := request{op: op, code: codeSendBatch, body: buffer.bytes, buffer: buffer,
		fields: c.sendFields(shortNames, q, group, 0, born, 0, p, true)}
	return c.store(ctx, q, r, keys)
}

// appendKeyed appends m as an entry of a batch's body. Its key goes behind its
// properties without a copy of both.
func appendKeyed(b []byte, m *OutMessage, key string) ([]byte, error) {
	if err := checkProperty(PropertyUniqueKey, key); err != nil {
		return b, err
	}
	size := len(m.Properties) + len(PropertyUniqueKey) + len(nameEnd) + len(key) + len(valueEnd)
	if err := checkPropertiesSize(size); err != nil {
		return b, err
	}
	b = appendEntry(b, BatchEntry{Flag: m.Flag, Body: m.Body}, size)
	for _, part := range [...]string{string(m.Properties), PropertyUniqueKey, nameEnd, key, valueEnd} {
		b = append(b, part...)
	}
	return b, nil
}

func splitList(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}
