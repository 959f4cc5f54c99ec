// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"log/slog"
)

// lookAgain has the brokers go through all lite topics and offer what is there.
//
// A broker keeps, for each client, a list of lite topics that have something for
// it; a poll takes lite topics from that list and looks into no others. What
// puts one there is an event: a message that is stored, an ack, the end of a
// lease. RocketMQ 5.5.0 can drop an event: a poll that finds the lite topic
// locked, by an ack that is just being carried out say, or that comes to it a
// second time, has taken it off the list and does not put it back
// (PopLiteMessageProcessor.popByClientId; apache/rocketmq#11191, L02). Then the
// messages wait for the next event of their lite topic, for ever if there is
// none, while polls are answered with nothing.
//
// The one thing by which a client can make a broker go through all lite topics
// of a wildcard group (LiteEventDispatcher.doFullDispatchForWildcardGroup) is to
// join the group: five seconds later all clients are told of what is visible. So
// somebody else joins, and leaves at once without a poll: what the broker had
// for it meanwhile it gives to the others.
func (c *Consumer) lookAgain(ctx context.Context) {
	visit := c.cfg
	visit.LookAgain = 0
	visit.AssumeWildcard = true // as was found out on opening
	visit.Logger = slog.New(slog.DiscardHandler)
	visit.Events = nil
	visitor, err := NewConsumer(ctx, visit)
	if err != nil {
		if ctx.Err() == nil {
			c.client.cfg.Logger.Info("asking the broker to look for messages that it forgot to offer; it is asked again later",
				"topic", c.cfg.Topic, "group", c.cfg.Group, "error", err)
		}
		return
	}
	visitor.Close(ctx)
}
