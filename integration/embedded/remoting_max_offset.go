// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import "github.com/rocketmq-beam/rocketmq-beam/internal/remoting"

// maxOffset answers GET_MAX_OFFSET (30): the offset that the next message gets.
func (c *remotingCall) maxOffset() *remoting.Command {
	return c.ofQueue((*queue).maxOffset)
}
