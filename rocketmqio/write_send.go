// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"strconv"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/asyncsink"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// outgoing is a message on its way.
type outgoing struct {
	topic string
	wire  remoting.OutMessage
	size  int // its share of a batch
	lane  asyncsink.Lane
	queue *remoting.Queue // nil: any
}

// stored is what the broker said of a message.
type stored struct {
	queue  remoting.Queue
	offset int64
	id     string
	status WriteStatus
}

// entryOverhead is what a batch needs for each message beside body and properties.
const entryOverhead = 22

// convert makes of an element what is sent, or says why no broker would take it.
func (s *writeSession) convert(ctx context.Context, el *written) (*outgoing, error) {
	m := &el.message
	if m.Topic == "" {
		m.Topic = s.cfg.Topic
	}
	if m.Tag == "" {
		m.Tag = s.cfg.Tag
	}
	if m.UniqueKey == "" {
		m.UniqueKey = s.client.NewUniqueKey()
	}
	if err := checkMessage(m, s.cfg.MaxBody, s.cfg.Guarantee == ExactlyOnce); err != nil {
		return nil, err
	}
	var w remoting.PropertyWriter
	size, err := m.writeProperties(&w)
	if err != nil {
		return nil, err
	}
	o := &el.out
	*o = outgoing{topic: m.Topic, wire: remoting.OutMessage{Body: m.Body, UniqueKey: m.UniqueKey, Born: time.Now()}, size: entryOverhead + len(m.Body) + size}
	if s.cfg.Guarantee == ExactlyOnce {
		err = s.makeHalf(m, o, &w, size)
	} else {
		err = s.assign(ctx, m, o)
	}
	if err != nil {
		return nil, err
	}
	o.wire.Properties, err = w.Properties()
	return o, err
}

// assign says with which others the message may share requests. Those with
// sharding keys share them with what goes to the same queue; those with delays go
// alone, for a broker does not see the delays of a batch.
func (s *writeSession) assign(ctx context.Context, m *OutgoingMessage, o *outgoing) error {
	switch {
	case m.ShardingKey != "":
		q, err := s.fixedQueue(ctx, m)
		if err != nil {
			return err
		}
		o.queue = &q
		o.lane = asyncsink.Lane{Key: "ordered/" + m.Topic + "/" + q.Broker + "/" + strconv.Itoa(q.ID), Ordered: true}
	case m.DelayLevel > 0 || !m.DeliverAt.IsZero():
		o.lane = asyncsink.Lane{Key: "delayed/" + m.Topic, MaxBatch: 1}
	default:
		o.lane = s.plainLane(m.Topic)
	}
	return nil
}

// plainLane is that of messages that may go to any queue, beside all others of
// their topic.
func (s *writeSession) plainLane(topic string) asyncsink.Lane {
	if topic == s.cfg.Topic {
		return s.plain
	}
	return asyncsink.Lane{Key: "plain/" + topic}
}

// fixedQueue waits for the topic's route as long as a send would.
func (s *writeSession) fixedQueue(ctx context.Context, m *OutgoingMessage) (remoting.Queue, error) {
	begin := time.Now()
	for {
		q, err := s.routes.fixed(ctx, m.Topic, m.ShardingKey)
		if err == nil || ctx.Err() != nil || judgeSend(err) == asyncsink.Final || time.Since(begin) >= s.cfg.Patience {
			return q, err
		}
		select {
		case <-time.After(routePause):
		case <-ctx.Done():
			return q, context.Cause(ctx)
		}
	}
}

// submit sends messages of one lane, and enters what the broker said of each.
func (s *writeSession) submit(ctx context.Context, list []*outgoing, verdicts []asyncsink.Verdict[stored]) {
	began := time.Now()
	result, err := s.send(ctx, list)
	if err == nil && s.cfg.Guarantee == ExactlyOnce {
		err = checkHalf(result)
	}
	if err != nil {
		s.quiet.Failed(s.log, began, err, "topic", list[0].topic)
		for i := range verdicts {
			verdicts[i].Err = err
		}
		return
	}
	s.quiet.Broken()
	status := statusOf(result.Status)
	policy := s.cfg.Unsafe[status]
	for i := range verdicts {
		verdicts[i] = asyncsink.Verdict[stored]{Ack: stored{queue: result.Queue, offset: result.Offset + int64(i), status: status}}
		if i < len(result.OffsetIDs) {
			verdicts[i].Ack.id = result.OffsetIDs[i]
		}
		if policy == RetryUnsafe || policy == FailUnsafe {
			verdicts[i].Err = &unsafeStatus{status, policy}
		}
	}
}

// send chooses a queue and sends one request.
func (s *writeSession) send(ctx context.Context, list []*outgoing) (*remoting.SendResult, error) {
	q, err := s.queueFor(ctx, list[0])
	if err != nil {
		return nil, err
	}
	var result *remoting.SendResult
	if len(list) == 1 {
		result, err = s.client.SendV2(ctx, q, s.cfg.Group, &list[0].wire)
	} else {
		batch := make([]*remoting.OutMessage, len(list))
		for i, o := range list {
			batch[i] = &o.wire
		}
		result, err = s.client.SendBatch(ctx, q, s.cfg.Group, batch)
	}
	switch {
	case err == nil:
		s.routes.answered(q)
	case isBrokersFault(err):
		s.routes.failed(q)
	case codeOf(err) == remoting.CodeInvalidParameter:
		s.routes.gone(q.Topic)
	}
	return result, err
}

func (s *writeSession) queueFor(ctx context.Context, o *outgoing) (remoting.Queue, error) {
	if o.queue != nil {
		return *o.queue, nil
	}
	return s.routes.pick(ctx, o.topic)
}
