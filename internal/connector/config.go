// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/internal/format"
)

// The values of 'connector'.
const (
	// Remoting is for normal topics, by name servers.
	Remoting = "rocketmq"
	// Remoting4 and Remoting5 are the same under the names that a vendor gives to
	// servers of RocketMQ 4 and 5.
	Remoting4 = "rocketmq4"
	Remoting5 = "rocketmq5"
	// GRPC is for lite topics, by proxies.
	GRPC = "rocketmq-grpc"
)

// Config is what the options of a table come to. Lite is set for [GRPC], Normal
// for the others.
type Config struct {
	Connector string
	Client    Client
	Format    format.Config
	// OnDecodeError says what to do with a row that cannot be read.
	OnDecodeError DecodePolicy
	Source        Source
	Sink          Sink
	LiteSource    LiteSource
	LiteSink      LiteSink
}

// DecodePolicy says what to do with a row that cannot be read.
type DecodePolicy string

// The decode policies.
const (
	// FailOnError fails the bundle with the error.
	FailOnError DecodePolicy = "fail"
	// SkipErrors counts the row and goes on.
	SkipErrors DecodePolicy = "skip"
)

// Client is how the cluster is reached.
type Client struct {
	// Endpoints are name servers, or proxies for lite topics: host:port, with a
	// semicolon between them.
	Endpoints   string
	Namespace   string
	Credentials auth.Source
	TLS         auth.TLS
	// RequestTimeout bounds each request but the wait of a pull.
	RequestTimeout time.Duration
	// DiscoveryInterval is how often new queues are looked for; 0 is never. Not
	// for lite topics.
	DiscoveryInterval time.Duration
}

// Source is reading a normal topic.
type Source struct {
	Topics []string
	Group  string
	// Tags are the tags to read, none for all; SQL is an SQL92 filter instead.
	Tags  []string
	SQL   string
	Start Start
	// OutOfRange says what to do when a queue does not hold the position.
	OutOfRange OutOfRange
	// Stop ends the reading at the first message stored then or later; zero for
	// never.
	Stop           time.Time
	PullBatchSize  int
	QueueThreshold int
	TotalThreshold int
	PullTimeout    time.Duration
	RetryDelay     time.Duration
	// CommitInterval is how often positions are committed; 0 is never.
	CommitInterval time.Duration
}

// StartMode is where reading begins.
type StartMode string

// The start modes.
const (
	Earliest StartMode = "earliest"
	Latest   StartMode = "latest"
	// Committed is where the group has committed, and the latest in queues for
	// which it has not.
	Committed StartMode = "group"
	// AtTime is the first message stored at Start.At or later.
	AtTime StartMode = "timestamp"
	// AtOffset is Start.Offset in every queue.
	AtOffset StartMode = "specific"
)

// Start is where reading begins.
type Start struct {
	Mode   StartMode
	At     time.Time
	Offset int64
}

// OutOfRange says what to do when a queue does not hold the position to read
// from.
type OutOfRange string

// What to do then.
const (
	FailOutOfRange OutOfRange = "fail"
	ToEarliest     OutOfRange = "earliest"
	ToLatest       OutOfRange = "latest"
)

// Guarantee is what a sink promises of each message.
type Guarantee string

// The guarantees.
const (
	NoGuarantee Guarantee = "NONE"
	AtLeastOnce Guarantee = "AT_LEAST_ONCE"
	ExactlyOnce Guarantee = "EXACTLY_ONCE"
)

// Sink is writing a normal topic.
type Sink struct {
	Topic string
	Group string
	// Tag is the tag of all messages; TagColumn is the column that has it instead.
	Tag       string
	TagColumn string
	// KeyColumns are the columns whose values are the message's keys.
	KeyColumns         []string
	Guarantee          Guarantee
	SendTimeout        time.Duration
	Retries            int
	PendingMax         int
	TransactionTimeout time.Duration
}

// LiteSource is reading the lite topics of a main topic.
type LiteSource struct {
	Topic             string
	Group             string
	FetchConcurrency  int
	AwaitDuration     time.Duration
	InvisibleDuration time.Duration
	MaxMessageNum     int
	// RenewWhileQueued renews the leases of messages that wait in the process,
	// RenewalAhead before they end.
	RenewWhileQueued bool
	RenewalAhead     time.Duration
	Ack              AckMode
}

// AckMode is when messages of lite topics are acknowledged.
type AckMode string

// The ack modes.
const (
	// AckNever leaves it to the lease to end: messages come again and again.
	AckNever AckMode = "never"
	// AckLast acknowledges a message when the last step is done with its rows.
	AckLast AckMode = "last-step"
)

// LiteSink is writing one lite topic.
type LiteSink struct {
	Topic       string
	LiteTopic   string
	MaxAttempts int
}
