// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"testing"
	"time"
)

// Kind is the message type of a topic, with RocketMQ's names.
type Kind string

// The kinds of topics that cases ask for.
const (
	Normal Kind = "NORMAL"
	FIFO   Kind = "FIFO"
	Lite   Kind = "LITE"
)

// Topic is a topic that a case needs.
type Topic struct {
	Name string
	Kind Kind
}

// Group is a consumer group that a case needs.
type Group struct {
	Name string
	// Bind makes it a lite group, bound to this main topic.
	Bind string
	// Wildcard lets a lite group subscribe to all lite topics at once.
	Wildcard bool
	// Exclusive gives each lite topic to the client that named it last.
	Exclusive bool
	// RetryMaxTimes is how often a message is delivered again before it goes to
	// the dead letters. 0 means RocketMQ's default, 16.
	RetryMaxTimes int
	// ClientQuota is how many lite topics a client may name. 0 means RocketMQ's
	// default, 2000.
	ClientQuota int
}

// Setup is what must exist before a case begins.
type Setup struct {
	Topics []Topic
	Groups []Group
}

// Target is an implementation that the suite runs against.
type Target interface {
	// Open gives a case a broker on which the topics and groups exist. Names
	// are unique to the case, so a broker may serve several cases at once.
	Open(t *testing.T, s Setup) Broker
	// Lacks says why the target does not have a feature, or "" if it has. The
	// cases that need it are left out, which the log tells.
	Lacks(f Feature) string
	// Parallel is how many cases may run at once.
	Parallel() int
}

// Feature is something that a target may do without.
type Feature string

// The features that cases may need.
const (
	// Dispatch is that a waiting message is put aside for one client of its
	// group, and stays so for ten seconds if that client does not ask.
	Dispatch Feature = "messages are put aside for one client"
	// AutoRenew is that the proxy renews messages and counts those that it does.
	AutoRenew Feature = "messages are renewed by the proxy"
)

// Broker is a running broker with its proxy, as a case sees it.
type Broker interface {
	// Endpoints is the address of the gRPC proxy, "host:port".
	Endpoints() string
	// Now is the broker's clock.
	Now() time.Time
	// Advance lets d pass on the broker's clock.
	Advance(ctx context.Context, d time.Duration)
	// AwaitPoll is called while a long poll of the group is under way. It lets d
	// pass on the broker's clock, or returns when the poll is done.
	AwaitPoll(ctx context.Context, group string, d time.Duration, done <-chan struct{})
	// AwaitTaken waits until each message of the topic was given out, on a broker
	// that can be looked into and whose clock stands still meanwhile.
	AwaitTaken(ctx context.Context, topic string)
	// LosesPolls reports whether a long poll may stay without any answer, as on
	// the proxy of 5.5.0 when the machine is busy.
	LosesPolls() bool
	// RestartProxy ends the proxy and starts it on the same port: its sessions
	// are lost. Only cases that say so call it; they run one after another.
	RestartProxy(t *testing.T)
	// RestartBroker ends the broker in good order and starts it again behind
	// its proxy. What the broker keeps in memory only is lost.
	RestartBroker(t *testing.T)
}
