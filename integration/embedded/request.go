// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"
)

// Request is a request as it arrived. A control function may change Message, or
// Fields and Body of a remoting request: the broker then carries out the changed
// one.
type Request struct {
	Method   Method
	Proxy    int // index of the front end, in the order of Endpoints
	ClientID string
	Metadata metadata.MD
	Message  proto.Message // nil for a remoting request

	// The rest is set for remoting requests only. Server is the name of the broker
	// that was asked, or "name server"; Broker its index, -1 for the name server;
	// Slave the slave's broker id, 0 for a master. Connection is the client's
	// address.
	Code       int
	Fields     map[string]string
	Body       []byte
	OneWay     bool
	Server     string
	Broker     int
	Slave      int64
	Connection string

	peer string
	life int // the server that it came to
}

func (p *proxy) newRequest(ctx context.Context, m Method, msg proto.Message) *Request {
	md, _ := metadata.FromIncomingContext(ctx)
	r := &Request{Method: m, Proxy: p.index, ClientID: header(md, "x-mq-client-id"), Metadata: md, Message: msg, life: p.currentLife()}
	if pr, ok := peer.FromContext(ctx); ok {
		r.peer = pr.Addr.String()
	}
	return r
}

func header(md metadata.MD, key string) string {
	if v := md.Get(key); len(v) > 0 {
		return v[0]
	}
	return ""
}

// Group returns the consumer group that the request names, or "".
func (r *Request) Group() string {
	switch m := r.Message.(type) {
	case nil:
		return r.Fields["consumerGroup"]
	case interface{ GetGroup() *v2.Resource }:
		return m.GetGroup().GetName()
	case *v2.TelemetryCommand:
		return m.GetSettings().GetSubscription().GetGroup().GetName()
	}
	return ""
}

// Topic returns the topic that the request names, or "".
func (r *Request) Topic() string {
	switch m := r.Message.(type) {
	case nil:
		if r.Code == codeSendV2 || r.Code == codeSendBatch {
			return r.Fields["b"] // their fields have short names
		}
		return r.Fields["topic"]
	case interface{ GetTopic() *v2.Resource }:
		return m.GetTopic().GetName()
	case *v2.ReceiveMessageRequest:
		return m.GetMessageQueue().GetTopic().GetName()
	case *v2.SendMessageRequest:
		for _, msg := range m.GetMessages() {
			return msg.GetTopic().GetName()
		}
	}
	return ""
}

func as[T proto.Message](r *Request) T {
	m, _ := r.Message.(T)
	return m
}

// The typed views below are nil if the request is another one.

// Route returns the QueryRoute request.
func (r *Request) Route() *v2.QueryRouteRequest { return as[*v2.QueryRouteRequest](r) }

// Telemetry returns the command that a client sent on its telemetry stream.
func (r *Request) Telemetry() *v2.TelemetryCommand { return as[*v2.TelemetryCommand](r) }

// Heartbeat returns the Heartbeat request.
func (r *Request) Heartbeat() *v2.HeartbeatRequest { return as[*v2.HeartbeatRequest](r) }

// Sync returns the SyncLiteSubscription request.
func (r *Request) Sync() *v2.SyncLiteSubscriptionRequest {
	return as[*v2.SyncLiteSubscriptionRequest](r)
}

// Send returns the SendMessage request.
func (r *Request) Send() *v2.SendMessageRequest { return as[*v2.SendMessageRequest](r) }

// Receive returns the ReceiveMessage request.
func (r *Request) Receive() *v2.ReceiveMessageRequest { return as[*v2.ReceiveMessageRequest](r) }

// Ack returns the AckMessage request.
func (r *Request) Ack() *v2.AckMessageRequest { return as[*v2.AckMessageRequest](r) }

// Change returns the ChangeInvisibleDuration request.
func (r *Request) Change() *v2.ChangeInvisibleDurationRequest {
	return as[*v2.ChangeInvisibleDurationRequest](r)
}

// Terminate returns the NotifyClientTermination request.
func (r *Request) Terminate() *v2.NotifyClientTerminationRequest {
	return as[*v2.NotifyClientTerminationRequest](r)
}
