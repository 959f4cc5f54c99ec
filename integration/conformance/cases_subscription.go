// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// subscriptionCases are about SyncLiteSubscription.
func subscriptionCases() []testCase {
	return []testCase{
		{
			name: "an empty COMPLETE_ADD is the wildcard subscription, and may be repeated",
			run: func(s *scene) {
				c := s.consumer()
				c.mustSubscribe()
				c.mustSend("lt-1", "a")
				c.mustSend("lt-2", "b")
				if got := c.mustReceiveAll(2); len(got) != 2 {
					s.Errorf("got %q, want two messages", bodies(got))
				}
			},
		},
		{
			name: "a subscription needs no session",
			run:  func(s *scene) { s.dial().mustSubscribe() },
		},
		{
			// Nothing tells the client of its mistake.
			name:  "an empty subscription of a lite group without the wildcard attribute is OK and gets nothing (X01)",
			setup: liteGroup,
			run: func(s *scene) {
				c := s.dial()
				c.group = s.name("lite")
				c.mustSession()
				c.mustSubscribe()
				c.mustSend("lt", "a")
				c.mustBeEmpty("receive")
			},
		},
		{
			name:  "a lite group without the wildcard attribute gets the lite topics that it names, and no others",
			setup: liteGroup,
			run: func(s *scene) {
				c := s.dial()
				c.group = s.name("lite")
				c.mustSession()
				s.wantStatus("sync", c.sync(v2.LiteSubscriptionAction_COMPLETE_ADD, "lt-1"), v2.Code_OK, "OK")
				c.mustSend("lt-2", "b")
				c.mustSend("lt-1", "a")
				got := c.mustReceive()
				s.wantBodies("receive", got, "a")
				c.mustAck(got...) // or it is there again when a poll takes long
				c.mustBeEmpty("the other lite topic")
			},
		},
		{
			name: "a wildcard group refuses PARTIAL_ADD",
			run: func(s *scene) {
				c := s.dial()
				c.mustSession()
				s.wantStatus("sync", c.sync(v2.LiteSubscriptionAction_PARTIAL_ADD, "lt-1"),
					v2.Code_INTERNAL_SERVER_ERROR, "subscribe lite operation is not supported for this group")
			},
		},
		{
			// The names are not looked at: it is the group that decides.
			name: "a COMPLETE_ADD with names subscribes a wildcard group to everything all the same",
			run: func(s *scene) {
				c := s.dial()
				c.mustSession()
				s.wantStatus("sync", c.sync(v2.LiteSubscriptionAction_COMPLETE_ADD, "lt-1"), v2.Code_OK, "OK")
				c.mustSend("lt-2", "b")
				s.wantBodies("receive", c.mustReceive(), "b")
			},
		},
		{
			name:  "a subscription to another topic than the group's answers ILLEGAL_TOPIC with both names (X19)",
			setup: otherTopic,
			run: func(s *scene) {
				c := s.dial()
				c.topic = s.name("other")
				s.wantStatus("sync", c.sync(v2.LiteSubscriptionAction_COMPLETE_ADD), v2.Code_ILLEGAL_TOPIC,
					"lite group "+s.group+" is expected to bind topic "+s.topic+", but actual is "+c.topic)
			},
		},
		{
			name:  "a subscription of a regular group answers ILLEGAL_TOPIC (X02)",
			setup: regularGroup,
			run: func(s *scene) {
				c := s.dial()
				c.group = s.name("regular")
				s.wantStatus("sync", c.sync(v2.LiteSubscriptionAction_COMPLETE_ADD), v2.Code_ILLEGAL_TOPIC,
					"lite group "+c.group+" is expected to bind topic null, but actual is "+c.topic)
			},
		},
		{
			// With its default settings a broker makes a regular group of it.
			name: "a subscription of a group that does not exist answers ILLEGAL_TOPIC",
			run: func(s *scene) {
				c := s.dial()
				c.group = s.name("missing")
				s.wantStatus("sync", c.sync(v2.LiteSubscriptionAction_COMPLETE_ADD), v2.Code_ILLEGAL_TOPIC,
					"lite group "+c.group+" is expected to bind topic null, but actual is "+c.topic)
			},
		},
		{
			name: "a subscription of a group that is bound to a topic that does not exist answers TOPIC_NOT_FOUND",
			setup: func(s *scene) Setup {
				return Setup{Groups: []Group{{Name: s.name("lite"), Bind: s.name("missing"), Wildcard: true}}}
			},
			run: func(s *scene) {
				c := s.dial()
				c.group, c.topic = s.name("lite"), s.name("missing")
				s.wantStatus("sync", c.sync(v2.LiteSubscriptionAction_COMPLETE_ADD), v2.Code_TOPIC_NOT_FOUND, "")
			},
		},
		{
			name: "a subscription to a topic name with a forbidden character answers ILLEGAL_TOPIC",
			run: func(s *scene) {
				c := s.dial()
				c.topic = "no spaces"
				s.wantStatus("sync", c.sync(v2.LiteSubscriptionAction_COMPLETE_ADD), v2.Code_ILLEGAL_TOPIC, "no spaces")
			},
		},
		{
			// The proxy lets a client go 300 over its quota.
			name: "a client that names more than its quota and 300 lite topics is refused (L13, Y28)",
			setup: func(s *scene) Setup {
				return Setup{Groups: []Group{{Name: s.name("lite"), Bind: s.topic, ClientQuota: 1}}}
			},
			run: func(s *scene) {
				c := s.dial()
				c.group = s.name("lite")
				c.mustSession()
				var names []string
				for i := range 302 {
					names = append(names, fmt.Sprintf("lt-%d", i))
				}
				s.wantStatus("302 names", c.sync(v2.LiteSubscriptionAction_COMPLETE_ADD, names...),
					v2.Code_LITE_SUBSCRIPTION_QUOTA_EXCEEDED, "lite subscription quota exceeded: 1")
				s.wantStatus("301 names", c.sync(v2.LiteSubscriptionAction_COMPLETE_ADD, names[:301]...), v2.Code_OK, "OK")
				s.wantStatus("301 names again", c.sync(v2.LiteSubscriptionAction_COMPLETE_ADD, names[:301]...), v2.Code_OK, "OK")
			},
		},
		{
			name: "in an exclusive group a lite topic goes to the client that named it last, and the one before is told (X17)",
			setup: func(s *scene) Setup {
				return Setup{Groups: []Group{{Name: s.name("excl"), Bind: s.topic, Exclusive: true}}}
			},
			run: func(s *scene) {
				a, b := s.dial(), s.dial()
				for _, c := range []*client{a, b} {
					c.group = s.name("excl")
					c.mustSession()
					s.wantStatus("sync", c.sync(v2.LiteSubscriptionAction_PARTIAL_ADD, "lt"), v2.Code_OK, "OK")
				}
				told, err := a.stream.Recv()
				if got := told.GetNotifyUnsubscribeLiteCommand().GetLiteTopic(); err != nil || got != "lt" {
					s.Errorf("got command %v, %v, want to be told that lt is gone", told, err)
				}
				b.mustSend("lt", "a")
				s.wantBodies("the second client", b.mustReceive(), "a")
				a.mustBeEmpty("the first client")
			},
		},
		{
			name: "COMPLETE_REMOVE ends the subscription",
			run: func(s *scene) {
				c := s.consumer()
				c.mustSend("lt", "a")
				c.mustAck(c.mustReceive()...)
				s.wantStatus("sync", c.sync(v2.LiteSubscriptionAction_COMPLETE_REMOVE), v2.Code_OK, "OK")
				c.mustSend("lt", "b")
				c.mustBeEmpty("receive")
			},
		},
		{
			name: "lite topics that are created after the subscription are seen at once (L01)",
			run: func(s *scene) {
				c := s.consumer()
				c.mustBeEmpty("before")
				start := s.broker.Now()
				c.mustSend("s-new", "a")
				s.wantBodies("receive", c.mustReceive(), "a")
				s.wantWithin("the message", s.broker.Now().Sub(start), 0, slack)
			},
		},
		{
			// The broker looks for what is there five seconds after the
			// subscription, whatever its dispatch settings are.
			name: "what was there before a group's first subscription comes too, from the first message on",
			run: func(s *scene) {
				s.dial().mustSend("lt", "a", "b")
				s.pass(time.Second)
				c := s.consumer()
				start := s.broker.Now()
				s.pass(6 * time.Second)
				s.wantBodies("receive", c.mustReceive(), "a", "b")
				s.wantWithin("the messages", s.broker.Now().Sub(start), 0, 6*time.Second+slack)
			},
		},
	}
}
