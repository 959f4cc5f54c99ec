// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// client is the raw protocol: one method a request, nothing retried, nothing
// hidden. Names that begin with must fail the case where the answer is not OK.
type client struct {
	s        *scene
	conn     *grpc.ClientConn
	stub     v2.MessagingServiceClient
	id       string
	language string
	group    string
	topic    string
	stream   v2.MessagingService_TelemetryClient
	hangUp   context.CancelFunc // breaks the telemetry stream
}

func resource(name string) *v2.Resource { return &v2.Resource{Name: name} }

// outgoing adds the metadata that the proxy asks for.
func (c *client) outgoing(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "x-mq-language", c.language, "x-mq-protocol", "v2",
		"x-mq-client-version", "5.1.4", "x-mq-client-id", c.id, "x-mq-namespace", "",
		"x-mq-date-time", time.Now().UTC().Format("20060102T150405Z"))
}

// rpc is the context of a short request.
func (c *client) rpc() (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.outgoing(c.s.ctx), 10*time.Second)
}

// settings are a consumer's settings for the client's group and topic.
func (c *client) settings(kind v2.ClientType) *v2.Settings {
	return &v2.Settings{
		ClientType:     kind.Enum(),
		UserAgent:      &v2.UA{Language: v2.Language_GOLANG, Version: "5.1.4"},
		RequestTimeout: durationpb.New(3 * time.Second),
		PubSub: &v2.Settings_Subscription{Subscription: &v2.Subscription{Group: resource(c.group),
			Subscriptions: []*v2.SubscriptionEntry{{Topic: resource(c.topic),
				Expression: &v2.FilterExpression{Type: v2.FilterType_TAG, Expression: "*"}}}}},
	}
}

// telemetry opens a telemetry stream, sends settings, and returns the first
// command that comes back.
func (c *client) telemetry(settings *v2.Settings) (*v2.TelemetryCommand, error) {
	ctx, cancel := context.WithCancel(c.outgoing(c.s.ctx))
	c.s.Cleanup(cancel)
	stream, err := c.stub.Telemetry(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	c.stream, c.hangUp = stream, cancel
	if err := stream.Send(&v2.TelemetryCommand{Command: &v2.TelemetryCommand_Settings{Settings: settings}}); err != nil {
		// The real reason is what the stream ended with.
		_, err = stream.Recv()
		return nil, err
	}
	return stream.Recv()
}

// mustSession opens a session as a lite consumer and returns the settings that
// the proxy answered.
func (c *client) mustSession() *v2.Settings {
	c.s.Helper()
	return c.mustSessionAs(v2.ClientType_LITE_PUSH_CONSUMER)
}

func (c *client) mustSessionAs(kind v2.ClientType) *v2.Settings {
	c.s.Helper()
	answer, err := c.telemetry(c.settings(kind))
	if err != nil {
		c.s.Fatalf("telemetry: %v", err)
	}
	return answer.GetSettings()
}

// sync sends a lite subscription.
func (c *client) sync(action v2.LiteSubscriptionAction, lites ...string) *v2.Status {
	c.s.Helper()
	ctx, cancel := c.rpc()
	defer cancel()
	answer, err := c.stub.SyncLiteSubscription(ctx, &v2.SyncLiteSubscriptionRequest{
		Action: action, Topic: resource(c.topic), Group: resource(c.group), LiteTopicSet: lites})
	if err != nil {
		c.s.Fatalf("sync: %v", err)
	}
	return answer.GetStatus()
}

// mustSubscribe makes the wildcard subscription.
func (c *client) mustSubscribe() {
	c.s.Helper()
	if st := c.sync(v2.LiteSubscriptionAction_COMPLETE_ADD); st.GetCode() != v2.Code_OK {
		c.s.Fatalf("sync: %v", st)
	}
}

func (c *client) heartbeat() *v2.Status {
	c.s.Helper()
	ctx, cancel := c.rpc()
	defer cancel()
	answer, err := c.stub.Heartbeat(ctx, &v2.HeartbeatRequest{Group: resource(c.group), ClientType: v2.ClientType_LITE_PUSH_CONSUMER})
	if err != nil {
		c.s.Fatalf("heartbeat: %v", err)
	}
	return answer.GetStatus()
}

func (c *client) terminate() *v2.Status {
	c.s.Helper()
	ctx, cancel := c.rpc()
	defer cancel()
	answer, err := c.stub.NotifyClientTermination(ctx, &v2.NotifyClientTerminationRequest{Group: resource(c.group)})
	if err != nil {
		c.s.Fatalf("terminate: %v", err)
	}
	return answer.GetStatus()
}

// message makes a message for a lite topic.
func (c *client) message(lite, body string) *v2.Message {
	var id [16]byte
	_, _ = rand.Read(id[:])
	return &v2.Message{Topic: resource(c.topic), Body: []byte(body), SystemProperties: &v2.SystemProperties{
		MessageId: "01" + strings.ToUpper(hex.EncodeToString(id[:])), LiteTopic: proto.String(lite),
		MessageType: v2.MessageType_LITE, BornTimestamp: timestamppb.Now(), BornHost: "case-host"}}
}

// send sends messages in one request.
func (c *client) send(ms ...*v2.Message) *v2.SendMessageResponse {
	c.s.Helper()
	ctx, cancel := c.rpc()
	defer cancel()
	answer, err := c.stub.SendMessage(ctx, &v2.SendMessageRequest{Messages: ms})
	if err != nil {
		c.s.Fatalf("send: %v", err)
	}
	return answer
}

// mustSend sends bodies to a lite topic, one request each.
func (c *client) mustSend(lite string, bodies ...string) {
	c.s.Helper()
	for _, b := range bodies {
		if st := c.send(c.message(lite, b)).GetStatus(); st.GetCode() != v2.Code_OK {
			c.s.Fatalf("send %q: %v", b, st)
		}
	}
}

// received is what one ReceiveMessage brought.
type received struct {
	status *v2.Status
	msgs   []*v2.Message
	err    error // of the stream, nil at its regular end
	kinds  string
	took   time.Duration // on the broker's clock
}

// receiveRequest is a receive with the settings that most cases use.
func (c *client) receiveRequest() *v2.ReceiveMessageRequest {
	return &v2.ReceiveMessageRequest{
		Group: resource(c.group), BatchSize: 32,
		MessageQueue: &v2.MessageQueue{Topic: resource(c.topic), Id: -1, Permission: v2.Permission_READ,
			Broker: &v2.Broker{Name: "broker-a"}},
		FilterExpression:   &v2.FilterExpression{Type: v2.FilterType_TAG, Expression: "*"},
		InvisibleDuration:  durationpb.New(invisible),
		LongPollingTimeout: durationpb.New(pollTime),
	}
}

// receive sends one ReceiveMessage, and one more where the broker is one that
// loses polls and did not answer.
func (c *client) receive(change ...func(*v2.ReceiveMessageRequest)) received {
	c.s.Helper()
	r := c.receiveOnce(change...)
	if c.s.broker.LosesPolls() && status.Code(r.err) == codes.DeadlineExceeded && len(r.msgs) == 0 {
		c.s.Logf("a poll was not answered in %v, polling again", r.took)
		r = c.receiveOnce(change...)
	}
	return r
}

func (c *client) receiveOnce(change ...func(*v2.ReceiveMessageRequest)) received {
	c.s.Helper()
	ctx, cancel := context.WithTimeout(c.outgoing(c.s.ctx), 30*time.Second)
	defer cancel()
	return c.receiveWith(ctx, change...)
}

func (c *client) receiveWith(ctx context.Context, change ...func(*v2.ReceiveMessageRequest)) received {
	c.s.Helper()
	req := c.receiveRequest()
	for _, f := range change {
		f(req)
	}
	start := c.s.broker.Now()
	done := make(chan struct{})
	var r received
	go func() {
		defer close(done)
		r = c.read(ctx, req)
	}()
	c.s.broker.AwaitPoll(c.s.ctx, req.GetGroup().GetName(), max(pollTime, req.GetLongPollingTimeout().AsDuration()), done)
	<-done
	r.took = c.s.broker.Now().Sub(start)
	return r
}

// read reads a receive stream to its end. kinds is one letter for each answer:
// s status, m message, d instant of delivery.
func (c *client) read(ctx context.Context, req *v2.ReceiveMessageRequest) received {
	var r received
	stream, err := c.stub.ReceiveMessage(ctx, req)
	if err != nil {
		r.err = err
		return r
	}
	for {
		answer, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return r
		}
		if err != nil {
			r.err = err
			return r
		}
		switch a := answer.GetContent().(type) {
		case *v2.ReceiveMessageResponse_Status:
			r.status, r.kinds = a.Status, r.kinds+"s"
		case *v2.ReceiveMessageResponse_Message:
			r.msgs, r.kinds = append(r.msgs, a.Message), r.kinds+"m"
		case *v2.ReceiveMessageResponse_DeliveryTimestamp:
			r.kinds += "d"
		}
	}
}

// mustReceive receives until something comes, three long polls at most.
func (c *client) mustReceive(change ...func(*v2.ReceiveMessageRequest)) []*v2.Message {
	c.s.Helper()
	var r received
	for range 3 {
		r = c.receive(change...)
		if r.err != nil {
			c.s.Fatalf("receive: %v", r.err)
		}
		if len(r.msgs) > 0 {
			return r.msgs
		}
	}
	c.s.Fatalf("receive: nothing came, status %v", r.status)
	return nil
}

// mustReceiveAll receives until n messages have come.
func (c *client) mustReceiveAll(n int, change ...func(*v2.ReceiveMessageRequest)) []*v2.Message {
	c.s.Helper()
	var all []*v2.Message
	for len(all) < n {
		all = append(all, c.mustReceive(change...)...)
	}
	return all
}

// mustBeEmpty checks that a long poll ends without a message.
func (c *client) mustBeEmpty(what string) {
	c.s.Helper()
	r := c.receive()
	if r.err != nil || len(r.msgs) > 0 || r.status.GetCode() != v2.Code_MESSAGE_NOT_FOUND {
		c.s.Fatalf("%s: got %v, status %v, error %v, want nothing", what, bodies(r.msgs), r.status, r.err)
	}
}

// entry makes the entry of an ack.
func entry(m *v2.Message) *v2.AckMessageEntry {
	p := m.GetSystemProperties()
	return &v2.AckMessageEntry{MessageId: p.GetMessageId(), ReceiptHandle: p.GetReceiptHandle(), LiteTopic: p.LiteTopic}
}

// ack acks entries in one request.
func (c *client) ack(entries ...*v2.AckMessageEntry) *v2.AckMessageResponse {
	c.s.Helper()
	ctx, cancel := c.rpc()
	defer cancel()
	answer, err := c.stub.AckMessage(ctx, &v2.AckMessageRequest{Group: resource(c.group), Topic: resource(c.topic), Entries: entries})
	if err != nil {
		c.s.Fatalf("ack: %v", err)
	}
	return answer
}

// mustAck acks messages in one request.
func (c *client) mustAck(ms ...*v2.Message) {
	c.s.Helper()
	entries := make([]*v2.AckMessageEntry, 0, len(ms))
	for _, m := range ms {
		entries = append(entries, entry(m))
	}
	if len(entries) == 0 {
		return
	}
	if answer := c.ack(entries...); answer.GetStatus().GetCode() != v2.Code_OK {
		c.s.Fatalf("ack: %v", answer)
	}
}

// changeRequest makes a change of a message's invisibility.
func (c *client) changeRequest(m *v2.Message, d time.Duration) *v2.ChangeInvisibleDurationRequest {
	p := m.GetSystemProperties()
	return &v2.ChangeInvisibleDurationRequest{Group: resource(c.group), Topic: resource(c.topic),
		MessageId: p.GetMessageId(), ReceiptHandle: p.GetReceiptHandle(), LiteTopic: p.LiteTopic,
		InvisibleDuration: durationpb.New(d)}
}

func (c *client) change(req *v2.ChangeInvisibleDurationRequest) *v2.ChangeInvisibleDurationResponse {
	c.s.Helper()
	ctx, cancel := c.rpc()
	defer cancel()
	answer, err := c.stub.ChangeInvisibleDuration(ctx, req)
	if err != nil {
		c.s.Fatalf("change: %v", err)
	}
	return answer
}

// mustChange changes a message's invisibility and gives the message its new
// handle.
func (c *client) mustChange(m *v2.Message, d time.Duration) {
	c.s.Helper()
	c.mustDo(m, c.changeRequest(m, d))
}

// mustSuspend is mustChange with the suspend flag.
func (c *client) mustSuspend(m *v2.Message, d time.Duration) {
	c.s.Helper()
	req := c.changeRequest(m, d)
	req.Suspend = proto.Bool(true)
	c.mustDo(m, req)
}

func (c *client) mustDo(m *v2.Message, req *v2.ChangeInvisibleDurationRequest) {
	c.s.Helper()
	answer := c.change(req)
	if answer.GetStatus().GetCode() != v2.Code_OK {
		c.s.Fatalf("change: %v", answer)
	}
	m.SystemProperties.ReceiptHandle = proto.String(answer.GetReceiptHandle())
}

// withHandle is a copy of the message with another handle.
func withHandle(m *v2.Message, handle string) *v2.Message {
	m = proto.Clone(m).(*v2.Message)
	m.SystemProperties.ReceiptHandle = proto.String(handle)
	return m
}

func handleOf(m *v2.Message) string { return m.GetSystemProperties().GetReceiptHandle() }
