// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc/codes"
)

// sessionCases are about what opens, keeps and ends a client's session.
func sessionCases() []testCase {
	return []testCase{
		{
			// The value is the name of a constant of the server's own list of
			// languages, which has GO.
			name: "the metadata language GOLANG is refused",
			run: func(s *scene) {
				c := s.dial()
				c.language = "GOLANG"
				_, err := c.telemetry(c.settings(v2.ClientType_LITE_PUSH_CONSUMER))
				s.wantError("telemetry", err, codes.Internal, "No enum constant")
			},
		},
		{
			name: "the client type LITE_SIMPLE_CONSUMER is refused by telemetry",
			run: func(s *scene) {
				c := s.dial()
				_, err := c.telemetry(c.settings(v2.ClientType_LITE_SIMPLE_CONSUMER))
				s.wantError("telemetry", err, codes.Internal, "Client type is not consumer, type: LITE_SIMPLE_CONSUMER")
			},
		},
		{
			name: "a lite consumer's settings are answered with those of its group and proxy",
			setup: func(s *scene) Setup {
				return Setup{Groups: []Group{{Name: s.group, Bind: s.topic, Wildcard: true, RetryMaxTimes: 5, ClientQuota: 7}}}
			},
			run: func(s *scene) {
				got := s.dial().mustSession()
				sub := got.GetSubscription()
				if n := got.GetBackoffPolicy().GetMaxAttempts(); n != 6 {
					s.Errorf("got max attempts %d, want one more than the group's retries, 6", n)
				}
				if n := sub.GetReceiveBatchSize(); n != 32 {
					s.Errorf("got receive batch size %d, want 32", n)
				}
				if d := sub.GetLongPollingTimeout().AsDuration(); d != 20*time.Second {
					s.Errorf("got long polling timeout %v, want 20s", d)
				}
				if n := sub.GetLiteSubscriptionQuota(); n != 7 {
					s.Errorf("got lite subscription quota %d, want the group's, 7", n)
				}
				if n := sub.GetMaxLiteTopicSize(); n != 64 {
					s.Errorf("got max lite topic size %d, want 64", n)
				}
				if sub.GetFifo() {
					s.Error("got fifo, want none: lite topics are ordered without it")
				}
			},
		},
		{
			name: "a lite group refuses a SIMPLE_CONSUMER (X02)",
			run: func(s *scene) {
				c := s.dial()
				_, err := c.telemetry(c.settings(v2.ClientType_SIMPLE_CONSUMER))
				s.wantError("telemetry", err, codes.InvalidArgument, "lite group must use LITE mode: "+s.group)
			},
		},
		{
			name:  "a regular group refuses a LITE_PUSH_CONSUMER (X02)",
			setup: regularGroup,
			run: func(s *scene) {
				c := s.dial()
				c.group = s.name("regular")
				_, err := c.telemetry(c.settings(v2.ClientType_LITE_PUSH_CONSUMER))
				s.wantError("telemetry", err, codes.InvalidArgument, "regular group cannot use LITE mode: "+c.group)
			},
		},
		{
			// With its default settings a broker makes a regular group of every
			// name that it is asked for.
			name: "a group that does not exist is taken for a regular one by telemetry",
			run: func(s *scene) {
				c := s.dial()
				c.group = s.name("missing")
				_, err := c.telemetry(c.settings(v2.ClientType_LITE_PUSH_CONSUMER))
				s.wantError("telemetry", err, codes.InvalidArgument, "regular group cannot use LITE mode: "+c.group)
			},
		},
		{
			name:  "settings with another topic than the group's are refused by telemetry (X19)",
			setup: otherTopic,
			run: func(s *scene) {
				c := s.dial()
				c.topic = s.name("other")
				_, err := c.telemetry(c.settings(v2.ClientType_LITE_PUSH_CONSUMER))
				s.wantError("telemetry", err, codes.InvalidArgument,
					"lite group "+s.group+" is expected to bind topic "+s.topic+", but actual is "+c.topic)
			},
		},
		{
			name: "settings without publishing or subscription are refused",
			run: func(s *scene) {
				c := s.dial()
				_, err := c.telemetry(&v2.Settings{ClientType: v2.ClientType_LITE_PUSH_CONSUMER.Enum()})
				s.wantError("telemetry", err, codes.InvalidArgument, "there is no publishing or subscription data in settings")
			},
		},
		{
			name: "a group name with a forbidden character is refused by telemetry",
			run: func(s *scene) {
				c := s.dial()
				c.group = "no spaces"
				_, err := c.telemetry(c.settings(v2.ClientType_LITE_PUSH_CONSUMER))
				s.wantError("telemetry", err, codes.InvalidArgument, "no spaces")
			},
		},
		{
			name: "heartbeat and termination without settings answer UNRECOGNIZED_CLIENT_TYPE",
			run: func(s *scene) {
				c := s.dial()
				s.wantStatus("heartbeat", c.heartbeat(), v2.Code_UNRECOGNIZED_CLIENT_TYPE, "cannot find client settings for this client")
				s.wantStatus("termination", c.terminate(), v2.Code_UNRECOGNIZED_CLIENT_TYPE, "cannot find client settings for this client")
			},
		},
		{
			name: "a session answers heartbeats, and needs new settings after its termination",
			run: func(s *scene) {
				c := s.consumer()
				s.wantStatus("heartbeat", c.heartbeat(), v2.Code_OK, "OK")
				s.wantStatus("termination", c.terminate(), v2.Code_OK, "OK")
				s.wantStatus("receive", c.receive().status, v2.Code_INTERNAL_SERVER_ERROR, "NullPointerException")
				c.mustSession()
				c.mustSubscribe()
				c.mustSend("lt", "a")
				s.wantBodies("receive", c.mustReceive(), "a")
			},
		},
		{
			// Nothing waits for the old client's time to run out.
			name: "after a termination a new client of the group gets messages at once (X22e)",
			run: func(s *scene) {
				first := s.consumer()
				first.mustSend("lt-1", "a")
				first.mustAck(first.mustReceive()...)
				first.terminate()
				second := s.consumer()
				second.mustSend("lt-1", "b")
				second.mustSend("lt-2", "c")
				start := s.broker.Now()
				second.mustReceiveAll(2)
				s.wantWithin("both messages", s.broker.Now().Sub(start), 0, slack)
			},
		},
		{
			// What the old client held stays invisible until its time is up.
			name: "a termination does not hand back what is un-acked",
			run: func(s *scene) {
				first := s.consumer()
				first.mustBatch("lt", "a")
				first.terminate()
				second := s.consumer()
				second.mustBeEmpty("before the time is up")
				s.pass(invisible - pollTime)
				s.wantBodies("after it", second.mustReceive(), "a")
			},
		},
		{
			// A client that reconnects must close its old stream first: the
			// end of any stream of a client id ends the id's subscription.
			name: "the end of an old telemetry stream ends the subscription of a newer one of the same client",
			run: func(s *scene) {
				c := s.consumer()
				hangUpOld := c.hangUp
				c.mustSession()
				c.mustSubscribe()
				c.mustSend("lt", "a")
				c.mustAck(c.mustReceive()...)
				hangUpOld()
				s.pass(time.Second)
				c.mustSend("lt", "b")
				c.mustBeEmpty("after the end of the old stream")
			},
		},
		{
			name: "a telemetry stream that the client closes in good order does not end the subscription",
			run: func(s *scene) {
				c := s.consumer()
				if err := c.stream.CloseSend(); err != nil {
					s.Fatal(err)
				}
				s.pass(time.Second)
				c.mustSend("lt", "a")
				s.wantBodies("receive", c.mustReceive(), "a")
			},
		},
		{
			name: "namespaces of requests and resources are ignored",
			run: func(s *scene) {
				c := s.consumer()
				m := c.message("lt", "a")
				m.Topic.ResourceNamespace = "ns"
				s.wantStatus("send", c.send(m).GetStatus(), v2.Code_OK, "OK")
				s.wantBodies("receive", c.mustReceive(func(r *v2.ReceiveMessageRequest) { r.Group.ResourceNamespace = "ns" }), "a")
			},
		},
		{
			// The broker forgets the client's subscription when its telemetry
			// stream breaks, while the proxy keeps the settings: receive goes on
			// without an error and without messages. A client that reconnects
			// must subscribe again, and not wait for its next turn to do so.
			name: "a broken telemetry stream ends the lite subscription but not the session",
			run: func(s *scene) {
				c := s.consumer()
				c.mustSend("lt", "a")
				c.mustAck(c.mustReceive()...)
				c.hangUp()
				s.pass(time.Second)
				c.mustSend("lt", "b")
				c.mustBeEmpty("after the break")
				c.mustSession()
				c.mustSubscribe()
				s.pass(6 * time.Second)
				s.wantBodies("after a new subscription", c.mustReceive(), "b")
			},
		},
	}
}
