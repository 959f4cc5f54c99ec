// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"
)

// QUERY_MESSAGE finds messages by key in a broker's index, which holds hash
// codes, so that what comes back must be compared. Without any it answers code
// 22.

// Query says which messages to find.
type Query struct {
	Topic string
	// Key is one of the message's keys, or with Unique its unique key.
	Key    string
	Unique bool
	// Broker is the broker to ask; empty means all of the topic.
	Broker string
	// Since and Until bound the time of storing; zero means unbounded.
	Since, Until time.Time
	// Max is the number of messages at most, from each broker; 0 means 32. With
	// Unique all are looked for until some are found.
	Max int
}

// matching are those of the messages that have the key. The list stays as it is.
func (q *Query) matching(all []Message) (out []Message) {
	for i := range all {
		has := all[i].UniqueKey() == q.Key
		if !q.Unique {
			has = slices.Contains(all[i].Keys(), q.Key)
		}
		if has {
			out = append(out, all[i])
		}
	}
	return out
}

// QueryMessages finds messages by key. None is no error: the result is then
// empty, and certain to the extent that each broker of the topic has answered
// and has indexed what it stored, which takes it some milliseconds. A message of
// a transaction is found once it is committed. If any broker fails, so does the
// call.
func (c *Client) QueryMessages(ctx context.Context, q Query) ([]Message, error) {
	op := operation{verb: "querying messages by key " + strconv.Quote(q.Key), topic: q.Topic, broker: q.Broker, queue: -1}
	brokers := []string{q.Broker}
	if q.Broker == "" {
		r, err := c.route(ctx, c.topicField(q.Topic))
		if err != nil {
			return nil, within(op, err)
		}
		brokers = brokers[:0]
		for _, b := range r.Brokers {
			brokers = append(brokers, b.Name)
		}
	}
	if q.Key == "" {
		return nil, &Error{Op: op.String(), Class: Permanent, Err: errors.New("the key is empty")}
	}
	var out []Message
	for _, broker := range brokers {
		op.broker = broker
		found, err := c.queryAt(ctx, op, q, broker)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func (c *Client) queryAt(ctx context.Context, op operation, q Query, broker string) ([]Message, error) {
	if q.Unique {
		return c.uniqueAt(ctx, op, q, broker)
	}
	all, err := c.indexed(ctx, op, q, broker)
	return q.matching(all), err
}

// indexed is what a broker finds in its index, some of which may have another key.
func (c *Client) indexed(ctx context.Context, op operation, q Query, broker string) ([]Message, error) {
	r := request{op: op, code: codeQueryMessage, fields: c.queryFields(q, broker), accept: []int{CodeQueryNotFound}}
	answer, err := c.askQueue(ctx, Queue{Topic: q.Topic, Broker: broker}, forReading, masterID, r)
	if err != nil || answer.Code == CodeQueryNotFound {
		return nil, err
	}
	found, err := c.decoder.Messages(answer.Body)
	if err != nil {
		return nil, &Error{Op: op.String(), Class: Transient, Err: err}
	}
	for i := range found {
		found[i].Broker = broker
		found[i].Topic = WithoutNamespace(c.cfg.Namespace, found[i].Topic)
	}
	return found, nil
}

func (c *Client) queryFields(q Query, broker string) map[string]string {
	n := q.Max
	if n <= 0 {
		n = defaultPullMax
	}
	// Until the far future, as far as a Java clock goes: the broker's may be
	// ahead of ours.
	since, until := int64(0), int64(1)<<62
	if !q.Since.IsZero() {
		since = q.Since.UnixMilli()
	}
	if !q.Until.IsZero() {
		until = q.Until.UnixMilli()
	}
	f := map[string]string{
		"topic": c.topicField(q.Topic), "key": q.Key, "maxNum": strconv.Itoa(n), "bname": broker,
		"beginTimestamp": strconv.FormatInt(since, 10), "endTimestamp": strconv.FormatInt(until, 10),
		"indexType": "K",
	}
	if q.Unique {
		f["indexType"], f["_UNIQUE_KEY_QUERY"] = "U", "true"
	}
	return f
}
