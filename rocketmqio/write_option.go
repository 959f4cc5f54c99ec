// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/internal/asyncsink"
	"github.com/rocketmq-beam/rocketmq-beam/internal/names"
	"github.com/rocketmq-beam/rocketmq-beam/internal/option"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// The defaults of Write.
const (
	DefaultProducerGroup  = "PID-beam-producer"
	DefaultSendTimeout    = 5 * time.Second
	DefaultSendRetries    = 3
	DefaultPendingMax     = 1000
	DefaultWriteBatchSize = 64
	DefaultWriteBatchMiB  = 1
	DefaultWriteLinger    = 20 * time.Millisecond
	DefaultWritePatience  = 2 * time.Minute
	DefaultMaxBody        = 4 << 20
	DefaultAIMDStep       = 10
	DefaultAIMDFactor     = 0.8
	DefaultAIMDTolerance  = 0.2
	DefaultWriteIdleClose = 30 * time.Second
)

// Guarantee is what [Write] promises of each message.
type Guarantee string

// The guarantees.
const (
	// None: a message that cannot be written is a result with an error, and the
	// bundle goes on.
	None Guarantee = "NONE"
	// AtLeastOnce: a bundle ends only when the broker has stored each of its
	// messages, else it fails and the runner repeats it. Repetitions may store
	// messages more than once.
	AtLeastOnce Guarantee = "AT_LEAST_ONCE"
	// ExactlyOnce: of each message consumers see one, see [WriteExactlyOnce].
	ExactlyOnce Guarantee = "EXACTLY_ONCE"
)

// UnsafePolicy says what to do with a message that is stored, but not safely.
type UnsafePolicy string

// What to do when the broker answers anything but [StatusSendOK].
const (
	// AcceptUnsafe takes it for written; the result has the status, and the metric
	// stored_unsafely counts it.
	AcceptUnsafe UnsafePolicy = "accept"
	// RetryUnsafe sends it again, as often as [WriteRetries] says: it is then
	// stored more than once.
	RetryUnsafe UnsafePolicy = "retry"
	// FailUnsafe takes it for failed.
	FailUnsafe UnsafePolicy = "fail"
)

// writeConfig is what Write was told. It is part of the pipeline graph.
type writeConfig struct {
	SinkID      string        `json:"sink_id"`
	NameServers string        `json:"name_servers"`
	Namespace   string        `json:"namespace,omitempty"`
	Group       string        `json:"group"`
	Topic       string        `json:"topic,omitempty"` // of messages without one
	Tag         string        `json:"tag,omitempty"`   // likewise
	Credentials auth.Source   `json:"credentials"`
	TLS         auth.TLS      `json:"tls"`
	SendTimeout time.Duration `json:"send_timeout"`

	Guarantee     Guarantee                    `json:"guarantee"`
	Retries       int                          `json:"retries"`
	FailOnTimeout bool                         `json:"fail_on_timeout,omitempty"`
	Patience      time.Duration                `json:"patience"`
	Unsafe        map[WriteStatus]UnsafePolicy `json:"unsafe"`

	PendingMax int           `json:"pending_max"`
	BatchSize  int           `json:"batch_size"`
	BatchBytes int           `json:"batch_bytes"`
	Linger     time.Duration `json:"linger"`
	MaxBody    int           `json:"max_body"`
	AIMD       aimd          `json:"aimd"`
	IdleClose  time.Duration `json:"idle_close"`

	Transaction transaction `json:"transaction,omitzero"`

	groupGiven bool // Group is no default; of use while the pipeline is built
}

// aimd are the settings of the congestion control.
type aimd struct {
	Step      int     `json:"step"`
	Factor    float64 `json:"factor"`
	Tolerance float64 `json:"tolerance"`
}

// WriteOption changes one setting of [Write].
type WriteOption func(*writeConfig) error

func newWriteConfig(nameServers string, opts []WriteOption) (writeConfig, error) {
	c := writeConfig{
		NameServers: nameServers, Group: DefaultProducerGroup, SendTimeout: DefaultSendTimeout, Guarantee: AtLeastOnce,
		Retries: DefaultSendRetries, Patience: DefaultWritePatience,
		Unsafe:     map[WriteStatus]UnsafePolicy{StatusFlushDiskTimeout: AcceptUnsafe, StatusFlushSlaveTimeout: AcceptUnsafe, StatusSlaveNotAvailable: AcceptUnsafe},
		PendingMax: DefaultPendingMax, BatchSize: DefaultWriteBatchSize, BatchBytes: DefaultWriteBatchMiB << 20, Linger: DefaultWriteLinger,
		MaxBody: DefaultMaxBody, AIMD: aimd{DefaultAIMDStep, DefaultAIMDFactor, DefaultAIMDTolerance}, IdleClose: DefaultWriteIdleClose,
		Transaction: newTransaction(),
	}
	return c, errors.Join(option.Apply(&c, opts), c.check())
}

func (c *writeConfig) credentials() *auth.Source { return &c.Credentials }

// check judges what belongs together, once all options were applied.
func (c *writeConfig) check() error {
	_, err := remoting.ParseNameServers(c.NameServers)
	faults := []error{err, names.CheckGroup(c.Group), c.Credentials.Check(), c.TLS.Check(), checkTag(c.Tag)}
	if c.Topic != "" {
		faults = append(faults, names.CheckTopic(c.Topic))
	}
	if c.BatchBytes > c.MaxBody {
		c.BatchBytes = c.MaxBody // the broker compares a batch with the same limit
	}
	if _, err := c.strategy(); err != nil {
		faults = append(faults, err)
	}
	faults = append(faults, c.checkTransaction())
	if c.Namespace == "" {
		c.Namespace = remoting.InstanceOf(c.NameServers)
	}
	return errors.Join(faults...)
}

func (c *writeConfig) strategy() (asyncsink.Strategy, error) {
	return asyncsink.NewAIMD(asyncsink.AIMDConfig{
		Max: c.PendingMax, Min: min(c.BatchSize, c.PendingMax), Step: c.AIMD.Step, Factor: c.AIMD.Factor, Tolerance: c.AIMD.Tolerance,
	})
}

// WriteTopic sets the topic of messages that name none. Default: each must.
func WriteTopic(topic string) WriteOption {
	return func(c *writeConfig) error {
		if topic == "" {
			return errors.New("option WriteTopic: topic is empty: leave the option out if each message names its own")
		}
		c.Topic = topic
		return nil
	}
}

// WriteTag sets the tag of messages that have none. Default: none.
func WriteTag(tag string) WriteOption { return func(c *writeConfig) error { c.Tag = tag; return nil } }

// WriteGroup sets the producer group, which brokers note beside messages and check
// permissions for. Default [DefaultProducerGroup]; with [ExactlyOnce] one that is made
// of name servers, topic and the transform's place in the pipeline, so that no other
// transform is asked about its half messages.
func WriteGroup(group string) WriteOption {
	return func(c *writeConfig) error { c.Group, c.groupGiven = group, true; return nil }
}

// defaultGroup sets the group for those who give none. As any default it is not that
// of a transform that writes exactly once.
func defaultGroup(group string) WriteOption {
	return func(c *writeConfig) error { c.Group, c.groupGiven = group, false; return nil }
}

// WriteGuarantee sets what is promised of each message. Default [AtLeastOnce]. See
// [WriteExactlyOnce] for what [ExactlyOnce] needs.
func WriteGuarantee(g Guarantee) WriteOption {
	return option.OneOf("WriteGuarantee", g, []Guarantee{None, AtLeastOnce, ExactlyOnce}, func(c *writeConfig) { c.Guarantee = g })
}

// WriteNamespace sets the instance namespace, which vendors need: topics and the
// group are then those of the instance. Default: what the name servers' host says
// (MQ_INST_…), else none.
func WriteNamespace(namespace string) WriteOption {
	return option.Namespace("WriteNamespace", namespace, func(c *writeConfig) { c.Namespace = namespace })
}

// WriteCredentials names the resolver that gives each worker its keys, see package
// auth. Default: requests are not signed.
func WriteCredentials(resolver string) WriteOption {
	return option.Resolver("WriteCredentials", resolver, (*writeConfig).credentials)
}

// WriteStaticCredentials gives the keys themselves. They stand in the pipeline
// graph in plain text, which runners store and show: prefer [WriteCredentials].
func WriteStaticCredentials(accessKey, secretKey string) WriteOption {
	return option.StaticKeys("WriteStaticCredentials", accessKey, secretKey, (*writeConfig).credentials)
}

// WriteTLS secures the connections to name servers and brokers. Default: plain
// text.
func WriteTLS(t auth.TLS) WriteOption { return func(c *writeConfig) error { c.TLS = t; return nil } }

// WriteSendTimeout bounds each request. 100 ms to 5 min, default 5 s.
func WriteSendTimeout(d time.Duration) WriteOption {
	return option.InRange("WriteSendTimeout", d, 100*time.Millisecond, 5*time.Minute, func(c *writeConfig) { c.SendTimeout = d })
}

// WriteRetries sets how often a message is sent again after requests that failed
// or had no answer, before it has failed. Answers that nothing was stored because
// the broker is busy or down do not count, see [WritePatience]. A repetition after
// a request without answer may store the message twice. 0 to 1000, default 3.
func WriteRetries(n int) WriteOption {
	return option.InRange("WriteRetries", n, 0, 1000, func(c *writeConfig) { c.Retries = n })
}

// WriteFailOnTimeout makes a message fail whose request had no answer in time,
// instead of sending it again.
func WriteFailOnTimeout() WriteOption {
	return func(c *writeConfig) error { c.FailOnTimeout = true; return nil }
}

// WritePatience sets how long a message waits altogether for a broker that cannot
// be reached, shuts down, starts, or answers that it is busy. Nothing is stored by
// such attempts. 1 s to 24 h, default 2 min.
func WritePatience(d time.Duration) WriteOption {
	return option.InRange("WritePatience", d, time.Second, 24*time.Hour, func(c *writeConfig) { c.Patience = d })
}

// WriteUnsafe sets what to do with messages that the broker has stored with one of
// these statuses; without any, with each of the three that are not
// [StatusSendOK]. Default: [AcceptUnsafe] for all.
func WriteUnsafe(policy UnsafePolicy, statuses ...WriteStatus) WriteOption {
	return func(c *writeConfig) error {
		if !slices.Contains([]UnsafePolicy{AcceptUnsafe, RetryUnsafe, FailUnsafe}, policy) {
			return fmt.Errorf("option WriteUnsafe: policy %q for messages that are not safe: want accept, retry or fail", policy)
		}
		if len(statuses) == 0 {
			statuses = []WriteStatus{StatusFlushDiskTimeout, StatusFlushSlaveTimeout, StatusSlaveNotAvailable}
		}
		for _, s := range statuses {
			if _, ok := c.Unsafe[s]; !ok {
				return fmt.Errorf("option WriteUnsafe: status %q: want FLUSH_DISK_TIMEOUT, FLUSH_SLAVE_TIMEOUT or SLAVE_NOT_AVAILABLE", s)
			}
			c.Unsafe[s] = policy
		}
		return nil
	}
}

// WritePendingMax sets how many messages a worker process has in flight at most,
// and how many more wait: then ProcessElement does. Congestion control allows
// fewer while brokers ask for it; 8 MiB and 256 requests in flight, and 64 MiB in all,
// hold it back as well. 1 to 100000, default 1000.
func WritePendingMax(n int) WriteOption {
	return option.InRange("WritePendingMax", n, 1, 100_000, func(c *writeConfig) { c.PendingMax = n })
}

// WriteBatch sets how many messages to one topic may share a request, and how many
// bytes these may have; a batch is stored as a whole or not at all. Messages with
// a delay go alone. 1 to 1024 messages, 1 KiB to the size that [WriteMaxBody] allows;
// defaults 64 and 1 MiB. 1 switches batches off.
func WriteBatch(messages, bytes int) WriteOption {
	return func(c *writeConfig) error {
		if messages < 1 || messages > 1024 || bytes < 1<<10 {
			return fmt.Errorf("option WriteBatch: batch of %d messages and %d bytes: want 1 to 1024 messages and 1024 bytes or more", messages, bytes)
		}
		c.BatchSize, c.BatchBytes = messages, bytes
		return nil
	}
}

// WriteLinger sets how long a message waits for others to share its request with.
// The end of a bundle ends the wait. 0 to 1 min, default 20 ms.
func WriteLinger(d time.Duration) WriteOption {
	return option.InRange("WriteLinger", d, 0, time.Minute, func(c *writeConfig) { c.Linger = d })
}

// WriteMaxBody sets the largest body, in bytes, and with it the largest batch. It
// should be the broker's maxMessageSize. 1 KiB to 128 MiB, default 4 MiB, which is
// the broker's.
func WriteMaxBody(bytes int) WriteOption {
	return option.InRange("WriteMaxBody", bytes, 1<<10, 128<<20, func(c *writeConfig) { c.MaxBody = bytes })
}

// WriteCongestion sets how a worker process finds out how much the brokers bear:
// as long as they ask for less, or do not answer in time, for no larger share of
// the requests than tolerance, so many messages more may be in flight (step, 1 or
// more); else what may be in flight is multiplied by factor (between 0 and 1).
// Defaults 10, 0.8 and 0.2.
func WriteCongestion(step int, factor, tolerance float64) WriteOption {
	return func(c *writeConfig) error {
		if step < 1 || !(factor > 0 && factor < 1) || !(tolerance >= 0 && tolerance < 1) {
			return fmt.Errorf("option WriteCongestion: step %d, factor %v and tolerance %v: want 1 or more, a factor between 0 and 1, and a tolerance from 0 to less than 1",
				step, factor, tolerance)
		}
		c.AIMD = aimd{step, factor, tolerance}
		return nil
	}
}

// WriteIdleClose sets after how long without a bundle of this transform a worker
// process closes its connections. 1 s to 1 h, default 30 s.
func WriteIdleClose(d time.Duration) WriteOption {
	return option.InRange("WriteIdleClose", d, time.Second, time.Hour, func(c *writeConfig) { c.IdleClose = d })
}
