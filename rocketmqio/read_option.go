// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/internal/names"
	"github.com/rocketmq-beam/rocketmq-beam/internal/option"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// The defaults of Read.
const (
	DefaultRequestTimeout    = 3 * time.Second
	DefaultDiscoveryInterval = 10 * time.Second
	DefaultPullBatchSize     = 32
	DefaultPullTimeout       = 20 * time.Second
	DefaultRetryDelay        = 3 * time.Second
	DefaultQueueThreshold    = 1000
	DefaultTotalThreshold    = 10000
	DefaultCommitInterval    = 5 * time.Second
	DefaultIdleDelay         = 5 * time.Second
	DefaultStallTimeout      = 10 * time.Minute
	DefaultIdleClose         = 10 * time.Second
)

// TimeSource says which instant is a message's event time.
type TimeSource string

// The sources of event times.
const (
	// StoreTime is when the broker stored it; it never falls within a queue.
	StoreTime TimeSource = "store"
	// BornTime is when the producer made it.
	BornTime TimeSource = "born"
	// ArrivalTime is when the source emits it; nothing is ever late.
	ArrivalTime TimeSource = "arrival"
)

// OutOfRange says what to do when the position in a queue is not there any
// more, because the broker has deleted old messages, or not yet.
type OutOfRange string

// What to do when a position is out of range.
const (
	// FailOutOfRange fails the bundle, with both offsets in the error.
	FailOutOfRange OutOfRange = "fail"
	// SkipToEarliest goes on at the first message, counts what is lost in the
	// metric out_of_range_lost and logs both offsets.
	SkipToEarliest OutOfRange = "earliest"
	// SkipToLatest goes on behind the last message, likewise.
	SkipToLatest OutOfRange = "latest"
)

// readConfig is what Read was told. It is part of the pipeline graph.
type readConfig struct {
	SourceID       string        `json:"source_id"`
	NameServers    string        `json:"name_servers"`
	Namespace      string        `json:"namespace,omitempty"`
	Group          string        `json:"group"`
	Topics         []string      `json:"topics"`
	Credentials    auth.Source   `json:"credentials"`
	TLS            auth.TLS      `json:"tls"`
	RequestTimeout time.Duration `json:"request_timeout"`

	Start             Start         `json:"start"`
	End               End           `json:"end"`
	DiscoveryInterval time.Duration `json:"discovery_interval"`
	Tags              []string      `json:"tags,omitempty"`
	SQL               string        `json:"sql,omitempty"`
	PullBatchSize     int           `json:"pull_batch_size"`
	PullTimeout       time.Duration `json:"pull_timeout"`
	RetryDelay        time.Duration `json:"retry_delay"`
	QueueThreshold    int           `json:"queue_threshold"`
	TotalThreshold    int           `json:"total_threshold"`
	OutOfRange        OutOfRange    `json:"out_of_range"`
	RateLimit         float64       `json:"rate_limit,omitempty"`

	TimeSource  TimeSource    `json:"time_source"`
	MaxDisorder time.Duration `json:"max_disorder,omitempty"`
	IdleDelay   time.Duration `json:"idle_delay"` // negative: an idle queue holds the watermark

	CommitInterval time.Duration `json:"commit_interval"` // 0: no committing
	StallTimeout   time.Duration `json:"stall_timeout"`
	IdleClose      time.Duration `json:"idle_close"`
}

// ReadOption changes one setting of [Read] or [ReadBounded].
type ReadOption func(*readConfig) error

func newReadConfig(nameServers, group string, topics []string, opts []ReadOption) (readConfig, error) {
	c := readConfig{
		NameServers: nameServers, Group: group, Topics: slices.Clone(topics), RequestTimeout: DefaultRequestTimeout,
		Start: Latest(), DiscoveryInterval: DefaultDiscoveryInterval, PullBatchSize: DefaultPullBatchSize,
		PullTimeout: DefaultPullTimeout, RetryDelay: DefaultRetryDelay, QueueThreshold: DefaultQueueThreshold,
		TotalThreshold: DefaultTotalThreshold, OutOfRange: FailOutOfRange, TimeSource: StoreTime, IdleDelay: DefaultIdleDelay,
		CommitInterval: DefaultCommitInterval, StallTimeout: DefaultStallTimeout, IdleClose: DefaultIdleClose,
	}
	return c, errors.Join(option.Apply(&c, opts), c.check())
}

func (c *readConfig) credentials() *auth.Source { return &c.Credentials }

// check judges what belongs together, once all options were applied.
func (c *readConfig) check() error {
	_, err := remoting.ParseNameServers(c.NameServers)
	faults := []error{err, names.CheckGroup(c.Group), c.Credentials.Check(), c.TLS.Check(), c.Start.check(), c.End.check(), checkRange(c.Start, c.End)}
	if len(c.Topics) == 0 {
		faults = append(faults, errors.New("no topic"))
	}
	for i, topic := range c.Topics {
		faults = append(faults, names.CheckTopic(topic))
		if slices.Contains(c.Topics[:i], topic) {
			faults = append(faults, fmt.Errorf("topic %q is named twice", topic))
		}
	}
	if len(c.Tags) > 0 && c.SQL != "" {
		faults = append(faults, fmt.Errorf("tags %q and SQL filter %q: a source takes one kind of filter", c.Tags, c.SQL))
	}
	if c.Namespace == "" {
		if instance := remoting.InstanceOf(c.NameServers); instance != "" {
			c.Namespace = instance
		}
	}
	return errors.Join(faults...)
}

// expression is the filter as pulls carry it.
func (c *readConfig) expression() remoting.Expression {
	switch {
	case c.SQL != "":
		return remoting.SQLFilter(c.SQL)
	case len(c.Tags) > 0:
		return remoting.TagFilter(strings.Join(c.Tags, "||"))
	}
	return remoting.Expression{}
}

// ReadFrom sets where reading begins. Default: [Latest].
func ReadFrom(s Start) ReadOption { return func(c *readConfig) error { c.Start = s; return nil } }

// ReadTo sets where reading ends. Default: never; [ReadBounded] needs it.
func ReadTo(e End) ReadOption { return func(c *readConfig) error { c.End = e; return nil } }

// ReadNamespace sets the instance namespace, which vendors need: topics and
// groups are then those of the instance. Default: what the name servers' host
// says (MQ_INST_…), else none.
func ReadNamespace(namespace string) ReadOption {
	return option.Namespace("ReadNamespace", namespace, func(c *readConfig) { c.Namespace = namespace })
}

// ReadCredentials names the resolver that gives each worker its keys, see
// package auth. Default: requests are not signed.
func ReadCredentials(resolver string) ReadOption {
	return option.Resolver("ReadCredentials", resolver, (*readConfig).credentials)
}

// ReadStaticCredentials gives the keys themselves. They stand in the pipeline
// graph in plain text, which runners store and show: prefer [ReadCredentials].
func ReadStaticCredentials(accessKey, secretKey string) ReadOption {
	return option.StaticKeys("ReadStaticCredentials", accessKey, secretKey, (*readConfig).credentials)
}

// ReadTLS secures the connections to name servers and brokers. Default: plain
// text.
func ReadTLS(t auth.TLS) ReadOption { return func(c *readConfig) error { c.TLS = t; return nil } }

// ReadRequestTimeout bounds each request but the wait of a pull. 100 ms to 1 min,
// default 3 s.
func ReadRequestTimeout(d time.Duration) ReadOption {
	return option.InRange("ReadRequestTimeout", d, 100*time.Millisecond, time.Minute, func(c *readConfig) { c.RequestTimeout = d })
}

// ReadDiscoveryInterval sets how often new queues of the topics are looked for;
// 0 turns that off. 0 or 1 s to 24 h, default 10 s.
func ReadDiscoveryInterval(d time.Duration) ReadOption {
	return option.ZeroOrInRange("ReadDiscoveryInterval", d, time.Second, 24*time.Hour, func(c *readConfig) { c.DiscoveryInterval = d })
}

// ReadTags selects messages with one of these tags. The broker compares hash
// codes of tags, and the source then the tags themselves. There are no patterns.
// All pipelines of one consumer group should filter alike. Default: all.
func ReadTags(tags ...string) ReadOption {
	return func(c *readConfig) error {
		for _, tag := range tags {
			if strings.TrimSpace(tag) == "" || strings.ContainsAny(tag, "|*") {
				return fmt.Errorf("option ReadTags: tag %q: want a whole tag; patterns and || are not known here, give several tags", tag)
			}
		}
		if len(tags) == 0 {
			return errors.New("option ReadTags: no tag: leave the option out to read all")
		}
		c.Tags = slices.Clone(tags)
		return nil
	}
}

// ReadSQL selects messages by a SQL92 expression over their properties, as in
// "price > 5 AND kind = 'x'". The broker needs enablePropertyFilter=true.
// Default: all.
func ReadSQL(expression string) ReadOption {
	return func(c *readConfig) error {
		if strings.TrimSpace(expression) == "" {
			return errors.New("option ReadSQL: SQL filter is empty: leave the option out to read all")
		}
		c.SQL = expression
		return nil
	}
}

// ReadPullBatchSize sets how many messages one pull may bring; brokers have a
// limit of their own, 32 by default. 1 to 1024, default 32.
func ReadPullBatchSize(n int) ReadOption {
	return option.InRange("ReadPullBatchSize", n, 1, 1024, func(c *readConfig) { c.PullBatchSize = n })
}

// ReadPullTimeout sets how long a broker may hold a pull when there is nothing
// new. 1 s to 60 s, default 20 s. It does not delay messages.
func ReadPullTimeout(d time.Duration) ReadOption {
	return option.InRange("ReadPullTimeout", d, time.Second, time.Minute, func(c *readConfig) { c.PullTimeout = d })
}

// ReadRetryDelay sets the longest pause after a failed pull; the first is 100 ms
// and they double. 100 ms to 1 min, default 3 s.
func ReadRetryDelay(d time.Duration) ReadOption {
	return option.InRange("ReadRetryDelay", d, 100*time.Millisecond, time.Minute, func(c *readConfig) { c.RetryDelay = d })
}

// ReadThresholds sets how many messages a worker keeps ready, for each queue and
// in total: pulling stops there until the pipeline has taken some. 1 to a
// million each, the total not below the queue's; defaults 1000 and 10000. 64 MiB
// of bodies a queue and 256 MiB in total stop it as well.
func ReadThresholds(perQueue, total int) ReadOption {
	return func(c *readConfig) error {
		const most = 1_000_000
		if perQueue < 1 || perQueue > most || total < perQueue || total > most {
			return fmt.Errorf("option ReadThresholds: thresholds %d a queue and %d in total: want 1 to %d, and the total not below the queue's", perQueue, total, most)
		}
		c.QueueThreshold, c.TotalThreshold = perQueue, total
		return nil
	}
}

// ReadOutOfRange sets what to do when a position is not in its queue any more.
// Default: [FailOutOfRange].
func ReadOutOfRange(policy OutOfRange) ReadOption {
	return option.OneOf("ReadOutOfRange", policy, []OutOfRange{FailOutOfRange, SkipToEarliest, SkipToLatest}, func(c *readConfig) { c.OutOfRange = policy })
}

// ReadRateLimit bounds the messages a second of each queue. More than 0;
// default: no limit.
func ReadRateLimit(perSecond float64) ReadOption {
	return func(c *readConfig) error {
		if !(perSecond > 0) || math.IsInf(perSecond, 0) {
			return fmt.Errorf("option ReadRateLimit: %v: want more than 0, and a number", perSecond)
		}
		c.RateLimit = perSecond
		return nil
	}
}

// ReadEventTime sets what a message's event time is, and by how much event times
// may fall within a queue before a message counts as late (only [BornTime] ones
// do). 0 to 24 h; default [StoreTime] and 0.
func ReadEventTime(source TimeSource, maxDisorder time.Duration) ReadOption {
	return func(c *readConfig) error {
		if !slices.Contains([]TimeSource{StoreTime, BornTime, ArrivalTime}, source) {
			return fmt.Errorf("option ReadEventTime: event time %q: want store, born or arrival", source)
		}
		if maxDisorder < 0 || maxDisorder > 24*time.Hour {
			return fmt.Errorf("option ReadEventTime: disorder %v: want 0 to 24h", maxDisorder)
		}
		c.TimeSource, c.MaxDisorder = source, maxDisorder
		return nil
	}
}

// ReadIdleDelay sets how far behind the clock the watermark follows in a queue
// that has been read to its end. It must cover the difference between this
// clock and the broker's. 0 to 24 h, default 5 s.
func ReadIdleDelay(d time.Duration) ReadOption {
	return option.InRange("ReadIdleDelay", d, 0, 24*time.Hour, func(c *readConfig) { c.IdleDelay = d })
}

// ReadIdleHolds makes a queue without new messages hold the watermark at its
// last message, for results that must not go ahead of any queue.
func ReadIdleHolds() ReadOption { return func(c *readConfig) error { c.IdleDelay = -1; return nil } }

// ReadCommitInterval sets how often the position in each queue is committed to
// the broker for the consumer group, see the package's comment; 0 turns that
// off. 0 or 100 ms to 1 h, default 5 s.
func ReadCommitInterval(d time.Duration) ReadOption {
	return option.ZeroOrInRange("ReadCommitInterval", d, 100*time.Millisecond, time.Hour, func(c *readConfig) { c.CommitInterval = d })
}

// ReadStallTimeout sets after how long without any answer about a queue the
// bundle fails with the last error. 10 s to 24 h, default 10 min.
func ReadStallTimeout(d time.Duration) ReadOption {
	return option.InRange("ReadStallTimeout", d, 10*time.Second, 24*time.Hour, func(c *readConfig) { c.StallTimeout = d })
}

// ReadIdleClose sets after how long without a bundle of this transform a worker
// process stops pulling and closes its connections. 1 s to 1 h, default 10 s.
func ReadIdleClose(d time.Duration) ReadOption {
	return option.InRange("ReadIdleClose", d, time.Second, time.Hour, func(c *readConfig) { c.IdleClose = d })
}
