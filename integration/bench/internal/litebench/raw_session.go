// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litebench

import (
	"context"
	"fmt"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/durationpb"
)

// rawSession is what a proxy demands before it gives out messages of lite
// topics: settings on a telemetry stream, and the wildcard subscription.
type rawSession struct {
	conn         *grpc.ClientConn
	stub         v2.MessagingServiceClient
	ctx          context.Context // with the metadata of all requests
	end          context.CancelFunc
	topic, group *v2.Resource
	broker       *v2.Broker
}

func openRawSession(ctx context.Context, endpoints, topic, group string) (*rawSession, error) {
	conn, err := grpc.NewClient("passthrough:///"+endpoints, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	s := &rawSession{conn: conn, stub: v2.NewMessagingServiceClient(conn), topic: &v2.Resource{Name: topic}, group: &v2.Resource{Name: group}}
	s.ctx, s.end = context.WithCancel(metadata.AppendToOutgoingContext(ctx,
		"x-mq-language", "GO", "x-mq-protocol", "v2", "x-mq-client-version", "5.1.4", "x-mq-client-id", uuid.NewString(),
		"x-mq-namespace", "", "x-mq-date-time", time.Now().UTC().Format("20060102T150405Z")))
	if err := s.open(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *rawSession) open() error {
	route, err := s.stub.QueryRoute(s.ctx, &v2.QueryRouteRequest{Topic: s.topic, Endpoints: &v2.Endpoints{
		Scheme: v2.AddressScheme_IPv4, Addresses: []*v2.Address{{Host: "127.0.0.1", Port: 1}}}})
	if err != nil || len(route.GetMessageQueues()) == 0 {
		return fmt.Errorf("reading the route: %v, %w", route.GetStatus(), err)
	}
	s.broker = route.GetMessageQueues()[0].GetBroker()
	if err := s.sendSettings(); err != nil {
		return fmt.Errorf("agreeing on settings: %w", err)
	}
	answer, err := s.stub.SyncLiteSubscription(s.ctx, &v2.SyncLiteSubscriptionRequest{
		Action: v2.LiteSubscriptionAction_COMPLETE_ADD, Topic: s.topic, Group: s.group})
	if err != nil || answer.GetStatus().GetCode() != v2.Code_OK {
		return fmt.Errorf("subscribing: the proxy answers %v, %w", answer.GetStatus(), err)
	}
	return nil
}

// sendSettings leaves the telemetry stream open; it ends with the session.
func (s *rawSession) sendSettings() error {
	stream, err := s.stub.Telemetry(s.ctx)
	if err != nil {
		return err
	}
	err = stream.Send(&v2.TelemetryCommand{Command: &v2.TelemetryCommand_Settings{Settings: &v2.Settings{
		ClientType: v2.ClientType_LITE_PUSH_CONSUMER.Enum(), UserAgent: &v2.UA{Language: v2.Language_GOLANG, Version: "5.1.4"},
		PubSub: &v2.Settings_Subscription{Subscription: &v2.Subscription{Group: s.group,
			Subscriptions:      []*v2.SubscriptionEntry{{Topic: s.topic, Expression: everything()}},
			LongPollingTimeout: durationpb.New(longPoll)}},
	}}})
	if err != nil {
		return err
	}
	_, err = stream.Recv()
	return err
}

func everything() *v2.FilterExpression {
	return &v2.FilterExpression{Type: v2.FilterType_TAG, Expression: "*"}
}

// close leaves the group, so that the broker has nothing more to do for it.
func (s *rawSession) close() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), time.Second)
	defer cancel()
	_, _ = s.stub.NotifyClientTermination(ctx, &v2.NotifyClientTerminationRequest{Group: s.group}) // a courtesy
	s.end()
	_ = s.conn.Close()
}
