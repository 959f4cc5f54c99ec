// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"encoding/json"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// createGroup answers UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200).
func (c *remotingCall) createGroup() *remoting.Command {
	var in struct {
		Name       string            `json:"groupName"`
		Orderly    bool              `json:"consumeMessageOrderly"`
		RetryTimes *int              `json:"retryMaxTimes"`
		Attributes map[string]string `json:"attributes"`
	}
	if err := json.Unmarshal(c.cmd.Body, &in); err != nil {
		return c.refuse(remoting.CodeSystemError, "%v", err)
	}
	if text := badGroup(in.Name); text != "" {
		return c.refuse(remoting.CodeInvalidParameter, "%s", text)
	}
	core := c.at.b.core
	core.mu.Lock()
	defer core.mu.Unlock()
	g := core.groups[in.Name]
	if g == nil {
		g = &group{name: in.Name, maxAttempts: core.cfg.maxAttempts, clientQuota: core.cfg.clientQuota}
		core.groups[in.Name] = g
	}
	g.ordered = in.Orderly
	if in.RetryTimes != nil {
		g.maxAttempts = *in.RetryTimes + 1
	}
	if t, ok := in.Attributes["+lite.bind.topic"]; ok {
		g.bindTopic = t
	}
	if w, ok := in.Attributes["+lite.sub.wildcard"]; ok {
		g.wildcard = w == "true"
	}
	core.notify()
	return c.ok(nil)
}

// badGroup says what is wrong with a group's name, as brokers say it.
func badGroup(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "The specified group is blank."
	case !validName.MatchString(name):
		return "The specified group: " + name + ", contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"
	case len(name) > 120:
		return "The specified group: " + name + ", is longer than group max length: 120"
	}
	return ""
}

// findValidGroup is findGroup for a name that nobody has checked yet.
func (c *core) findValidGroup(name string) *group {
	if c.groups[name] == nil && badGroup(name) != "" {
		return nil
	}
	return c.findGroup(name)
}
