// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// createTopic answers UPDATE_AND_CREATE_TOPIC (17), for one broker.
func (c *remotingCall) createTopic() *remoting.Command {
	if a := c.missing("topic", "defaultTopic", "readQueueNums", "writeQueueNums", "perm", "topicFilterType"); a != nil {
		return a
	}
	name := c.text("topic")
	if text := badTopic(name); text != "" {
		return c.refuse(remoting.CodeInvalidParameter, "%s", text)
	}
	if isSystemTopic(name) {
		return c.refuse(remoting.CodeInvalidParameter, "The topic[%s] is conflict with system topic.", name)
	}
	core := c.at.b.core
	core.mu.Lock()
	defer core.mu.Unlock()
	core.topicNamed(name, kindIn(c.text("attributes"))).reshape(c.at.broker, shape{
		reads: int(c.number("readQueueNums", 0)), writes: int(c.number("writeQueueNums", 0)),
		perm: int(c.number("perm", permRead|permWrite)), order: c.flag("order", false),
	})
	core.notify()
	return c.ok(nil)
}

// kindIn finds the message type in a topic's attributes.
func kindIn(attributes string) topicKind {
	for a := range strings.SplitSeq(attributes, ",") {
		if kind, ok := strings.CutPrefix(strings.TrimSpace(a), "+message.type="); ok {
			return topicKind(kind)
		}
	}
	return kindNormal
}

// topicNamed returns a topic, a new one that is at no broker yet if need be. The
// lock is held.
func (c *core) topicNamed(name string, kind topicKind) *topic {
	t := c.topics[name]
	if t == nil {
		t = newTopic(name, kind, 0, 0)
		c.topics[name] = t
	}
	return t
}

const (
	retryPrefix = "%RETRY%"
	dlqPrefix   = "%DLQ%"
)

// badTopic says what is wrong with a topic's name, as brokers say it.
func badTopic(name string) string {
	most, text := 127, "The specified topic: "+name+", is longer than topic max length: 127"
	if strings.HasPrefix(name, retryPrefix) || strings.HasPrefix(name, dlqPrefix) {
		most, text = 255, "The specified topic is DLQ or Retry topic: "+name+", and it's longer than topic max length: 255"
	}
	switch {
	case strings.TrimSpace(name) == "":
		return "The specified topic is blank."
	case !validName.MatchString(name):
		return "The specified topic: " + name + ", contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"
	case len(name) > most:
		return text
	}
	return ""
}
