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

// PULL_MESSAGE reads messages from an offset on. A broker without new messages
// may hold the request until one comes or a time is up. In a broker's answer
// NO_NEW comes as code 19, "nothing matched, go on at …" as 20, and an offset
// that cannot be read as 21.

// PullRequest says what to read.
type PullRequest struct {
	Queue Queue
	// Group is the consumer group, which the broker must know or may create.
	Group string
	// Offset is that of the first message wanted. Never negative.
	Offset int64
	// Max is the number of messages at most; 0 means 32. The broker's own limits
	// (maxTransferCountOnMessageInMemory, 32, and 256 KiB) count, too.
	Max int
	// Expression selects messages.
	Expression Expression
	// Suspend is how long the broker may hold the request when there is nothing
	// new. 0 means: answer at once. Brokers look every 5 s, so that an answer
	// without messages may come that much later.
	Suspend time.Duration
	// BrokerID is which broker of this name to ask, as a result suggested; 0 is
	// the master, which is also asked when there is no broker with this id.
	BrokerID int64
}

// PullStatus says what a pull found.
type PullStatus int

// What a pull finds.
const (
	// Found: messages, of which none may be left when tags were compared.
	Found PullStatus = iota
	// NoNew: the queue ends at the offset.
	NoNew
	// NoMatch: nothing selected up to Next; read on there. A broker also answers
	// so when the messages at the offset are about to be deleted.
	NoMatch
	// Moved: nothing can be read at the offset.
	Moved
)

func (s PullStatus) String() string {
	return [...]string{"FOUND", "NO_NEW_MSG", "NO_MATCHED_MSG", "OFFSET_ILLEGAL"}[s]
}

// PullResult is what a pull found.
type PullResult struct {
	Status PullStatus
	// Next is where to read on. It lies behind messages that were not selected.
	Next int64
	// Min and Max are the offsets of the queue's first message and of the one
	// that will be written next.
	Min, Max int64
	// Messages are in the order of their offsets.
	Messages []Message
	// SuggestBroker is the id of the broker to ask next time.
	SuggestBroker int64
	// Bytes is the size of the answer's body.
	Bytes int
}

const defaultPullMax = 32

// Bits of a pull's system flag.
const (
	pullSuspend      = 1 << 1
	pullSubscription = 1 << 2 // the expression comes with the request
)

// Pull reads messages. When the context ends, it returns at once; the broker
// may answer the abandoned request later, to nobody.
//
// An offset that cannot be read is an error of class OffsetMoved, beside a
// result with status Moved whose Min, Max and Next say what the queue holds, so
// that nobody skips messages without wanting to. With other errors the result
// is nil, but for an answer that is damaged in the middle: then it has the
// messages before the damage, and Next is behind them.
func (c *Client) Pull(ctx context.Context, p PullRequest) (*PullResult, error) {
	op := queueOp("pulling", p.Queue, p.Group)
	if p.Offset < 0 {
		return nil, &Error{Op: op.String(), Class: Permanent, Err: errors.New("the offset is " + strconv.FormatInt(p.Offset, 10))}
	}
	r := request{op: op, code: codePull, fields: c.pullFields(p), accept: []int{CodePullNotFound, CodePullRetryImmediately}}
	if p.Suspend > 0 {
		r.wait = p.Suspend + pollGrace
	}
	answer, err := c.askQueue(ctx, p.Queue, forReading, p.BrokerID, r)
	if err != nil && (answer == nil || ClassOf(err) != OffsetMoved) {
		return nil, err // also if the context ended because of another pull's moved offset
	}
	out, bad := pullResult(r, answer)
	if bad != nil {
		return nil, bad
	}
	if err != nil || out.Status != Found {
		return out, err
	}
	if out.Messages, bad = c.decoder.Messages(answer.Body); bad != nil {
		err = &Error{Op: op.String(), Class: Transient, Err: bad}
		out.Next = p.Offset
		if n := len(out.Messages); n > 0 {
			out.Next = out.Messages[n-1].QueueOffset + 1
		}
	}
	c.finish(out, p, answer)
	return out, err
}

func (c *Client) pullFields(p PullRequest) map[string]string {
	n := p.Max
	if n <= 0 {
		n = defaultPullMax
	}
	flag := pullSubscription
	if p.Suspend > 0 {
		flag |= pullSuspend
	}
	f := c.queueFields(p.Queue)
	f["consumerGroup"] = c.groupField(p.Group)
	f["queueOffset"] = strconv.FormatInt(p.Offset, 10)
	f["maxMsgNums"] = strconv.Itoa(n)
	f["sysFlag"] = strconv.Itoa(flag)
	f["commitOffset"] = "0" // committing is a request of its own, with an answer
	f["suspendTimeoutMillis"] = strconv.FormatInt(p.Suspend.Milliseconds(), 10)
	f["subscription"] = p.Expression.String()
	f["subVersion"] = "0"
	f["expressionType"] = p.Expression.Type()
	return f
}

// pullResult reads the fields of an answer.
func pullResult(r request, answer *Command) (*PullResult, error) {
	out := &PullResult{Bytes: len(answer.Body)}
	switch answer.Code {
	case CodePullNotFound:
		out.Status = NoNew
	case CodePullRetryImmediately:
		out.Status = NoMatch
	case CodePullOffsetMoved:
		out.Status = Moved
	}
	for _, f := range []struct {
		name string
		to   *int64
	}{{"nextBeginOffset", &out.Next}, {"minOffset", &out.Min}, {"maxOffset", &out.Max}} {
		n, err := number(r, answer, f.name)
		if err != nil {
			return nil, err
		}
		*f.to = n
	}
	if id, err := strconv.ParseInt(answer.Fields["suggestWhichBrokerId"], 10, 64); err == nil {
		out.SuggestBroker = id
	}
	return out, nil
}

// finish makes the messages what the caller asked for.
func (c *Client) finish(out *PullResult, p PullRequest, answer *Command) {
	// The offsets of a queue that has moved between brokers are shifted.
	shift, _ := strconv.ParseInt(answer.Fields["offsetDelta"], 10, 64)
	asStored, topic := "", ""
	for i := range out.Messages {
		m := &out.Messages[i]
		m.QueueOffset += shift
		m.Broker, m.QueueID = p.Queue.Broker, p.Queue.ID
		if m.Topic != asStored {
			asStored = m.Topic
			topic = WithoutNamespace(c.cfg.Namespace, asStored)
		}
		m.Topic = topic
	}
	// A batch that is stored as one comes whole, even if the offset is within.
	out.Messages = slices.DeleteFunc(out.Messages, func(m Message) bool {
		return m.QueueOffset < p.Offset || !p.Expression.match(&m)
	})
}
