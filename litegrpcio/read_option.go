// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
	"github.com/rocketmq-beam/rocketmq-beam/internal/names"
	"github.com/rocketmq-beam/rocketmq-beam/internal/option"
	"github.com/rocketmq-beam/rocketmq-beam/internal/userfunc"
)

// The defaults of Read.
const (
	DefaultFetchConcurrency  = 1
	DefaultAwaitDuration     = 20 * time.Second
	DefaultInvisibleDuration = 60 * time.Second
	DefaultMaxMessageNum     = 32
	DefaultRenewalAhead      = 5 * time.Second
	DefaultStallTimeout      = 10 * time.Minute
	DefaultIdleClose         = 10 * time.Second
)

// maxMessageNum is the most that a proxy gives out in one answer.
const maxMessageNum = 1024

// readConfig is what Read was told. It is part of the pipeline graph.
type readConfig struct {
	Endpoints         string            `json:"endpoints"`
	Namespace         string            `json:"namespace,omitempty"`
	Topic             string            `json:"topic"`
	Group             string            `json:"group"`
	Client            litegrpc.Settings `json:"client"`
	FetchConcurrency  int               `json:"fetch_concurrency"`
	AwaitDuration     time.Duration     `json:"await_duration"`
	InvisibleDuration time.Duration     `json:"invisible_duration"`
	MaxMessageNum     int               `json:"max_message_num"`
	Renewal           *beam.EncodedFunc `json:"renewal,omitempty"`
	RenewalAhead      time.Duration     `json:"renewal_ahead"`
	StallTimeout      time.Duration     `json:"stall_timeout"`
	IdleClose         time.Duration     `json:"idle_close"`
	AssumeWildcard    bool              `json:"assume_wildcard,omitempty"`
	PublishTime       bool              `json:"publish_time,omitempty"`
	MaxDisorder       time.Duration     `json:"max_disorder,omitempty"`
	Shards            int               `json:"shards"`
	MaxRecords        int64             `json:"max_records,omitempty"`
	MaxDuration       time.Duration     `json:"max_duration,omitempty"`
	IdleTimeout       time.Duration     `json:"idle_timeout,omitempty"`
}

// ReadOption changes one setting of [Read] or [ReadBounded].
type ReadOption func(*readConfig) error

func newReadConfig(endpoints, topic, group string, opts []ReadOption) (readConfig, error) {
	c := readConfig{
		Endpoints: endpoints, Topic: topic, Group: group,
		FetchConcurrency: DefaultFetchConcurrency, AwaitDuration: DefaultAwaitDuration,
		InvisibleDuration: DefaultInvisibleDuration, MaxMessageNum: DefaultMaxMessageNum,
		RenewalAhead: DefaultRenewalAhead, StallTimeout: DefaultStallTimeout, IdleClose: DefaultIdleClose, Shards: 1,
	}
	return c, errors.Join(option.Apply(&c, opts), c.check())
}

func (c *readConfig) credentials() *auth.Source { return &c.Client.Credentials }

// check judges what belongs together, once all options were applied.
func (c *readConfig) check() error {
	_, endpointsErr := litegrpc.ParseEndpoints(c.Endpoints)
	faults := []error{endpointsErr, names.CheckTopic(c.Topic), names.CheckGroup(c.Group), c.Client.Check()}
	if c.Renewal != nil && c.RenewalAhead >= c.InvisibleDuration {
		faults = append(faults, fmt.Errorf("renewal-ahead time %v is not shorter than the invisible duration %v: every message would be renewed at once",
			c.RenewalAhead, c.InvisibleDuration))
	}
	return errors.Join(faults...)
}

// bounded says whether the reading ends by itself.
func (c *readConfig) bounded() bool {
	return c.MaxRecords > 0 || c.MaxDuration > 0 || c.IdleTimeout > 0
}

// ReadNamespace sets the instance namespace, which some vendors need. Default:
// none.
func ReadNamespace(namespace string) ReadOption {
	return option.Namespace("ReadNamespace", namespace, func(c *readConfig) { c.Namespace = namespace })
}

// ReadCredentials names the resolver that gives each worker its keys: "env",
// "file:/path", or one that the program registered (auth.Register). Default:
// requests are not signed.
func ReadCredentials(resolver string) ReadOption {
	return option.Resolver("ReadCredentials", resolver, (*readConfig).credentials)
}

// ReadStaticCredentials gives the keys themselves. They stand in the pipeline
// graph in plain text, which runners store and show: prefer [ReadCredentials].
func ReadStaticCredentials(accessKey, secretKey string) ReadOption {
	return option.StaticKeys("ReadStaticCredentials", accessKey, secretKey, (*readConfig).credentials)
}

// ReadTLS secures the connections. Default: plain text.
func ReadTLS(t auth.TLS) ReadOption {
	return func(c *readConfig) error { c.Client.TLS = t; return nil }
}

// ReadRequestTimeout bounds each request, and for a long poll what comes on top
// of the await duration. 100 ms to 1 min, default 3 s.
func ReadRequestTimeout(d time.Duration) ReadOption {
	return option.InRange("ReadRequestTimeout", d, 100*time.Millisecond, time.Minute, func(c *readConfig) { c.Client.RequestTimeout = d })
}

// ReadFetchConcurrency sets how many long polls each worker process keeps under
// way. More of them raise throughput and the number of messages that wait in
// the process: max-message-num × (2 × concurrency) at most. 1 to 256, default 1.
func ReadFetchConcurrency(n int) ReadOption {
	return option.InRange("ReadFetchConcurrency", n, 1, 256, func(c *readConfig) { c.FetchConcurrency = n })
}

// ReadAwaitDuration sets how long a poll waits at the proxy for a message. 5 s,
// the least that proxies wait, to 60 s; default 20 s. It does not delay
// messages that are there.
func ReadAwaitDuration(d time.Duration) ReadOption {
	return option.InRange("ReadAwaitDuration", d, litegrpc.MinAwaitDuration, time.Minute, func(c *readConfig) { c.AwaitDuration = d })
}

// ReadInvisibleDuration sets the lease: how long the pipeline has for a message
// before the broker delivers it again. It must cover all work up to the ack,
// windows and shuffles included. 10 s, the least that proxies grant, to 12 h;
// default 60 s. While it lasts, a lost worker's lite topics stand still.
func ReadInvisibleDuration(d time.Duration) ReadOption {
	return option.InRange("ReadInvisibleDuration", d, litegrpc.MinInvisibleDuration, litegrpc.MaxInvisibleDuration,
		func(c *readConfig) { c.InvisibleDuration = d })
}

// ReadMaxMessageNum sets how many messages one poll may bring. 1 to 1024,
// default 32, which is also the most that brokers of RocketMQ 5.5 give.
func ReadMaxMessageNum(n int) ReadOption {
	return option.InRange("ReadMaxMessageNum", n, 1, maxMessageNum, func(c *readConfig) { c.MaxMessageNum = n })
}

// Queued is a message that waits in the process to be emitted, as a renewal
// policy sees it.
type Queued struct {
	Message coders.AckableMessage
	// Since is when it was received, Renewed how often it was renewed.
	Since   time.Time
	Renewed int
	// InvisibleDuration is the lease that [ReadInvisibleDuration] set.
	InvisibleDuration time.Duration
}

// ReadRenewal sets a policy that is asked, shortly before the lease of a
// message that still waits to be emitted would end, how much longer it shall
// last; 0 lets it end, and the broker delivers it again. Once emitted a message
// is never renewed, for that would replace the handle that travels with it. The
// function must be registered with Beam (register.Function1x1). Default: no
// renewal. [RenewWhileQueued] is a policy ready to use.
func ReadRenewal(policy func(Queued) time.Duration) ReadOption {
	return func(c *readConfig) error {
		if policy == nil {
			return errors.New("option ReadRenewal: renewal policy is nil")
		}
		if reflect.ValueOf(policy).Kind() != reflect.Func {
			return errors.New("option ReadRenewal: renewal policy is no function")
		}
		c.Renewal = &beam.EncodedFunc{Fn: reflectx.MakeFunc(policy)}
		return userfunc.Check("option ReadRenewal: the policy", c.Renewal.Fn)
	}
}

// ReadRenewalAhead sets how long before its end a lease is renewed. 1 s to
// 10 min and less than the invisible duration; default 5 s.
func ReadRenewalAhead(d time.Duration) ReadOption {
	return option.InRange("ReadRenewalAhead", d, time.Second, 10*time.Minute, func(c *readConfig) { c.RenewalAhead = d })
}

// ReadPublishTime makes a message's event time the time at which the broker
// stored it, instead of the time at which it is emitted. The watermark then
// stays maxDisorder behind the newest message seen, or behind the clock when
// nothing comes; a message that is older, such as one delivered again, is late
// and may be dropped by windows. 0 to 24 h.
func ReadPublishTime(maxDisorder time.Duration) ReadOption {
	return option.InRange("ReadPublishTime", maxDisorder, 0, 24*time.Hour, func(c *readConfig) {
		c.PublishTime, c.MaxDisorder = true, maxDisorder
	})
}

// ReadShards sets into how many restrictions the reading is cut, which a runner
// may spread over that many workers. The broker shares the messages out among
// them. 1 to 1000, default 1; on a runner with several workers, their number.
func ReadShards(n int) ReadOption {
	return option.InRange("ReadShards", n, 1, 1000, func(c *readConfig) { c.Shards = n })
}

// ReadStallTimeout sets after how long without any answer from a proxy, not
// even an empty one, the bundle fails with the last error, for a runner to
// restart it. A tenth of it after the last answer, and as often again, a
// warning is logged. 10 s to 24 h, default 10 min.
func ReadStallTimeout(d time.Duration) ReadOption {
	return option.InRange("ReadStallTimeout", d, 10*time.Second, 24*time.Hour, func(c *readConfig) { c.StallTimeout = d })
}

// ReadIdleClose sets after how long without a bundle of this transform a worker
// process hands back what it received and leaves the group; no runner says when
// a transform has ended. 1 s to 1 h, default 10 s.
func ReadIdleClose(d time.Duration) ReadOption {
	return option.InRange("ReadIdleClose", d, time.Second, time.Hour, func(c *readConfig) { c.IdleClose = d })
}

// ReadAssumeWildcard leaves out the check that the group has the attribute
// lite.sub.wildcard=true, without which nothing is ever delivered. For brokers
// at which the check is wrong.
func ReadAssumeWildcard() ReadOption {
	return func(c *readConfig) error { c.AssumeWildcard = true; return nil }
}

// ReadMaxRecords ends the reading when about n messages were emitted: exactly
// n, if there is one shard. At least 1; default: no limit.
func ReadMaxRecords(n int64) ReadOption {
	return option.InRange("ReadMaxRecords", n, 1, 1<<53, func(c *readConfig) { c.MaxRecords = n })
}

// ReadMaxDuration ends the reading d after the pipeline started. 1 ms to
// 10000 h; default: no limit.
func ReadMaxDuration(d time.Duration) ReadOption {
	return option.InRange("ReadMaxDuration", d, time.Millisecond, 10000*time.Hour, func(c *readConfig) { c.MaxDuration = d })
}

// ReadIdleTimeout ends the reading when no message came for d. A broker may
// need some seconds before it delivers to a group that was away, so less than
// 15 s may end it before it began. 100 ms to 10000 h; default: no limit.
func ReadIdleTimeout(d time.Duration) ReadOption {
	return option.InRange("ReadIdleTimeout", d, 100*time.Millisecond, 10000*time.Hour, func(c *readConfig) { c.IdleTimeout = d })
}
