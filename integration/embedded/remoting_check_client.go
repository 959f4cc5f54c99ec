// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"encoding/json"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// checkClient answers CHECK_CLIENT_CONFIG (46): whether an expression parses.
// Nothing else says so, for a pull with a wrong one just brings everything.
func (c *remotingCall) checkClient() *remoting.Command {
	var in struct {
		Subscription *subscribed `json:"subscriptionData"`
	}
	if err := json.Unmarshal(c.cmd.Body, &in); err != nil {
		return c.refuse(remoting.CodeSystemError, "%v", err)
	}
	s := in.Subscription
	if s == nil || s.Kind == "" || s.Kind == "TAG" {
		return c.ok(nil)
	}
	if _, err := c.at.b.cfg.newPullFilter(s.Kind, s.Expression); err != nil {
		return c.refuse(remoting.CodeSystemError, "%v%s", err, s.Kind)
	}
	if c.at.b.cfg.sql[s.Expression] == nil {
		return c.refuse(remoting.CodeSubscriptionParse, "Encountered %q: no WithSQLFilter has this expression", s.Expression)
	}
	return c.ok(nil)
}
