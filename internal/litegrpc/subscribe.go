// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"errors"
	"fmt"
	"strings"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// resync makes the wildcard subscription at one proxy, which passes it to all
// brokers: a complete set of no lite topics, which for a group with the
// attribute lite.sub.wildcard means all. It is made again and again because a
// broker forgets it after 3 minutes, and with a restart.
func (c *Consumer) resync(ctx context.Context, l *link) error {
	op := fmt.Sprintf("subscribing group %q to all lite topics of %q at %s", c.cfg.Group, c.cfg.Topic, l.addr)
	_, err := unary(ctx, l, op, &v2.SyncLiteSubscriptionRequest{
		Action: v2.LiteSubscriptionAction_COMPLETE_ADD,
		Topic:  c.client.resource(c.cfg.Topic),
		Group:  c.client.resource(c.cfg.Group),
	}, l.stub.SyncLiteSubscription, (*v2.SyncLiteSubscriptionResponse).GetStatus)
	if err != nil {
		c.subscribed.Delete(l.addr)
		return err
	}
	c.subscribed.Store(l.addr, true)
	return nil
}

// A broker accepts the empty subscription of a group without the attribute
// lite.sub.wildcard too, and then delivers nothing, for ever and without a
// word. What tells the two kinds of group apart is the subscription to a single
// lite topic: a wildcard group may not have one (RocketMQ 5.5.0 answers that
// "subscribe lite operation is not supported for this group"), and for another
// group one of a lite topic that does not exist changes nothing.
const probeLiteTopic = "rocketmq-beam-probe-of-the-group-kind"

func (c *Consumer) checkWildcard(ctx context.Context, l *link) error {
	if c.cfg.AssumeWildcard {
		return nil
	}
	op := fmt.Sprintf("checking the attributes of group %q at %s", c.cfg.Group, l.addr)
	_, err := unary(ctx, l, op, &v2.SyncLiteSubscriptionRequest{
		Action:       v2.LiteSubscriptionAction_PARTIAL_ADD,
		Topic:        c.client.resource(c.cfg.Topic),
		Group:        c.client.resource(c.cfg.Group),
		LiteTopicSet: []string{probeLiteTopic},
	}, l.stub.SyncLiteSubscription, (*v2.SyncLiteSubscriptionResponse).GetStatus)
	switch {
	case err == nil:
		return &Error{Op: op, Class: Permanent, Code: v2.Code_ILLEGAL_CONSUMER_GROUP,
			Err:  fmt.Errorf("the group has no wildcard subscription: nothing of topic %q would ever be delivered to it", c.cfg.Topic),
			Hint: "set the group's attributes +lite.bind.topic=" + c.cfg.Topic + ",+lite.sub.wildcard=true"}
	case strings.Contains(err.Error(), "not supported for this group"):
		return nil
	case ClassOf(err) == SessionLost, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return nil // a broker at its quota, or of another version: the check says nothing
}
