// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import "github.com/rocketmq-beam/rocketmq-beam/internal/remoting"

// unregister answers UNREGISTER_CLIENT (35).
func (c *remotingCall) unregister() *remoting.Command {
	if a := c.missing("clientID"); a != nil {
		return a
	}
	core := c.at.b.core
	core.mu.Lock()
	defer core.mu.Unlock()
	group := c.text("consumerGroup")
	if m := core.consumers[group]; m != nil {
		m.leave(core, group, c.text("clientID"))
	}
	core.leaveProducers(c.text("producerGroup"), c.text("clientID"))
	core.notify()
	return c.ok(nil)
}
