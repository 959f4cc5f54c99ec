// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"testing"
	"time"
)

// RemotingSetup is what must exist before a case of the remoting protocol begins,
// beside its topic and its group.
type RemotingSetup struct {
	// Topics and their numbers of queues.
	Topics map[string]int
	// Groups are consumer groups.
	Groups []string
	// SQL are the expressions that the case filters by, and what they match. Only
	// a target that reads no SQL looks at the latter.
	SQL map[string]func(properties map[string]string) bool
}

// RemotingTarget is an implementation of name server and broker that the cases
// of the remoting protocol run against. Its broker has property filters on
// (enablePropertyFilter) and otherwise the settings that RocketMQ has by default.
type RemotingTarget interface {
	// Open gives a case a broker on which the topics and groups exist. Names are
	// unique to the case, so a broker may serve several cases at once.
	Open(t *testing.T, s RemotingSetup) RemotingBroker
	// Parallel is how many cases may run at once.
	Parallel() int
}

// RemotingBroker is a running name server with its broker, as a case sees it.
type RemotingBroker interface {
	// NameServer and BrokerAddr are addresses, "host:port".
	NameServer() string
	BrokerAddr() string
	// Now is the broker's clock.
	Now() time.Time
	// Advance lets d pass on the broker's clock.
	Advance(ctx context.Context, d time.Duration)
	// AwaitHold is called while a pull of the group waits at the broker. It lets
	// d pass on the broker's clock, or returns when the pull is answered.
	AwaitHold(ctx context.Context, group string, d time.Duration, done <-chan struct{})
	// Roll makes what is stored from now on outlive what was stored before.
	Roll(t *testing.T)
	// Expire removes what was stored before the last Roll. Both act on all that
	// the broker holds: cases that call them run one by one.
	Expire(t *testing.T)
	// RestartBroker ends the broker in good order and starts it again.
	RestartBroker(t *testing.T)
}
