// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
)

// client is the least that speaks gRPC with the proxy.
type client struct {
	t    *testing.T
	stub v2.MessagingServiceClient
	ctx  context.Context
}

func dial(t *testing.T, mq *realmq.Cluster) *client {
	t.Helper()
	return dialWith(t, mq, insecure.NewCredentials())
}

func dialWith(t *testing.T, mq *realmq.Cluster, creds credentials.TransportCredentials) *client {
	t.Helper()
	conn, err := grpc.NewClient(mq.Endpoints(), grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	ctx = metadata.AppendToOutgoingContext(ctx, "x-mq-language", "GO", "x-mq-protocol", "v2",
		"x-mq-client-version", "5.1.4", "x-mq-client-id", t.Name(), "x-mq-namespace", "",
		"x-mq-date-time", time.Now().UTC().Format("20060102T150405Z"))
	return &client{t: t, stub: v2.NewMessagingServiceClient(conn), ctx: ctx}
}

func resource(name string) *v2.Resource { return &v2.Resource{Name: name} }

// session opens telemetry and makes the wildcard subscription.
func (c *client) session(group, topic string) {
	c.t.Helper()
	stream, err := c.stub.Telemetry(c.ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	err = stream.Send(&v2.TelemetryCommand{Command: &v2.TelemetryCommand_Settings{Settings: &v2.Settings{
		ClientType: v2.ClientType_LITE_PUSH_CONSUMER.Enum(),
		UserAgent:  &v2.UA{Language: v2.Language_GOLANG, Version: "5.1.4"},
		PubSub: &v2.Settings_Subscription{Subscription: &v2.Subscription{Group: resource(group),
			Subscriptions: []*v2.SubscriptionEntry{{Topic: resource(topic),
				Expression: &v2.FilterExpression{Type: v2.FilterType_TAG, Expression: "*"}}}}},
	}}})
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		c.t.Fatal(err)
	}
	c.subscribe(group, topic)
}

// subscribe makes the wildcard subscription, which the broker keeps in memory.
func (c *client) subscribe(group, topic string) {
	c.t.Helper()
	answer, err := c.stub.SyncLiteSubscription(c.ctx, &v2.SyncLiteSubscriptionRequest{
		Action: v2.LiteSubscriptionAction_COMPLETE_ADD, Topic: resource(topic), Group: resource(group)})
	if err != nil || answer.GetStatus().GetCode() != v2.Code_OK {
		c.t.Fatalf("subscribing: got %v, %v", answer.GetStatus(), err)
	}
}

// send sends until the broker takes it: after a restart the proxy may need a
// moment to connect again.
func (c *client) send(topic, liteTopic, body string) {
	c.t.Helper()
	for {
		answer, err := c.stub.SendMessage(c.ctx, &v2.SendMessageRequest{Messages: []*v2.Message{{
			Topic: resource(topic), Body: []byte(body),
			SystemProperties: &v2.SystemProperties{MessageId: fmt.Sprintf("01%032X", time.Now().UnixNano()),
				LiteTopic: &liteTopic, MessageType: v2.MessageType_LITE, BornTimestamp: timestamppb.Now()},
		}}})
		if err == nil && answer.GetStatus().GetCode() == v2.Code_OK {
			return
		}
		if c.ctx.Err() != nil {
			c.t.Fatalf("sending %q: got %v, %v", body, answer.GetStatus(), err)
		}
	}
}

// receiveAndAck receives until the wanted body comes, and acks it.
func (c *client) receiveAndAck(group, topic, want string) {
	c.t.Helper()
	for {
		for _, m := range c.receive(group, topic) {
			if string(m.GetBody()) != want {
				continue
			}
			p := m.GetSystemProperties()
			answer, err := c.stub.AckMessage(c.ctx, &v2.AckMessageRequest{Group: resource(group), Topic: resource(topic),
				Entries: []*v2.AckMessageEntry{{MessageId: p.GetMessageId(), ReceiptHandle: p.GetReceiptHandle(), LiteTopic: p.LiteTopic}}})
			if err != nil || answer.GetStatus().GetCode() != v2.Code_OK {
				c.t.Fatalf("acking %q: got %v, %v", want, answer, err)
			}
			return
		}
		if c.ctx.Err() != nil {
			c.t.Fatalf("message %q did not come", want)
		}
	}
}

func (c *client) receive(group, topic string) []*v2.Message {
	c.t.Helper()
	stream, err := c.stub.ReceiveMessage(c.ctx, &v2.ReceiveMessageRequest{
		Group: resource(group), BatchSize: 32,
		MessageQueue: &v2.MessageQueue{Topic: resource(topic), Id: -1, Permission: v2.Permission_READ,
			Broker: &v2.Broker{Name: "broker-a"}},
		FilterExpression:   &v2.FilterExpression{Type: v2.FilterType_TAG, Expression: "*"},
		InvisibleDuration:  durationpb.New(30 * time.Second),
		LongPollingTimeout: durationpb.New(5 * time.Second),
	})
	if err != nil {
		c.t.Fatal(err)
	}
	var got []*v2.Message
	for {
		answer, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			c.t.Fatal(err)
		}
		if m := answer.GetMessage(); m != nil {
			got = append(got, m)
		}
	}
}

// processesUsing lists the processes whose command line names the folder.
func processesUsing(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		line, err := os.ReadFile(f)
		if err == nil && strings.Contains(string(line), dir) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}
