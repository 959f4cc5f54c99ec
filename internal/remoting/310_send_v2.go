// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import "context"

// SEND_MESSAGE_V2 is SEND_MESSAGE with names of one letter.

var shortNames = fieldNames{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"}

// SendV2 is [Client.Send] in the form that all brokers since 3.5 know and that
// costs them less.
func (c *Client) SendV2(ctx context.Context, q Queue, group string, m *OutMessage) (*SendResult, error) {
	return c.sendOne(ctx, q, group, m, codeSendV2, shortNames)
}
