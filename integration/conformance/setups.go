// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

// What several cases need beside the lite topic and the wildcard group that
// each case has.

// otherTopic is a second main topic, s.name("other").
func otherTopic(s *scene) Setup { return Setup{Topics: []Topic{{s.name("other"), Lite}}} }

// otherTopicWithGroup is a second main topic, and s.name("second"), a wildcard
// group that is bound to it.
func otherTopicWithGroup(s *scene) Setup {
	return Setup{
		Topics: []Topic{{s.name("other"), Lite}},
		Groups: []Group{{Name: s.name("second"), Bind: s.name("other"), Wildcard: true}},
	}
}

// normalTopic is s.name("normal").
func normalTopic(s *scene) Setup { return Setup{Topics: []Topic{{s.name("normal"), Normal}}} }

// secondGroup is s.name("second"), a second wildcard group of the main topic.
func secondGroup(s *scene) Setup {
	return Setup{Groups: []Group{{Name: s.name("second"), Bind: s.topic, Wildcard: true}}}
}

// liteGroup is s.name("lite"), a lite group without the wildcard attribute.
func liteGroup(s *scene) Setup {
	return Setup{Groups: []Group{{Name: s.name("lite"), Bind: s.topic}}}
}

// regularGroup is s.name("regular").
func regularGroup(s *scene) Setup { return Setup{Groups: []Group{{Name: s.name("regular")}}} }
