// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litebench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/types/known/durationpb"
)

// raw is the least that receives and acknowledges: some goroutines on one
// connection, each of which receives and then acknowledges what it got in one
// request. It trusts what it gets and retries nothing.
func (l *Leg) raw(ctx context.Context, t *tally) error {
	s, err := openRawSession(ctx, l.Endpoints, Topic(l.Name), Group(l.Name))
	if err != nil {
		return err
	}
	defer s.close()
	polls, cancel := context.WithCancel(s.ctx)
	defer cancel()
	group, polls := errgroup.WithContext(polls)
	group.Go(func() error {
		select {
		case <-t.done:
			cancel() // the long polls of the others
		case <-polls.Done():
		}
		return nil
	})
	for range l.Concurrency {
		group.Go(func() error { return l.rawLoop(polls, s, t) })
	}
	err = group.Wait()
	if err == nil && t.distinct() < l.measured() {
		err = fmt.Errorf("%d of %d messages came: %w", t.distinct(), l.measured(), context.Cause(ctx))
	}
	return err
}

func (l *Leg) rawLoop(ctx context.Context, s *rawSession, t *tally) error {
	for ctx.Err() == nil {
		messages, err := s.receive(ctx, l.batch(), t)
		if err == nil && len(messages) > 0 {
			t.call(len(messages))
			err = s.ack(ctx, messages, func(id string) { t.ack(l.ids.number(id)) })
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

func (s *rawSession) receive(ctx context.Context, most int, t *tally) ([]*v2.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*longPoll)
	defer cancel()
	stream, err := s.stub.ReceiveMessage(ctx, &v2.ReceiveMessageRequest{
		Group: s.group, BatchSize: int32(most), FilterExpression: everything(),
		MessageQueue:      &v2.MessageQueue{Topic: s.topic, Id: -1, Permission: v2.Permission_READ, Broker: s.broker},
		InvisibleDuration: durationpb.New(invisibility), LongPollingTimeout: durationpb.New(longPoll),
	})
	if err != nil {
		return nil, fmt.Errorf("receiving: %w", err)
	}
	var out []*v2.Message
	for {
		answer, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, fmt.Errorf("receiving: %w", err)
		}
		if st := answer.GetStatus(); st != nil && st.GetCode() != v2.Code_OK && st.GetCode() != v2.Code_MESSAGE_NOT_FOUND {
			return out, fmt.Errorf("receiving: the proxy answers %v", st)
		}
		if m := answer.GetMessage(); m != nil {
			if len(out) == 0 {
				t.received(time.Now())
			}
			out = append(out, m)
		}
	}
}

func (s *rawSession) ack(ctx context.Context, messages []*v2.Message, acked func(id string)) error {
	entries := make([]*v2.AckMessageEntry, len(messages))
	for i, m := range messages {
		p := m.GetSystemProperties()
		entries[i] = &v2.AckMessageEntry{MessageId: p.GetMessageId(), ReceiptHandle: p.GetReceiptHandle(), LiteTopic: p.LiteTopic}
	}
	answer, err := s.stub.AckMessage(ctx, &v2.AckMessageRequest{Group: s.group, Topic: s.topic, Entries: entries})
	if err != nil {
		return fmt.Errorf("acknowledging: %w", err)
	}
	for _, e := range answer.GetEntries() {
		if e.GetStatus().GetCode() != v2.Code_OK {
			return fmt.Errorf("acknowledging %s: the proxy answers %v", e.GetMessageId(), e.GetStatus())
		}
		acked(e.GetMessageId())
	}
	return nil
}
