// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// BenchmarkReceiveAndAck measures messages received in batches of 32 and acked in
// one request per batch, over 100 lite topics, on one connection.
func BenchmarkReceiveAndAck(b *testing.B) {
	mq := embedded.Start(context.Background(), embedded.WithLiteTopic(bus), embedded.WithWildcardGroup(wild, bus))
	defer mq.Close()
	body := make([]byte, 256)
	for i := range b.N {
		mq.Publish(bus, fmt.Sprintf("t%d", i%100), body)
	}
	conn, err := grpc.NewClient(mq.Endpoints(), grpc.WithTransportCredentials(insecureCreds()))
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	c := &client{id: "c1", group: wild, topic: bus, kind: v2.ClientType_LITE_PUSH_CONSUMER, conn: conn, MessagingServiceClient: v2.NewMessagingServiceClient(conn)}
	ctx, cancel := context.WithTimeout(c.sign(context.Background()), 600e9)
	defer cancel()
	open(ctx, b, c)
	b.ResetTimer()
	for got := 0; got < b.N; {
		stream, err := c.ReceiveMessage(ctx, c.receiveRequest())
		if err != nil {
			b.Fatal(err)
		}
		var es []*v2.AckMessageEntry
		for {
			r, err := stream.Recv()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			if m := r.GetMessage(); m != nil {
				es = append(es, entry(m))
			}
		}
		if len(es) == 0 {
			b.Fatalf("nothing more after %d of %d", got, b.N)
		}
		got += len(es)
		if _, err := c.AckMessage(ctx, &v2.AckMessageRequest{Group: res(wild), Topic: res(bus), Entries: es}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
}

func open(ctx context.Context, b *testing.B, c *client) {
	b.Helper()
	stream, err := c.Telemetry(ctx)
	if err != nil {
		b.Fatal(err)
	}
	if err := stream.Send(&v2.TelemetryCommand{Command: &v2.TelemetryCommand_Settings{Settings: c.settings()}}); err != nil {
		b.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		b.Fatal(err)
	}
	if _, err := c.SyncLiteSubscription(ctx, &v2.SyncLiteSubscriptionRequest{
		Action: v2.LiteSubscriptionAction_COMPLETE_ADD, Topic: res(bus), Group: res(wild),
	}); err != nil {
		b.Fatal(err)
	}
}
