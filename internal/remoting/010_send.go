// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"errors"
	"strconv"
	"time"
)

// SEND_MESSAGE stores one message. Request 310 is the same with short names,
// and saves the broker work; this one is for servers that do not know it.

// OutMessage is a message to be sent.
type OutMessage struct {
	// Body is what is sent. It must not be changed, not even after an error: a long
	// one is not copied, and may still be on its way when the caller has given up.
	Body []byte
	// Properties hold tags, keys and everything else but the unique key.
	Properties Properties
	// UniqueKey is the message's id; empty: sending makes one.
	UniqueKey string
	// Flag is the sender's own.
	Flag int32
	// Born is when the message was made; zero means now.
	Born time.Time
	// Compression is how the body travels and is stored.
	Compression Compression
	// Half makes it a half message: no consumer sees it before
	// [Client.EndTransaction] commits it. Not in batches.
	Half bool
}

// SendStatus says how safe a stored message is.
type SendStatus int

// What a broker answers about a message that it has stored. All but SendOK mean
// that it is in the memory of one machine, no more, when the answer is given.
const (
	SendOK SendStatus = iota
	FlushDiskTimeout
	FlushSlaveTimeout
	SlaveNotAvailable
)

func (s SendStatus) String() string {
	return [...]string{"SEND_OK", "FLUSH_DISK_TIMEOUT", "FLUSH_SLAVE_TIMEOUT", "SLAVE_NOT_AVAILABLE"}[s]
}

// SendResult is where a message was stored.
type SendResult struct {
	Status SendStatus
	// Queue is where it is, Offset its place there; of a batch, that of its
	// first message. Of a half message, Queue is where it will be once it is
	// committed, and Offset its place in the broker's topic of half messages.
	Queue  Queue
	Offset int64
	// OffsetIDs are the offset message ids, one for each message.
	OffsetIDs []string
	// UniqueKeys are the unique keys, one for each message.
	UniqueKeys []string
	// TransactionID is the broker's; of a half message it is the unique key.
	TransactionID string
}

// Send stores m in the queue. group is the producer group. A queue id of -1
// leaves the choice to the broker. The error is Permanent for a message that
// the broker will never take.
//
// A call that failed without an answer, by a timeout or a lost connection, may
// have stored the message.
func (c *Client) Send(ctx context.Context, q Queue, group string, m *OutMessage) (*SendResult, error) {
	return c.sendOne(ctx, q, group, m, codeSend, longNames)
}

// fieldNames maps the fields of a send to those of the wire.
type fieldNames [14]string

// The fields in the order of request 310's letters.
var longNames = fieldNames{"producerGroup", "topic", "defaultTopic", "defaultTopicQueueNums", "queueId", "sysFlag",
	"bornTimestamp", "flag", "properties", "reconsumeTimes", "unitMode", "maxReconsumeTimes", "batch", "bname"}

func (c *Client) sendOne(ctx context.Context, q Queue, group string, m *OutMessage, code int, names fieldNames) (*SendResult, error) {
	op := queueOp("sending a message", q, group)
	key, e, sysFlag, err := c.prepare(m, group)
	if err != nil {
		return nil, &Error{Op: op.String(), Class: Permanent, Err: err}
	}
	born := m.Born
	if born.IsZero() {
		born = time.Now()
	}
	r := request{op: op, code: code, body: e.Body,
		fields: c.sendFields(names, q, group, sysFlag, born, e.Flag, e.Properties, false)}
	return c.store(ctx, q, r, []string{key})
}

// prepare makes of m what is sent.
func (c *Client) prepare(m *OutMessage, group string) (key string, e BatchEntry, sysFlag int32, err error) {
	if key = m.UniqueKey; key == "" {
		key = c.NewUniqueKey()
	}
	var w PropertyWriter
	w.Grow(len(m.Properties) + len(PropertyUniqueKey) + len(key) + 2)
	w.b.WriteString(string(m.Properties))
	err = w.Add(PropertyUniqueKey, key)
	if m.Half {
		err = errors.Join(err, w.Add(propertyPrepared, "true"), w.Add(propertyProducerGroup, c.groupField(group)))
		sysFlag |= sysPrepared
	}
	e = BatchEntry{Flag: m.Flag, Body: m.Body}
	if err == nil {
		e.Properties, err = w.Properties()
	}
	if err != nil {
		return "", e, 0, err
	}
	if m.Compression != NoCompression {
		sysFlag |= sysCompressed | int32(m.Compression)<<sysCompressionPos
		if e.Body, err = compress(m.Compression, m.Body); err != nil {
			return "", e, 0, err
		}
	}
	return key, e, sysFlag, nil
}

func (c *Client) sendFields(names fieldNames, q Queue, group string, sysFlag int32, born time.Time,
	flag int32, p Properties, batch bool) map[string]string {
	return map[string]string{
		names[0]:  c.groupField(group),
		names[1]:  c.topicField(q.Topic),
		names[2]:  "TBW102", // the pattern for topics that a broker makes by itself
		names[3]:  "4",
		names[4]:  strconv.Itoa(q.ID),
		names[5]:  strconv.Itoa(int(sysFlag)),
		names[6]:  strconv.FormatInt(born.UnixMilli(), 10),
		names[7]:  strconv.Itoa(int(flag)),
		names[8]:  string(p),
		names[9]:  "0",
		names[10]: "false",
		names[12]: strconv.FormatBool(batch),
		names[13]: q.Broker,
	}
}

// store sends r and reads where the messages went.
func (c *Client) store(ctx context.Context, q Queue, r request, keys []string) (*SendResult, error) {
	r.accept = []int{CodeFlushDiskTimeout, CodeFlushSlaveTimeout, CodeSlaveNotAvailable}
	answer, err := c.askQueue(ctx, q, forWriting, masterID, r)
	if err != nil {
		return nil, err
	}
	out := &SendResult{Queue: q, UniqueKeys: keys, TransactionID: answer.Fields["transactionId"]}
	switch answer.Code {
	case CodeFlushDiskTimeout:
		out.Status = FlushDiskTimeout
	case CodeFlushSlaveTimeout:
		out.Status = FlushSlaveTimeout
	case CodeSlaveNotAvailable:
		out.Status = SlaveNotAvailable
	}
	id, err := number(r, answer, "queueId")
	if err != nil {
		return nil, err
	}
	out.Queue.ID = int(id)
	if out.Offset, err = number(r, answer, "queueOffset"); err != nil {
		return nil, err
	}
	out.OffsetIDs = splitList(answer.Fields["msgId"])
	return out, nil
}
