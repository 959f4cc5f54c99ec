// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import "github.com/rocketmq-beam/rocketmq-beam/internal/remoting"

// endTransaction answers END_TRANSACTION (37): there are no half messages here.
func (c *remotingCall) endTransaction() *remoting.Command { return c.noTransactions() }

func (c *remotingCall) noTransactions() *remoting.Command {
	return c.refuse(remoting.CodeRequestNotSupported, "embedded: transactional messages are not supported")
}
