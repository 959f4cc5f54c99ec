// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
)

// stub answers OK to everything, to leave the cost of the client.
type stub struct {
	v2.UnimplementedMessagingServiceServer
}

func (stub) Telemetry(s v2.MessagingService_TelemetryServer) error {
	for {
		c, err := s.Recv()
		if err != nil {
			return err
		}
		if err := s.Send(c); err != nil {
			return err
		}
	}
}

func (stub) Heartbeat(context.Context, *v2.HeartbeatRequest) (*v2.HeartbeatResponse, error) {
	return &v2.HeartbeatResponse{Status: &v2.Status{Code: v2.Code_OK}}, nil
}

func (stub) NotifyClientTermination(context.Context, *v2.NotifyClientTerminationRequest) (*v2.NotifyClientTerminationResponse, error) {
	return &v2.NotifyClientTerminationResponse{Status: &v2.Status{Code: v2.Code_OK}}, nil
}

func (stub) AckMessage(_ context.Context, r *v2.AckMessageRequest) (*v2.AckMessageResponse, error) {
	ok := &v2.Status{Code: v2.Code_OK}
	res := &v2.AckMessageResponse{Status: ok, Entries: make([]*v2.AckMessageResultEntry, len(r.Entries))}
	for i, e := range r.Entries {
		res.Entries[i] = &v2.AckMessageResultEntry{MessageId: e.MessageId, ReceiptHandle: e.ReceiptHandle, Status: ok}
	}
	return res, nil
}

// A message through the DoFn, with the request to a server in the same process
// and its answer; the server's share is in the figures.
func BenchmarkAckDoFn(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := grpc.NewServer()
	v2.RegisterMessagingServiceServer(server, stub{})
	go server.Serve(l) // ended by Stop
	b.Cleanup(server.Stop)
	b.Cleanup(sessions.CloseIdle)
	handles := make([]coders.ReceiptHandle, 1000)
	for i := range handles {
		handles[i] = coders.ReceiptHandle{
			Endpoints: l.Addr().String(), ConsumerGroup: testGroup, Topic: testTopic, LiteTopic: fmt.Sprintf("session-%d", i%100),
			MessageID: fmt.Sprintf("01A1B2C3D4E5F60718%016d", i), DeliveryAttempt: 1, InvisibleUntil: time.Now().Add(time.Minute),
			Handle: fmt.Sprintf("%d 1796019863024 60000 7 0 broker-a 0 %d 123456789", i, i),
		}
	}
	for _, size := range []int{1, 8, 32, 128} {
		b.Run(fmt.Sprint("batch ", size), func(b *testing.B) {
			s, err := resolve([]Option{BatchSize(size)})
			if err != nil {
				b.Fatal(err)
			}
			a := acker{Settings: s}
			a.Setup()
			emitted := 0
			emit := emitResult(func(Result) { emitted++ })
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if n%len(handles) == 0 {
					a.StartBundle(b.Context(), emit)
				}
				if err := a.add(b.Context(), &handles[n%len(handles)], placed.Place{}, emit); err != nil {
					b.Fatal(err)
				}
				if n++; n%len(handles) == 0 {
					if err := a.FinishBundle(b.Context(), emit); err != nil {
						b.Fatal(err)
					}
				}
			}
			if n%len(handles) != 0 {
				if err := a.FinishBundle(b.Context(), emit); err != nil {
					b.Fatal(err)
				}
			}
			if emitted != n {
				b.Fatalf("%d results for %d messages", emitted, n)
			}
		})
	}
}

func BenchmarkResultCoder(b *testing.B) {
	r := Result{Outcome: Acked, Handle: coders.ReceiptHandle{
		Endpoints: "127.0.0.1:8081", ConsumerGroup: testGroup, Topic: testTopic, LiteTopic: "session-7", MessageID: "01A1B2C3",
		Handle: "1 1796019863024 60000 7 0 broker-a 0 7 123456789", DeliveryAttempt: 1, InvisibleUntil: time.Now(),
	}}
	b.ReportAllocs()
	for b.Loop() {
		data, err := EncodeResult(r)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := DecodeResult(data); err != nil {
			b.Fatal(err)
		}
	}
}
