// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// routeCases are about QueryRoute and QueryAssignment.
func routeCases() []testCase {
	return []testCase{
		{
			name: "a lite topic's route has its queues, all of type LITE, behind the proxy's own address",
			run: func(s *scene) {
				answer := s.dial().route(s.topic)
				s.wantStatus("route", answer.GetStatus(), v2.Code_OK, "OK")
				if n := len(answer.GetMessageQueues()); n != 8 {
					s.Errorf("got %d queues, want 8", n)
				}
				for _, q := range answer.GetMessageQueues() {
					if types := q.GetAcceptMessageTypes(); len(types) != 1 || types[0] != v2.MessageType_LITE {
						s.Errorf("got message types %v, want LITE", types)
					}
					if q.GetPermission() != v2.Permission_READ_WRITE || q.GetBroker().GetName() != "broker-a" {
						s.Errorf("got permission %v of broker %q, want READ_WRITE of broker-a", q.GetPermission(), q.GetBroker().GetName())
					}
				}
			},
		},
		{
			name: "a route of a topic that does not exist answers TOPIC_NOT_FOUND",
			run: func(s *scene) {
				s.wantStatus("route", s.dial().route(s.name("missing")).GetStatus(), v2.Code_TOPIC_NOT_FOUND, "")
			},
		},
		{
			name: "a lite group's assignment is one queue without a number for each broker",
			run: func(s *scene) {
				c := s.dial()
				ctx, cancel := c.rpc()
				defer cancel()
				answer, err := c.stub.QueryAssignment(ctx, &v2.QueryAssignmentRequest{
					Topic: resource(s.topic), Group: resource(s.group), Endpoints: anyEndpoints()})
				if err != nil {
					s.Fatal(err)
				}
				s.wantStatus("assignment", answer.GetStatus(), v2.Code_OK, "OK")
				if a := answer.GetAssignments(); len(a) != 1 || a[0].GetMessageQueue().GetId() != -1 {
					s.Errorf("got %v, want one queue with number -1", a)
				}
			},
		},
	}
}

func anyEndpoints() *v2.Endpoints {
	return &v2.Endpoints{Scheme: v2.AddressScheme_IPv4, Addresses: []*v2.Address{{Host: "127.0.0.1", Port: 1}}}
}

func (c *client) route(topic string) *v2.QueryRouteResponse {
	c.s.Helper()
	ctx, cancel := c.rpc()
	defer cancel()
	answer, err := c.stub.QueryRoute(ctx, &v2.QueryRouteRequest{Topic: resource(topic), Endpoints: anyEndpoints()})
	if err != nil {
		c.s.Fatalf("route: %v", err)
	}
	return answer
}
