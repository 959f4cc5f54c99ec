// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"errors"
	"strconv"
)

// CHECK_TRANSACTION_STATE comes from a broker, one-way, to any connection whose
// heartbeat names the producer group. Its body is the half message, which the
// broker has written anew for this check: its offsets are not those of the
// message that was sent.

// Check is a broker's question about a half message.
type Check struct {
	// Half is the message as it now is.
	Half Half
	// Message is the half message. Its topic is the one it was sent to.
	Message Message

	addr string
}

// ParseCheck reads a command that a [Config.Handler] was given; from is the
// address it came from. ok is false for other commands.
func (c *Client) ParseCheck(from string, cmd *Command) (check *Check, ok bool, err error) {
	if cmd.Code != codeCheckTransaction || cmd.IsAnswer() {
		return nil, false, nil
	}
	messages, err := c.decoder.Messages(cmd.Body)
	if err != nil {
		return nil, true, err
	}
	if len(messages) != 1 {
		return nil, true, malformed("check of a transaction with %d messages", len(messages))
	}
	check = &Check{Message: messages[0], addr: from}
	m := &check.Message
	m.Topic = WithoutNamespace(c.cfg.Namespace, m.Topic)
	m.Broker = cmd.Fields["bname"]
	check.Half = Half{Topic: m.Topic, Broker: m.Broker, UniqueKey: m.UniqueKey(),
		Group: WithoutNamespace(c.cfg.Namespace, m.Properties.Get(propertyProducerGroup))}
	queue, err1 := strconv.ParseInt(cmd.Fields["tranStateTableOffset"], 10, 64)
	physical, err2 := strconv.ParseInt(cmd.Fields["commitLogOffset"], 10, 64)
	check.Half.QueueOffset, check.Half.PhysicalOffset = queue, physical
	return check, true, errors.Join(err1, err2)
}

// AnswerCheck tells the broker that asked how the transaction ended. For one
// that is known to be committed the answer is Rollback: what is asked about is
// a copy, and committing that would store the message again.
func (c *Client) AnswerCheck(ctx context.Context, check *Check, o Outcome) error {
	r := c.endRequest(check.Half, o)
	r.addr = check.addr
	r.fields["fromTransactionCheck"] = "true"
	_, err := c.do(ctx, r)
	return err
}
