// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"strings"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// sendCases are about what SendMessage takes and refuses.
func sendCases() []testCase {
	return []testCase{
		{
			name: "a send needs no session, and answers the message's id and offset",
			run: func(s *scene) {
				c := s.dial()
				m := c.message("lt", "a")
				answer := c.send(m)
				s.wantStatus("send", answer.GetStatus(), v2.Code_OK, "OK")
				e := answer.GetEntries()[0]
				if e.GetMessageId() != m.GetSystemProperties().GetMessageId() {
					s.Errorf("got message id %q, want the one that was sent, %q", e.GetMessageId(), m.GetSystemProperties().GetMessageId())
				}
			},
		},
		{
			// What is written is the message's own type; the topic's is LITE.
			name: "a message without a type is refused by its topic",
			run: func(s *scene) {
				c := s.dial()
				m := c.message("", "a")
				m.SystemProperties.LiteTopic = nil
				m.SystemProperties.MessageType = v2.MessageType_MESSAGE_TYPE_UNSPECIFIED
				s.wantStatus("send", c.send(m).GetStatus(), v2.Code_MESSAGE_PROPERTY_CONFLICT_WITH_TYPE,
					"TopicMessageType validate failed, the expected type is LITE, but actual type is NORMAL")
			},
		},
		{
			// The type that counts is read off the properties.
			name: "a message with a lite topic is a lite message whatever type it names",
			run: func(s *scene) {
				c := s.consumer()
				for i, kind := range []v2.MessageType{v2.MessageType_MESSAGE_TYPE_UNSPECIFIED, v2.MessageType_NORMAL, v2.MessageType_LITE} {
					m := c.message(fmt.Sprintf("lt-%d", i), "a")
					m.SystemProperties.MessageType = kind
					s.wantStatus(kind.String(), c.send(m).GetStatus(), v2.Code_OK, "OK")
				}
				c.mustReceiveAll(3)
			},
		},
		{
			name: "a message with an empty lite topic is refused by its topic",
			run: func(s *scene) {
				c := s.dial()
				s.wantStatus("send", c.send(c.message("", "a")).GetStatus(), v2.Code_MESSAGE_PROPERTY_CONFLICT_WITH_TYPE,
					"the expected type is LITE, but actual type is NORMAL")
			},
		},
		{
			name:  "a lite message is refused by a normal topic",
			setup: normalTopic,
			run: func(s *scene) {
				c := s.dial()
				c.topic = s.name("normal")
				s.wantStatus("send", c.send(c.message("lt", "a")).GetStatus(), v2.Code_MESSAGE_PROPERTY_CONFLICT_WITH_TYPE,
					"the expected type is NORMAL, but actual type is LITE")
			},
		},
		{
			name: "a lite topic is letters, digits, hyphen and underscore, 64 at most",
			run: func(s *scene) {
				c := s.dial()
				for _, good := range []string{"a", "A-b_9", "-", strings.Repeat("x", 64)} {
					s.wantStatus(good, c.send(c.message(good, "a")).GetStatus(), v2.Code_OK, "OK")
				}
				for bad, part := range map[string]string{
					" ":                     "lite topic cannot be the char sequence of whitespace",
					strings.Repeat("x", 65): "lite topic exceed the max size 64",
					"a b":                   "lite topic can only contain alphanumeric characters, hyphens(-), and underscores(_)",
					"a.b":                   "lite topic can only contain alphanumeric characters",
					"a/b":                   "lite topic can only contain alphanumeric characters",
					"a%b":                   "lite topic can only contain alphanumeric characters",
					"a$b":                   "lite topic can only contain alphanumeric characters",
					"é":                     "lite topic can only contain alphanumeric characters",
				} {
					s.wantStatus(bad, c.send(c.message(bad, "a")).GetStatus(), v2.Code_ILLEGAL_LITE_TOPIC, part)
				}
			},
		},
		{
			name: "a topic is letters, digits, hyphen, underscore, percent and bar, 127 at most (Y07)",
			run: func(s *scene) {
				c := s.dial()
				for bad, part := range map[string]string{
					"":                       "",
					"a b":                    "a b",
					"a.b":                    "a.b",
					strings.Repeat("x", 128): "127",
					"SCHEDULE_TOPIC_XXXX":    "cannot access system topic",
				} {
					c.topic = bad
					s.wantStatus(fmt.Sprintf("topic %q", bad), c.send(c.message("lt", "a")).GetStatus(), v2.Code_ILLEGAL_TOPIC, part)
				}
			},
		},
		{
			// Not TOPIC_NOT_FOUND: the proxy looks at the type first, and what it
			// does not know has none.
			name: "a lite message to a topic that does not exist is refused for its type",
			run: func(s *scene) {
				c := s.dial()
				c.topic = s.name("missing")
				s.wantStatus("send", c.send(c.message("lt", "a")).GetStatus(), v2.Code_MESSAGE_PROPERTY_CONFLICT_WITH_TYPE,
					"the expected type is UNSPECIFIED, but actual type is LITE")
			},
		},
		{
			name: "a body of more than 4 MiB is refused, and so is an empty one (S03, Y08)",
			run: func(s *scene) {
				c := s.dial()
				s.wantStatus("4 MiB and 1", c.send(c.message("lt", strings.Repeat("x", 4<<20+1))).GetStatus(),
					v2.Code_MESSAGE_BODY_TOO_LARGE, "message body cannot exceed the max 4194304")
				s.wantStatus("empty", c.send(c.message("lt", "")).GetStatus(), v2.Code_MESSAGE_BODY_EMPTY, "message body cannot be empty")
			},
		},
		{
			// What the broker stores of a lite message must not exceed 4 MiB as
			// a whole: body, properties, names and some 100 bytes of its own.
			// It is the broker that finds out, so the code is another one.
			name: "a lite message of 4 MiB is an internal error: properties count too (S03, Y08, L35)",
			run: func(s *scene) {
				c := s.consumer()
				s.wantStatus("4 MiB", c.send(c.message("lt", strings.Repeat("x", 4<<20))).GetStatus(),
					v2.Code_INTERNAL_SERVER_ERROR, "the message is illegal, maybe msg body or properties length not matched")
				m := c.message("lt", strings.Repeat("x", 4<<20-1000))
				m.UserProperties = map[string]string{"k": strings.Repeat("v", 1000)}
				s.wantStatus("with properties", c.send(m).GetStatus(), v2.Code_INTERNAL_SERVER_ERROR, "the message is illegal")
				m = c.message("lt", strings.Repeat("x", 4<<20-1000))
				s.wantStatus("without", c.send(m).GetStatus(), v2.Code_OK, "OK")
				if got := c.mustReceive(); len(got[0].GetBody()) != 4<<20-1000 {
					s.Errorf("got %d bytes, want all", len(got[0].GetBody()))
				}
			},
		},
		{
			name:  "a normal message may have a body of 4 MiB",
			setup: normalTopic,
			run: func(s *scene) {
				c := s.dial()
				c.topic = s.name("normal")
				m := c.message("", strings.Repeat("x", 4<<20))
				m.SystemProperties.LiteTopic, m.SystemProperties.MessageType = nil, v2.MessageType_NORMAL
				s.wantStatus("4 MiB", c.send(m).GetStatus(), v2.Code_OK, "OK")
			},
		},
		{
			name: "a message needs an id",
			run: func(s *scene) {
				c := s.dial()
				m := c.message("lt", "a")
				m.SystemProperties.MessageId = ""
				s.wantStatus("send", c.send(m).GetStatus(), v2.Code_ILLEGAL_MESSAGE_ID, "message id cannot be empty")
			},
		},
		{
			name: "a send without messages",
			run: func(s *scene) {
				s.wantStatus("send", s.dial().send().GetStatus(), v2.Code_MESSAGE_CORRUPTED, "no message to send")
			},
		},
		{
			name: "a tag is any text without bar and control characters (Y10)",
			run: func(s *scene) {
				c := s.dial()
				for _, good := range []string{"a", strings.Repeat("x", 128), "a b", "é"} {
					m := c.message("lt", "a")
					m.SystemProperties.Tag = &good
					s.wantStatus(good, c.send(m).GetStatus(), v2.Code_OK, "OK")
				}
				for bad, part := range map[string]string{
					" ": "whitespace", "a|b": "cannot contain '|'", "a\nb": "control character",
				} {
					m := c.message("lt", "a")
					m.SystemProperties.Tag = &bad
					s.wantStatus(bad, c.send(m).GetStatus(), v2.Code_ILLEGAL_MESSAGE_TAG, part)
				}
			},
		},
		{
			name: "user properties: 128 at most, 16 KiB in all with tag and keys, no control characters, no names of the system",
			run: func(s *scene) {
				c := s.dial()
				with := func(props map[string]string) *v2.Status {
					m := c.message("lt", "a")
					m.UserProperties = props
					return c.send(m).GetStatus()
				}
				many := map[string]string{}
				for i := range 128 {
					many[fmt.Sprint("k", i)] = "v"
				}
				s.wantStatus("128", with(many), v2.Code_OK, "OK")
				many["one-more"] = "v"
				s.wantStatus("129", with(many), v2.Code_MESSAGE_PROPERTIES_TOO_LARGE, "too many user properties, max is 128")
				s.wantStatus("16 KiB", with(map[string]string{"k": strings.Repeat("v", 16<<10-1)}), v2.Code_OK, "OK")
				s.wantStatus("16 KiB and 1", with(map[string]string{"k": strings.Repeat("v", 16<<10)}),
					v2.Code_MESSAGE_PROPERTIES_TOO_LARGE, "the total size of user property is too large, max is 16384")
				s.wantStatus("TAGS", with(map[string]string{"TAGS": "v"}), v2.Code_ILLEGAL_MESSAGE_PROPERTY_KEY, "property is used by system: TAGS")
				s.wantStatus("key", with(map[string]string{"a\x01b": "v"}), v2.Code_ILLEGAL_MESSAGE_PROPERTY_KEY, "the key of property cannot contain control character")
				s.wantStatus("value", with(map[string]string{"a": "\x02"}), v2.Code_ILLEGAL_MESSAGE_PROPERTY_KEY, "the value of property cannot contain control character")
			},
		},
		{
			name: "keys: no control characters, not only blanks",
			run: func(s *scene) {
				c := s.dial()
				for bad, part := range map[string]string{" ": "whitespace", "a\tb": "control character"} {
					m := c.message("lt", "a")
					m.SystemProperties.Keys = []string{bad}
					s.wantStatus(fmt.Sprintf("%q", bad), c.send(m).GetStatus(), v2.Code_ILLEGAL_MESSAGE_KEY, part)
				}
			},
		},
		{
			// The broker stores them as one message of the main topic and never
			// puts that into the lite topic's queue. A lite topic takes one
			// message a request.
			name: "several lite messages in one request are answered OK, and no lite consumer sees them",
			run: func(s *scene) {
				c := s.consumer()
				answer := c.send(c.message("lt", "a"), c.message("lt", "b"))
				s.wantStatus("send", answer.GetStatus(), v2.Code_OK, "OK")
				if n := len(answer.GetEntries()); n != 1 {
					s.Errorf("got %d entries for two messages, want 1", n)
				}
				c.mustBeEmpty("after the batch")
				c.mustSend("lt", "c")
				s.wantBodies("a message of its own", c.mustReceive(), "c")
			},
		},
		{
			name: "messages of different topics in one request are refused",
			run: func(s *scene) {
				c := s.dial()
				a, b := c.message("lt", "a"), c.message("lt", "b")
				b.Topic = resource(s.name("other"))
				s.wantStatus("send", c.send(a, b).GetStatus(), v2.Code_MESSAGE_CORRUPTED, "topic in message is not same")
			},
		},
		{
			name: "a lite message with a delivery time",
			run: func(s *scene) {
				c := s.dial()
				m := c.message("lt", "a")
				m.SystemProperties.DeliveryTimestamp = timestamppb.New(s.broker.Now().Add(time.Minute))
				s.wantStatus("send", c.send(m).GetStatus(), v2.Code_MESSAGE_PROPERTY_CONFLICT_WITH_TYPE, "the expected type is LITE")
			},
		},
		{
			name: "a lite message with a message group",
			run: func(s *scene) {
				c := s.dial()
				m := c.message("lt", "a")
				group := "g"
				m.SystemProperties.MessageGroup = &group
				s.wantStatus("send", c.send(m).GetStatus(), v2.Code_MESSAGE_PROPERTY_CONFLICT_WITH_TYPE, "the expected type is LITE")
			},
		},
		{
			name: "the same message twice is stored twice",
			run: func(s *scene) {
				c := s.consumer()
				m := c.message("lt", "a")
				c.send(m)
				c.send(m)
				got := c.mustReceive()
				for len(got) < 2 {
					c.mustAck(got[len(got)-1])
					got = append(got, c.mustReceive()...)
				}
				if a, b := got[0].GetSystemProperties(), got[1].GetSystemProperties(); a.GetMessageId() != b.GetMessageId() {
					s.Errorf("got message ids %q and %q, want the same", a.GetMessageId(), b.GetMessageId())
				}
			},
		},
	}
}
