// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"context"
	"strings"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func TestTheSettingsThatComeBackAreTheBrokers(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithLiteClientQuota(7))
	s := dial(t, b, "c1").open()
	sub := s.GetSubscription()
	if sub.GetReceiveBatchSize() != 32 || sub.GetLongPollingTimeout().AsDuration() != 20*time.Second ||
		sub.GetLiteSubscriptionQuota() != 7 || sub.GetMaxLiteTopicSize() != 64 || s.GetBackoffPolicy().GetMaxAttempts() != 17 {
		t.Errorf("settings %v", s)
	}
	p := dial(t, b, "p1")
	cmd, err := p.telemetry(&v2.Settings{ClientType: v2.ClientType_PRODUCER.Enum(), PubSub: &v2.Settings_Publishing{
		Publishing: &v2.Publishing{Topics: []*v2.Resource{res(bus)}},
	}})
	if err != nil || cmd.GetSettings().GetPublishing().GetMaxBodySize() != 4<<20 {
		t.Errorf("settings of a producer: %v, %v", cmd, err)
	}
}

func TestSettingsAreRefusedAsTheProxyRefusesThem(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithLiteTopic("other"))
	for name, tc := range map[string]struct {
		kind  v2.ClientType
		group string
		topic string
		code  codes.Code
		text  string
	}{
		"LITE_SIMPLE_CONSUMER is unknown to 5.5.0": {
			v2.ClientType_LITE_SIMPLE_CONSUMER, wild, bus, codes.Internal, "Client type is not consumer, type: LITE_SIMPLE_CONSUMER"},
		"no client type": {
			v2.ClientType_CLIENT_TYPE_UNSPECIFIED, wild, bus, codes.Internal, "Client type is not consumer"},
		"a lite consumer in a regular group (X02)": {
			v2.ClientType_LITE_PUSH_CONSUMER, "workers", bus, codes.InvalidArgument, "regular group cannot use LITE mode: workers"},
		"a lite consumer in an unknown group": {
			v2.ClientType_LITE_PUSH_CONSUMER, "nowhere", bus, codes.InvalidArgument, "regular group cannot use LITE mode: nowhere"},
		"a simple consumer in a lite group (X02)": {
			v2.ClientType_SIMPLE_CONSUMER, wild, bus, codes.InvalidArgument, "lite group must use LITE mode: wild"},
		"a topic that the group is not bound to (X19)": {
			v2.ClientType_LITE_PUSH_CONSUMER, wild, "other", codes.InvalidArgument, "lite group wild is expected to bind topic bus, but actual is other"},
		"a group name that is not one": {
			v2.ClientType_LITE_PUSH_CONSUMER, "a b", bus, codes.InvalidArgument, "illegal characters"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, b, "c-"+name)
			c.kind, c.group, c.topic = tc.kind, tc.group, tc.topic
			_, err := c.telemetry(c.settings())
			if status.Code(err) != tc.code || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("got %v, want %s with %q", err, tc.code, tc.text)
			}
		})
	}
}

func TestALaterProxyKnowsLiteSimpleConsumers(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithLiteSimpleConsumer(true))
	b.Publish(bus, "t1", []byte("m"))
	c := dial(t, b, "c1")
	c.kind = v2.ClientType_LITE_SIMPLE_CONSUMER
	c.open()
	c.subscribe()
	c.ack(c.want("m")...)
}

func TestAnUnknownGroupIsRefusedWhereNoneIsCreated(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithAutoCreateGroup(false))
	c := dial(t, b, "c1")
	c.group = "nowhere"
	_, err := c.telemetry(c.settings())
	if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "group not found: nowhere") {
		t.Errorf("got %v", err)
	}
	wantCode(t, "sync", c.sync(v2.LiteSubscriptionAction_COMPLETE_ADD), v2.Code_ILLEGAL_CONSUMER_GROUP)
}

func TestTheLanguageMustBeOneThatRocketMQKnows(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := dial(t, b, "c1")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, err := c.Telemetry(metadata.AppendToOutgoingContext(ctx, "x-mq-client-id", "c1", "x-mq-language", "GOLANG"))
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&v2.TelemetryCommand{Command: &v2.TelemetryCommand_Settings{Settings: c.settings()}}); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); status.Code(err) != codes.Internal || !strings.Contains(err.Error(), "LanguageCode.GOLANG") {
		t.Errorf("got %v, want an unknown enum constant", err)
	}
}

func TestARequestWithoutAClientIDIsRefused(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := dial(t, b, "")
	r, err := c.QueryRoute(c.ctx(patience), &v2.QueryRouteRequest{Topic: res(bus)})
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, "route", r.GetStatus(), v2.Code_CLIENT_ID_REQUIRED)
}

// (L31, L32) Without settings a receive fails with a null pointer, a heartbeat
// with UNRECOGNIZED_CLIENT_TYPE.
func TestWithoutASessionReceiveAndHeartbeatFail(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := consumer(t, b, "c1")
	check := func(when string) {
		t.Helper()
		st, _, err := c.receive(c.receiveRequest())
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		wantCode(t, when+": receive", st, v2.Code_INTERNAL_SERVER_ERROR)
		if !strings.Contains(st.GetMessage(), "NullPointerException") {
			t.Errorf("%s: text %q", when, st.GetMessage())
		}
		hb, err := c.Heartbeat(c.ctx(patience), &v2.HeartbeatRequest{Group: res(wild), ClientType: c.kind})
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		wantCode(t, when+": heartbeat", hb.GetStatus(), v2.Code_UNRECOGNIZED_CLIENT_TYPE)
	}
	b.ForgetSessions()
	check("after ForgetSessions")
	c.open()
	b.Publish(bus, "t1", []byte("m"))
	c.want("m")
	r, err := c.NotifyClientTermination(c.ctx(patience), &v2.NotifyClientTerminationRequest{Group: res(wild)})
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, "termination", r.GetStatus(), v2.Code_OK)
	check("after termination")
	r, err = c.NotifyClientTermination(c.ctx(patience), &v2.NotifyClientTerminationRequest{Group: res(wild)})
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, "termination without a session", r.GetStatus(), v2.Code_UNRECOGNIZED_CLIENT_TYPE)
}

func TestASessionNeedsAHeartbeatEveryTwoMinutes(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	c := consumer(t, b, "c1")
	for range 3 {
		clock.Advance(110 * time.Second)
		hb, err := c.Heartbeat(c.ctx(patience), &v2.HeartbeatRequest{Group: res(wild), ClientType: c.kind})
		if err != nil {
			t.Fatal(err)
		}
		wantCode(t, "heartbeat", hb.GetStatus(), v2.Code_OK)
	}
	clock.Advance(121 * time.Second)
	if s := b.Sessions(); len(s) != 0 {
		t.Errorf("sessions %+v, want none", s)
	}
}

func TestSessionsTellTypeGroupAndSubscription(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := consumer(t, b, "c1")
	if got := b.Sessions(); len(got) != 1 || got[0].Type != "LITE_PUSH_CONSUMER" || got[0].Group != wild || !got[0].Wildcard || !got[0].Stream {
		t.Errorf("sessions %+v", got)
	}
	// (X22e) A client that leaves is gone at once.
	if _, err := c.NotifyClientTermination(c.ctx(patience), &v2.NotifyClientTerminationRequest{Group: res(wild)}); err != nil {
		t.Fatal(err)
	}
	if got := b.Sessions(); len(got) != 0 {
		t.Errorf("sessions after termination %+v", got)
	}
}

// A stream that breaks takes the lite subscription along, and leaves the session.
func TestABrokenTelemetryStreamEndsTheSubscription(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := consumer(t, b, "c1")
	c.cancel()
	wait(t, b, "the end of the subscription", func(s embedded.Snapshot) bool {
		ss := s.Sessions()
		return len(ss) == 1 && !ss[0].Subscribed && !ss[0].Stream
	})
}

// (X01) A group without the wildcard attribute is answered OK to an empty
// subscription and gets nothing.
func TestAnEmptySubscriptionOfAPlainLiteGroupGetsNothing(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	b.Publish(bus, "t1", []byte("m"))
	c := dial(t, b, "c1")
	c.group = plain
	c.open()
	c.subscribe()
	got := make(chan *v2.Status, 1)
	go func() {
		st, _, _ := c.receive(c.receiveRequest())
		got <- st
	}()
	wait(t, b, "the long poll", func(s embedded.Snapshot) bool { return s.LongPolls(plain) == 1 })
	clock.Advance(5 * time.Second)
	wantCode(t, "receive", <-got, v2.Code_MESSAGE_NOT_FOUND)
	wantCode(t, "naming one", c.sync(v2.LiteSubscriptionAction_PARTIAL_ADD, "t1"), v2.Code_OK)
	c.want("m")
}

func TestSubscriptionsByName(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := dial(t, b, "c1")
	c.group = plain
	c.open()
	for _, l := range []string{"a", "b", "c"} {
		b.Publish(bus, l, []byte(l))
	}
	wantCode(t, "complete add", c.sync(v2.LiteSubscriptionAction_COMPLETE_ADD, "a"), v2.Code_OK)
	c.ack(c.want("a")...)
	wantCode(t, "partial add", c.sync(v2.LiteSubscriptionAction_PARTIAL_ADD, "b", "c"), v2.Code_OK)
	wantCode(t, "partial remove", c.sync(v2.LiteSubscriptionAction_PARTIAL_REMOVE, "c"), v2.Code_OK)
	c.ack(c.want("b")...)
	if got := b.Sessions()[0].LiteTopics; strings.Join(got, ",") != "a,b" {
		t.Errorf("lite topics %v, want a and b", got)
	}
	wantCode(t, "complete add", c.sync(v2.LiteSubscriptionAction_COMPLETE_ADD, "c"), v2.Code_OK)
	c.ack(c.want("c")...)
	wantCode(t, "complete remove", c.sync(v2.LiteSubscriptionAction_COMPLETE_REMOVE), v2.Code_OK)
	if b.Sessions()[0].Subscribed {
		t.Error("still subscribed after COMPLETE_REMOVE")
	}
}

func TestSubscriptionsAreRefusedAsTheBrokerRefusesThem(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithLiteTopic("other"), embedded.WithWildcardGroup("lost", "missing"))
	for name, tc := range map[string]struct {
		group, topic string
		action       v2.LiteSubscriptionAction
		lites        []string
		want         v2.Code
		text         string
	}{
		"a regular group":                       {"workers", bus, v2.LiteSubscriptionAction_COMPLETE_ADD, nil, v2.Code_ILLEGAL_TOPIC, "expected to bind topic null"},
		"an unknown group":                      {"nowhere", bus, v2.LiteSubscriptionAction_COMPLETE_ADD, nil, v2.Code_ILLEGAL_TOPIC, "expected to bind topic null"},
		"a group of another topic (X19)":        {wild, "other", v2.LiteSubscriptionAction_COMPLETE_ADD, nil, v2.Code_ILLEGAL_TOPIC, "is expected to bind topic bus, but actual is other"},
		"a missing topic":                       {"lost", "missing", v2.LiteSubscriptionAction_COMPLETE_ADD, nil, v2.Code_TOPIC_NOT_FOUND, "No topic route info"},
		"single ones in a wildcard group (Y32)": {wild, bus, v2.LiteSubscriptionAction_PARTIAL_ADD, []string{"a"}, v2.Code_INTERNAL_SERVER_ERROR, "not supported for this group"},
		"a lite topic that is none":             {plain, bus, v2.LiteSubscriptionAction_PARTIAL_ADD, []string{"a.b"}, v2.Code_ILLEGAL_LITE_TOPIC, "alphanumeric"},
		"a system topic":                        {wild, "rmq_sys_x", v2.LiteSubscriptionAction_COMPLETE_ADD, nil, v2.Code_ILLEGAL_TOPIC, "system topic"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, b, "c-"+name)
			c.group, c.topic = tc.group, tc.topic
			st := c.sync(tc.action, tc.lites...)
			if st.GetCode() != tc.want || !strings.Contains(st.GetMessage(), tc.text) {
				t.Errorf("got %s %q, want %s with %q", st.GetCode(), st.GetMessage(), tc.want, tc.text)
			}
		})
	}
}

// (L13, Y28) The quota is looked at only when single lite topics are added, and
// before they are: a batch goes over, and repeating one is refused.
func TestTheSubscriptionQuotaIsAsUnevenAsTheRealOne(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithLiteSubscriptionQuota(2), embedded.WithLiteClientQuota(1))
	c := dial(t, b, "c1")
	c.group = plain
	c.open()
	wantCode(t, "a batch over the quota", c.sync(v2.LiteSubscriptionAction_PARTIAL_ADD, "a", "b", "c"), v2.Code_OK)
	wantCode(t, "one that is there already", c.sync(v2.LiteSubscriptionAction_PARTIAL_ADD, "a"), v2.Code_LITE_SUBSCRIPTION_QUOTA_EXCEEDED)
	wantCode(t, "all of them anew", c.sync(v2.LiteSubscriptionAction_COMPLETE_ADD, "a", "b", "c"), v2.Code_OK)
	many := make([]string, 302)
	for i := range many {
		many[i] = strings.Repeat("x", 1+i%60) + "-" + string(rune('a'+i/60))
	}
	wantCode(t, "300 above the client's quota", c.sync(v2.LiteSubscriptionAction_COMPLETE_ADD, many...), v2.Code_LITE_SUBSCRIPTION_QUOTA_EXCEEDED)
}

func TestASubscriptionIsForgottenAfterThreeMinutes(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	c := consumer(t, b, "c1")
	clock.Advance(100 * time.Second)
	c.subscribe() // renews it
	c.open()      // and the session
	clock.Advance(100 * time.Second)
	if s := b.Sessions(); !s[0].Subscribed {
		t.Fatal("forgotten though it was renewed")
	}
	c.open()
	clock.Advance(81 * time.Second)
	if s := b.Sessions(); s[0].Subscribed {
		t.Error("still subscribed after three minutes without renewal")
	}
}

// (X17) In an exclusive group the last one to name a lite topic has it.
func TestAnExclusiveGroupTellsTheClientThatLosesALiteTopic(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithExclusiveGroup("solo", bus))
	open := func(id string) *client {
		c := dial(t, b, id)
		c.group = "solo"
		c.open()
		wantCode(t, "add", c.sync(v2.LiteSubscriptionAction_PARTIAL_ADD, "t1"), v2.Code_OK)
		return c
	}
	first, second := open("c1"), open("c2")
	cmd, err := first.stream.Recv()
	if err != nil || cmd.GetNotifyUnsubscribeLiteCommand().GetLiteTopic() != "t1" {
		t.Fatalf("the first client was told %v, %v", cmd, err)
	}
	b.Publish(bus, "t1", []byte("m"))
	second.want("m")
}

func TestANewSubscriptionMayStartAtAnOffset(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, s := range []string{"0", "1", "2"} {
		b.Publish(bus, "t1", []byte(s))
	}
	c := dial(t, b, "c1")
	c.group = plain
	c.open()
	add := func(o *v2.OffsetOption) {
		t.Helper()
		r, err := c.SyncLiteSubscription(c.ctx(patience), &v2.SyncLiteSubscriptionRequest{
			Action: v2.LiteSubscriptionAction_PARTIAL_ADD, Topic: res(bus), Group: res(plain), LiteTopicSet: []string{"t1"}, OffsetOption: o,
		})
		if err != nil {
			t.Fatal(err)
		}
		wantCode(t, "add", r.GetStatus(), v2.Code_OK)
	}
	add(&v2.OffsetOption{OffsetType: &v2.OffsetOption_Offset{Offset: 1}})
	c.ack(c.want("1", "2")...)
	add(&v2.OffsetOption{OffsetType: &v2.OffsetOption_TailN{TailN: 1}})
	c.ack(c.want("2")...)
	add(&v2.OffsetOption{OffsetType: &v2.OffsetOption_Policy_{Policy: v2.OffsetOption_MIN}})
	c.ack(c.want("0", "1", "2")...)
	add(&v2.OffsetOption{OffsetType: &v2.OffsetOption_Policy_{Policy: v2.OffsetOption_MAX}})
	b.Publish(bus, "t1", []byte("3"))
	c.want("3")
}

func TestReceiveRefusesWhatTheProxyRefuses(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithLiteTopic("other"))
	c := consumer(t, b, "c1")
	for name, tc := range map[string]struct {
		change func(*v2.ReceiveMessageRequest)
		want   v2.Code
		text   string
	}{
		"an invisible duration below 10 s (Y43)": {func(r *v2.ReceiveMessageRequest) { r.InvisibleDuration = durationpb.New(9999 * time.Millisecond) }, v2.Code_ILLEGAL_INVISIBLE_TIME, "too small. min is 10000"},
		"an invisible duration above 12 h":       {func(r *v2.ReceiveMessageRequest) { r.InvisibleDuration = durationpb.New(13 * time.Hour) }, v2.Code_ILLEGAL_INVISIBLE_TIME, "too large. max is 43200000"},
		"a filter of bars":                       {func(r *v2.ReceiveMessageRequest) { r.FilterExpression.Expression = "||" }, v2.Code_ILLEGAL_FILTER_EXPRESSION, "split error"},
		"no invisible duration (L23)":            {func(r *v2.ReceiveMessageRequest) { r.InvisibleDuration = nil }, v2.Code_ILLEGAL_INVISIBLE_TIME, "too small"},
		"a missing topic":                        {func(r *v2.ReceiveMessageRequest) { r.MessageQueue.Topic = res("missing") }, v2.Code_TOPIC_NOT_FOUND, "No topic route info"},
		"a topic that is not lite":               {func(r *v2.ReceiveMessageRequest) { r.MessageQueue.Topic = res("orders") }, v2.Code_INTERNAL_SERVER_ERROR, "message type not match"},
		"a topic that the group is not bound to": {func(r *v2.ReceiveMessageRequest) { r.MessageQueue.Topic = res("other") }, v2.Code_INTERNAL_SERVER_ERROR, "bind topic not match"},
		"an empty group":                         {func(r *v2.ReceiveMessageRequest) { r.Group = nil }, v2.Code_ILLEGAL_CONSUMER_GROUP, "blank"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := c.receiveRequest()
			tc.change(req)
			st, _, err := c.receive(req)
			if err != nil || st.GetCode() != tc.want || !strings.Contains(st.GetMessage(), tc.text) {
				t.Errorf("got %s %q, %v, want %s with %q", st.GetCode(), st.GetMessage(), err, tc.want, tc.text)
			}
		})
	}
}

func TestAReceiveNeedsADeadlineFarEnoughAway(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := consumer(t, b, "c1")
	first := func(ctx context.Context) *v2.Status {
		t.Helper()
		stream, err := c.ReceiveMessage(ctx, c.receiveRequest())
		if err != nil {
			t.Fatal(err)
		}
		r, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		return r.GetStatus()
	}
	wantCode(t, "3 s", first(c.ctx(3*time.Second)), v2.Code_ILLEGAL_POLLING_TIME)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	wantCode(t, "none", first(c.sign(ctx)), v2.Code_INTERNAL_SERVER_ERROR)
}
