// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the protocol's signature
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines left:", err)
			code = 1
		}
	}
	os.Exit(code)
}

const (
	bus   = "bus"
	wild  = "wild"
	plain = "plain" // lite group without the wildcard attribute
)

// patience bounds every wait of a test for something that has to happen.
const patience = 20 * time.Second

func start(t *testing.T, opts ...embedded.Option) *embedded.Broker {
	t.Helper()
	b := embedded.Start(context.Background(), append([]embedded.Option{
		embedded.WithLiteTopic(bus), embedded.WithWildcardGroup(wild, bus), embedded.WithLiteGroup(plain, bus),
		embedded.WithNormalTopic("orders"), embedded.WithNormalGroup("workers"),
	}, opts...)...)
	t.Cleanup(b.Close)
	return b
}

// client is a bare client on the generated stubs.
type client struct {
	t      *testing.T
	b      *embedded.Broker
	id     string
	group  string
	topic  string
	kind   v2.ClientType
	access string
	secret string
	conn   *grpc.ClientConn
	v2.MessagingServiceClient
	stream grpc.BidiStreamingClient[v2.TelemetryCommand, v2.TelemetryCommand]
	cancel context.CancelFunc
}

func dial(t *testing.T, b *embedded.Broker, id string) *client {
	t.Helper()
	return dialAt(t, b, strings.Split(b.Endpoints(), ";")[0], id, insecure.NewCredentials())
}

func dialAt(t *testing.T, b *embedded.Broker, addr, id string, creds credentials.TransportCredentials) *client {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatalf("dialling %s: %v", addr, err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &client{
		t: t, b: b, id: id, group: wild, topic: bus, kind: v2.ClientType_LITE_PUSH_CONSUMER,
		conn: conn, MessagingServiceClient: v2.NewMessagingServiceClient(conn),
	}
}

// consumer dials, opens a session and subscribes to all lite topics.
func consumer(t *testing.T, b *embedded.Broker, id string) *client {
	t.Helper()
	c := dial(t, b, id)
	c.open()
	c.subscribe()
	return c
}

func (c *client) ctx(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	c.t.Cleanup(cancel)
	return c.sign(ctx)
}

func (c *client) sign(ctx context.Context) context.Context {
	date := "20261130T120000Z"
	kv := []string{"x-mq-language", "GO", "x-mq-protocol", "v2", "x-mq-client-version", "5.1.4",
		"x-mq-client-id", c.id, "x-mq-namespace", "", "x-mq-date-time", date}
	if c.access != "" {
		mac := hmac.New(sha1.New, []byte(c.secret))
		mac.Write([]byte(date))
		kv = append(kv, "authorization", fmt.Sprintf("MQv2-HMAC-SHA1 Credential=%s, SignedHeaders=x-mq-date-time, Signature=%s",
			c.access, hex.EncodeToString(mac.Sum(nil))))
	}
	return metadata.AppendToOutgoingContext(ctx, kv...)
}

func res(name string) *v2.Resource { return &v2.Resource{Name: name} }

func (c *client) endpoints() *v2.Endpoints {
	host, port, _ := net.SplitHostPort(c.conn.Target())
	n, _ := strconv.Atoi(port)
	return &v2.Endpoints{Scheme: v2.AddressScheme_IPv4, Addresses: []*v2.Address{{Host: host, Port: int32(n)}}}
}

func (c *client) settings() *v2.Settings {
	return &v2.Settings{
		ClientType: c.kind.Enum(), RequestTimeout: durationpb.New(3 * time.Second),
		PubSub: &v2.Settings_Subscription{Subscription: &v2.Subscription{
			Group:         res(c.group),
			Subscriptions: []*v2.SubscriptionEntry{{Topic: res(c.topic), Expression: &v2.FilterExpression{Type: v2.FilterType_TAG, Expression: "*"}}},
		}},
	}
}

// telemetry opens the stream, sends settings and returns the answer.
func (c *client) telemetry(s *v2.Settings) (*v2.TelemetryCommand, error) {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c.t.Cleanup(cancel)
	stream, err := c.Telemetry(c.sign(ctx))
	if err != nil {
		c.t.Fatalf("opening the telemetry stream: %v", err)
	}
	c.stream, c.cancel = stream, cancel
	if err := stream.Send(&v2.TelemetryCommand{Command: &v2.TelemetryCommand_Settings{Settings: s}}); err != nil {
		c.t.Fatalf("sending settings: %v", err)
	}
	return stream.Recv()
}

func (c *client) open() *v2.Settings {
	c.t.Helper()
	cmd, err := c.telemetry(c.settings())
	if err != nil {
		c.t.Fatalf("settings: %v", err)
	}
	wantCode(c.t, "settings", cmd.GetStatus(), v2.Code_OK)
	return cmd.GetSettings()
}

func (c *client) subscribe() {
	c.t.Helper()
	wantCode(c.t, "subscription", c.sync(v2.LiteSubscriptionAction_COMPLETE_ADD), v2.Code_OK)
}

func (c *client) sync(a v2.LiteSubscriptionAction, lites ...string) *v2.Status {
	c.t.Helper()
	r, err := c.SyncLiteSubscription(c.ctx(patience), &v2.SyncLiteSubscriptionRequest{
		Action: a, Topic: res(c.topic), Group: res(c.group), LiteTopicSet: lites,
	})
	if err != nil {
		c.t.Fatalf("SyncLiteSubscription: %v", err)
	}
	return r.GetStatus()
}

func (c *client) receiveRequest() *v2.ReceiveMessageRequest {
	return &v2.ReceiveMessageRequest{
		Group: res(c.group), MessageQueue: &v2.MessageQueue{Topic: res(c.topic), Id: -1, Broker: &v2.Broker{Name: "broker-a"}},
		FilterExpression: &v2.FilterExpression{Type: v2.FilterType_TAG, Expression: "*"}, BatchSize: 32,
		InvisibleDuration: durationpb.New(30 * time.Second), LongPollingTimeout: durationpb.New(5 * time.Second),
	}
}

// receive returns what a receive gave: the status, the messages, the error.
func (c *client) receive(req *v2.ReceiveMessageRequest) (*v2.Status, []*v2.Message, error) {
	c.t.Helper()
	stream, err := c.ReceiveMessage(c.ctx(patience), req)
	if err != nil {
		c.t.Fatalf("ReceiveMessage: %v", err)
	}
	var st *v2.Status
	var msgs []*v2.Message
	for {
		r, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return st, msgs, nil
		case err != nil:
			return st, msgs, err
		case r.GetStatus() != nil:
			st = r.GetStatus()
		case r.GetMessage() != nil:
			msgs = append(msgs, r.GetMessage())
		}
	}
}

// want receives, and fails unless exactly these bodies come, in this order.
func (c *client) want(bodies ...string) []*v2.Message {
	c.t.Helper()
	st, msgs, err := c.receive(c.receiveRequest())
	if err != nil {
		c.t.Fatalf("receive: %v", err)
	}
	wantCode(c.t, "receive", st, v2.Code_OK)
	wantBodies(c.t, msgs, bodies...)
	return msgs
}

func wantBodies(t *testing.T, msgs []*v2.Message, bodies ...string) {
	t.Helper()
	got := make([]string, len(msgs))
	for i, m := range msgs {
		got[i] = string(m.GetBody())
	}
	if strings.Join(got, ",") != strings.Join(bodies, ",") {
		t.Fatalf("received %q, want %q", got, bodies)
	}
}

func entry(m *v2.Message) *v2.AckMessageEntry {
	sp := m.GetSystemProperties()
	return &v2.AckMessageEntry{MessageId: sp.GetMessageId(), ReceiptHandle: sp.GetReceiptHandle(), LiteTopic: sp.LiteTopic}
}

func (c *client) ackEntries(es ...*v2.AckMessageEntry) *v2.AckMessageResponse {
	c.t.Helper()
	r, err := c.AckMessage(c.ctx(patience), &v2.AckMessageRequest{Group: res(c.group), Topic: res(c.topic), Entries: es})
	if err != nil {
		c.t.Fatalf("AckMessage: %v", err)
	}
	return r
}

// ack acks messages and fails unless all are answered OK.
func (c *client) ack(msgs ...*v2.Message) {
	c.t.Helper()
	var es []*v2.AckMessageEntry
	for _, m := range msgs {
		es = append(es, entry(m))
	}
	wantCode(c.t, "ack", c.ackEntries(es...).GetStatus(), v2.Code_OK)
}

func (c *client) change(m *v2.Message, d time.Duration, suspend bool) *v2.ChangeInvisibleDurationResponse {
	c.t.Helper()
	sp := m.GetSystemProperties()
	r, err := c.ChangeInvisibleDuration(c.ctx(patience), &v2.ChangeInvisibleDurationRequest{
		Group: res(c.group), Topic: res(c.topic), ReceiptHandle: sp.GetReceiptHandle(), MessageId: sp.GetMessageId(),
		InvisibleDuration: durationpb.New(d), LiteTopic: sp.LiteTopic, Suspend: &suspend,
	})
	if err != nil {
		c.t.Fatalf("ChangeInvisibleDuration: %v", err)
	}
	return r
}

func message(topic, lite, id, body string) *v2.Message {
	m := &v2.Message{Topic: res(topic), Body: []byte(body), SystemProperties: &v2.SystemProperties{
		MessageId: id, BornTimestamp: timestamppb.Now(), MessageType: v2.MessageType_LITE,
	}}
	if lite != "" {
		m.SystemProperties.LiteTopic = &lite
	}
	return m
}

func (c *client) send(msgs ...*v2.Message) *v2.SendMessageResponse {
	c.t.Helper()
	r, err := c.SendMessage(c.ctx(patience), &v2.SendMessageRequest{Messages: msgs})
	if err != nil {
		c.t.Fatalf("SendMessage: %v", err)
	}
	return r
}

func wantCode(t *testing.T, what string, st *v2.Status, want v2.Code) {
	t.Helper()
	if st.GetCode() != want {
		t.Fatalf("%s: got %s %q, want %s", what, st.GetCode(), st.GetMessage(), want)
	}
}

func wait(t *testing.T, b *embedded.Broker, what string, cond func(embedded.Snapshot) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := b.Wait(ctx, cond); err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}

func attempt(m *v2.Message) int32 { return m.GetSystemProperties().GetDeliveryAttempt() }
