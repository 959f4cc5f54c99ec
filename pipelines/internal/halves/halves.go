// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package halves lists the half messages that a producer group has left at the
// brokers: those that wait for their end, and those that the brokers have put away
// because nobody ended them.
package halves

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// The brokers' own topics, each with one queue, and the group as which a broker
// notes how far its checks have got.
const (
	halfTopic      = "RMQ_SYS_TRANS_HALF_TOPIC"
	opTopic        = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
	discardTopic   = "TRANS_CHECK_MAX_TIME_TOPIC"
	checkerGroup   = "CID_RMQ_SYS_TRANS"
	readerGroup    = "CID_beam_halves"
	propertyGroup  = "PGROUP"
	propertyTopic  = "REAL_TOPIC"
	propertyChecks = "TRANSACTION_CHECK_TIMES"
)

// State is what a half message waits for.
type State string

// The states.
const (
	// Pending waits for its commit or rollback.
	Pending State = "pending"
	// Visible has a message with its key in the topic: it, or this copy of it, is
	// rolled back when the broker asks a producer of the group.
	Visible State = "visible"
	// Dropped was looked at too often. It can still be committed with the handle
	// that was given out when it was sent, until its timeout is over.
	Dropped State = "dropped"
)

// Half is a half message.
type Half struct {
	State     State     `json:"state"`
	Broker    string    `json:"broker"`
	Topic     string    `json:"topic"`
	Group     string    `json:"group"`
	UniqueKey string    `json:"unique_key"`
	Keys      []string  `json:"keys,omitempty"`
	Born      time.Time `json:"born"`
	// Deadline is when brokers begin to ask, and refuse a commit; zero if the
	// message names none.
	Deadline time.Time `json:"deadline,omitzero"`
	// Looks is how often the broker has looked at it.
	Looks int `json:"looks"`
	// QueueOffset and PhysicalOffset are its place in the broker's own topic.
	QueueOffset    int64 `json:"queue_offset"`
	PhysicalOffset int64 `json:"physical_offset"`
	BodySize       int   `json:"body_size"`
}

// List reads the brokers' own topics and calls each for what is of the group; an
// empty one means all. The client must have no namespace: names are as brokers have
// them.
func List(ctx context.Context, c *remoting.Client, group string, each func(Half) error) error {
	pending, err := queuesOf(ctx, c, halfTopic)
	if err != nil {
		return err
	}
	for _, q := range pending {
		if err := listPending(ctx, c, q, group, each); err != nil {
			return err
		}
	}
	dropped, err := queuesOf(ctx, c, discardTopic)
	if err != nil {
		return err
	}
	for _, q := range dropped {
		least, err := c.MinOffset(ctx, q)
		if err != nil {
			return err
		}
		err = read(ctx, c, q, least, func(m *remoting.Message) error { return emit(m, Dropped, group, each) })
		if err != nil {
			return err
		}
	}
	return nil
}

// queuesOf are the queues of a topic; none if it does not exist yet.
func queuesOf(ctx context.Context, c *remoting.Client, topic string) ([]remoting.Queue, error) {
	r, err := c.Route(ctx, topic)
	if err != nil {
		if remoting.ClassOf(err) == remoting.NoRoute {
			return nil, nil
		}
		return nil, err
	}
	return r.Readable(), nil
}

// listPending lists what the broker has not looked at since it was written, and does
// not know to be ended. Everything before has been ended, put away, or written anew.
func listPending(ctx context.Context, c *remoting.Client, q remoting.Queue, group string, each func(Half) error) error {
	ended, err := endedAt(ctx, c, q)
	if err != nil {
		return err
	}
	from, err := progress(ctx, c, q)
	if err != nil {
		return err
	}
	return read(ctx, c, q, from, func(m *remoting.Message) error {
		if ended[m.QueueOffset] || group != "" && m.Properties.Get(propertyGroup) != group {
			return nil
		}
		found, err := c.QueryMessages(ctx, remoting.Query{Topic: m.Properties.Get(propertyTopic), Key: m.UniqueKey(), Unique: true})
		if err != nil {
			return err
		}
		if len(found) > 0 {
			return emit(m, Visible, group, each)
		}
		return emit(m, Pending, group, each)
	})
}

// endedAt reads which half messages were ended. The broker writes it down with a
// delay of up to 3 s.
func endedAt(ctx context.Context, c *remoting.Client, half remoting.Queue) (map[int64]bool, error) {
	out := map[int64]bool{}
	q := remoting.Queue{Topic: opTopic, Broker: half.Broker, ID: half.ID}
	queues, err := queuesOf(ctx, c, opTopic)
	if err != nil || len(queues) == 0 {
		return out, err
	}
	from, err := progress(ctx, c, q)
	if err != nil {
		return nil, err
	}
	return out, read(ctx, c, q, from, func(m *remoting.Message) error {
		for text := range strings.SplitSeq(string(m.Body), ",") {
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				out[n] = true
			}
		}
		return nil
	})
}

// progress is how far the broker's checks have got.
func progress(ctx context.Context, c *remoting.Client, q remoting.Queue) (int64, error) {
	least, err := c.MinOffset(ctx, q)
	if err != nil {
		return 0, err
	}
	at, found, err := c.QueryCommitted(ctx, q, checkerGroup)
	if err != nil {
		return 0, err
	}
	if !found {
		return least, nil
	}
	return max(at, least), nil
}

// read calls each for the messages of a queue from an offset to its present end.
func read(ctx context.Context, c *remoting.Client, q remoting.Queue, from int64, each func(*remoting.Message) error) error {
	end, err := c.MaxOffset(ctx, q)
	if err != nil {
		return err
	}
	for from < end {
		got, err := c.Pull(ctx, remoting.PullRequest{Queue: q, Group: readerGroup, Offset: from, Max: 32})
		if err != nil {
			return err
		}
		for i := range got.Messages {
			if err := each(&got.Messages[i]); err != nil {
				return err
			}
		}
		if got.Next <= from {
			return fmt.Errorf("reading %s of broker %s stands still at %d of %d", q.Topic, q.Broker, from, end)
		}
		from = got.Next
	}
	return nil
}

func emit(m *remoting.Message, state State, group string, each func(Half) error) error {
	p := m.Properties
	if group != "" && p.Get(propertyGroup) != group {
		return nil
	}
	if m.Err != nil {
		return fmt.Errorf("half message at %d of broker %s: %w", m.QueueOffset, m.Broker, m.Err)
	}
	h := Half{
		State: state, Broker: m.Broker, Topic: p.Get(propertyTopic), Group: p.Get(propertyGroup), UniqueKey: m.UniqueKey(), Keys: m.Keys(),
		Born: m.Born, QueueOffset: m.QueueOffset, PhysicalOffset: m.PhysicalOffset, BodySize: len(m.Body),
	}
	h.Looks, _ = strconv.Atoi(p.Get(propertyChecks)) // none if it was never looked at
	if seconds, err := strconv.ParseInt(p.Get(remoting.PropertyCheckImmunity), 10, 64); err == nil {
		h.Deadline = m.Born.Add(time.Duration(seconds) * time.Second)
	}
	return each(h)
}
