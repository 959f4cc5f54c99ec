// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// restartCases are about what a restart of the proxy or the broker leaves.
func restartCases() []testCase {
	return []testCase{
		{
			name:  "after a restart of the proxy a receive answers a null pointer until settings are sent again (L31, L32)",
			alone: true,
			run: func(s *scene) {
				c := s.consumer()
				c.mustSend("lt", "a")
				c.mustReceive(invisibleFor(5 * time.Minute)) // longer than any restart
				c = s.mustRestartProxy(c)
				s.wantStatus("receive", c.receive().status, v2.Code_INTERNAL_SERVER_ERROR, "NullPointerException")
				s.wantStatus("heartbeat", c.heartbeat(), v2.Code_UNRECOGNIZED_CLIENT_TYPE, "cannot find client settings for this client")
				c.mustSession()
				c.mustSubscribe()
				c.mustSend("lt-2", "b")
				s.wantBodies("receive", c.mustReceive(), "b")
			},
		},
		{
			// A handle holds all that it takes: the proxy keeps nothing of it
			// unless it renews it (L05, L08).
			name:  "after a restart of the proxy handles from before it work for ack and change (L05, L08)",
			alone: true,
			run: func(s *scene) {
				c := s.consumer()
				c.mustSend("lt-1", "a")
				c.mustSend("lt-2", "b")
				got := c.mustReceiveAll(2, invisibleFor(5*time.Minute))
				c = s.mustRestartProxy(c)
				s.dial().mustAck(got[0])
				c.mustSession()
				c.mustSubscribe()
				c.mustChange(got[1], time.Second)
				s.pass(time.Second)
				s.wantBodies("again", c.mustReceive(), string(got[1].GetBody()))
			},
		},
		{
			// The broker keeps lite subscriptions and the batches of lite topics
			// in memory. What was invisible is visible again after a restart,
			// and an old handle that has not run out is taken at its word:
			// acking the second message of a batch acks the first one too,
			// which is lost.
			name:  "after a restart of the broker a subscription must be sent again, and an ack of a later message acks the earlier ones with it",
			alone: true,
			run: func(s *scene) {
				c := s.consumer()
				c.mustSend("lt", "gate")
				gate := c.mustReceive(invisibleFor(5 * time.Minute))
				c.mustSend("lt", "a", "b", "c")
				c.mustAck(gate...)
				got := c.mustReceive(invisibleFor(5 * time.Minute))
				s.wantBodies("the batch", got, "a", "b", "c")
				s.broker.RestartBroker(s.T)
				s.wantStatus("heartbeat", c.heartbeat(), v2.Code_OK, "OK")
				c.mustAck(got[1])
				s.awaitPolls()
				c.mustBeEmpty("before the subscription")
				c.mustSubscribe()
				s.pass(6 * time.Second)
				again := c.mustReceive()
				s.wantBodies("after it", again, "c")
				s.wantAttempts("after it", again, 1)
			},
		},
	}
}

// mustRestartProxy restarts the proxy and gives the client a new connection.
func (s *scene) mustRestartProxy(c *client) *client {
	s.Helper()
	s.broker.RestartProxy(s.T)
	again := s.dial()
	again.id = c.id
	return again
}

// awaitPolls waits until the proxy answers polls again: on a busy machine the
// first ones after a restart of its broker may have no answer. They are those of
// another client, for one that was broken off takes the next message.
func (s *scene) awaitPolls() {
	s.Helper()
	other := s.dial()
	other.mustSession()
	var last error
	for range 4 {
		r := other.receive()
		if r.err == nil {
			return
		}
		last = r.err
	}
	s.Fatalf("the proxy answers no poll: %v", last)
}
