// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package connector

import "time"

// remotingKeys are the keys for normal topics. strategy is the word that the
// connector's document has for the way in which queues are shared out.
func remotingKeys(strategy string) []Key {
	keys := remotingClient()
	keys = append(keys, formatKeys(false)...)
	keys = append(keys, remotingStart()...)
	keys = append(keys, remotingSource(strategy)...)
	keys = append(keys, remotingCommit()...)
	return append(keys, remotingSink()...)
}

func remotingClient() []Key {
	return []Key{
		parsed("rocketmq.client.endpoints", "list of host:port", "", "Name servers, or the remoting port of proxies, with `;` between them; `http://` before one is dropped.",
			parseEndpoints(true)).required(Read | Write),
		text("rocketmq.client.namespace", "", "Namespace of the instance, for vendors that have one.", func(c *Config) *string { return &c.Client.Namespace }),
		text("rocketmq.client.accessKey", "", "Access key. It goes into the pipeline's graph: prefer a resolver.", func(c *Config) *string { return &c.Client.Credentials.StaticAccessKey }).secret(),
		text("rocketmq.client.secretKey", "", "Secret key, likewise.", func(c *Config) *string { return &c.Client.Credentials.StaticSecretKey }).secret(),
		resolverKey("rocketmq.client.credentials-resolver").own(),
		onOff("rocketmq.client.tls.enable", "false", "Connect with TLS; certificates are verified.", func(c *Config) *bool { return &c.Client.TLS.Enabled }),
		text("rocketmq.client.tls.ca-file", "", "PEM file, on the workers, of the authorities to trust instead of the system's.", func(c *Config) *string { return &c.Client.TLS.CAFile }).own(),
		millis("rocketmq.client.network.timeout.ms", "30000", span{100 * time.Millisecond, time.Minute, false}, "Bound of each request but the wait of a pull.",
			func(c *Config) *time.Duration { return &c.Client.RequestTimeout }),
		millis("rocketmq.client.partition.discovery.interval.ms", "10000", span{time.Second, 24 * time.Hour, true}, "How often new queues are looked for; 0 is never.",
			func(c *Config) *time.Duration { return &c.Client.DiscoveryInterval }),
		idle("rocketmq.client.channel", "CLOUD", []string{"LOCAL", "CLOUD", "ALIYUN"}, "Access channel of the Java client.",
			"the Java client chooses the topic of its message trace by it, and there is no trace here"),
		fixed("rocketmq.client.callback.threads", "number", "", "Threads of the Java client for callbacks.", "there are no callback threads here"),
		fixed("rocketmq.client.unitMode", "boolean", "false", "Unit mode of the Java client.", "unit mode is not supported"),
		fixed("rocketmq.client.unitName", "text", "", "Unit of the Java client.", "unit mode is not supported"),
		fixed("rocketmq.client.debug", "boolean", "false", "Verbose logs of the Java client.", "the level of logs is the worker's"),
	}
}

func remotingStart() []Key {
	return []Key{
		parsed("rocketmq.source.startup.scan.mode", "start mode", "latest", "Where reading begins: `earliest`, `latest`, `group` or `group_offsets` (where the group has committed, and the latest where it has not), "+
			"`timestamp`, `specific` or `specific_offset`. The latter two are set by the keys that follow.", parseStartMode),
		parsed("rocketmq.source.startup.offset.specific", "number", unset, "Begin at this offset in every queue. Excludes the start mode and the two keys that follow; `-1` is none.", parseOffset),
		parsed("rocketmq.source.startup.offset.timestamp", "milliseconds since 1970", unset, "Begin at the first message stored then or later. Excludes likewise; `-1` is none.",
			parseInstant(func(c *Config) *time.Time { return &c.Source.Start.At })),
		parsed("rocketmq.source.startup.offset.date", "yyyy-MM-dd HH:mm:ss", "", "The same as a date in `rocketmq.client.timeZone`, which must be given. Excludes likewise.", parseDate),
		choice("rocketmq.source.out-of-range", FailOutOfRange, []OutOfRange{FailOutOfRange, ToEarliest, ToLatest},
			"When a queue does not hold the position to read from: `fail`, or go on at the `earliest` or `latest` message, which is counted and logged.",
			func(c *Config) *OutOfRange { return &c.Source.OutOfRange }).own(),
		parsed("rocketmq.source.stop.offset.timestamp", "milliseconds since 1970", "", "End before the first message stored then or later: the table is then bounded.",
			parseInstant(func(c *Config) *time.Time { return &c.Source.Stop })),
	}
}

func remotingSource(strategy string) []Key {
	most := int64(1_000_000)
	return []Key{
		parsed("rocketmq.source.topic", "list", "", "Topics to read, with `;` between them.", func(c *Config, s string) (err error) {
			c.Source.Topics, err = parseList(s, ";")
			return err
		}).required(Read),
		text("rocketmq.source.group", "", "Consumer group.", func(c *Config) *string { return &c.Source.Group }).required(Read),
		parsed("rocketmq.source.filter.tag", "tags", "*", "Tags to read, with `||` between them; `*` is all. Checked by the broker, and once more here.", parseTags),
		text("rocketmq.source.filter.sql", "", "SQL92 expression over properties, which the broker checks. Excludes tags.", func(c *Config) *string { return &c.Source.SQL }),
		count("rocketmq.source.pull.batch.size", "32", 1, 1024, "Messages that a pull may bring.", func(c *Config) *int { return &c.Source.PullBatchSize }),
		count("rocketmq.source.pull.threshold.queue", "1000", 1, most, "Messages of a queue that a worker keeps ready.", func(c *Config) *int { return &c.Source.QueueThreshold }),
		count("rocketmq.source.pull.threshold.all", "10000", 1, most, "Messages of all queues that a worker keeps ready; not less than those of a queue.", func(c *Config) *int { return &c.Source.TotalThreshold }),
		millis("rocketmq.source.pull.rpc.timeout", "20000", span{time.Second, time.Minute, false}, "How long a broker may hold a pull when there is nothing new.",
			func(c *Config) *time.Duration { return &c.Source.PullTimeout }),
		millis("rocketmq.source.pull.rpc.exception.delay", "3000", span{100 * time.Millisecond, time.Minute, false}, "Longest pause after a failed pull.",
			func(c *Config) *time.Duration { return &c.Source.RetryDelay }),
		fixed("rocketmq.source.allocate.strategy", "text", strategy, "How queues are shared out among subtasks.", "the runner shares queues out among workers"),
		fixed("rocketmq.source.pull.threads.num", "number", "20", "Threads that pull.", "each queue is pulled by a routine of its own here"),
		fixed("rocketmq.source.api.new.enable", "boolean", "true", "Which interface of Flink is used.", "there is only one source here"),
		fixed("rocketmq.source.trace.enable", "boolean", "false", "Message trace. The connector for Flink traces unless it is told not to.", "reading is not traced here"),
		fixed("rocketmq.source.trace.topic", "text", "", "Topic of message trace.", "reading is not traced here"),
	}
}

// commitAuto and commitCheckpoint are read together, see settleCommit.
const (
	commitAuto       = "rocketmq.source.offset.commit.auto"
	commitCheckpoint = "rocketmq.source.offset.commit.checkpoint"
	commitInterval   = "rocketmq.source.offset.commit.interval"
)

func remotingCommit() []Key {
	only := func(_ *Config, s string) error { _, err := parseBoolean(s); return err }
	return []Key{
		parsed(commitAuto, "boolean", "true", "Commit positions to the broker. A position is committed when the runner has made its bundle durable, so that this and the next but one key ask for the same: "+
			"nothing is committed if both are `false`.", only),
		millis(commitInterval, "5000", span{100 * time.Millisecond, time.Hour, false}, "How often positions are committed. Only together with committing.",
			func(c *Config) *time.Duration { return &c.Source.CommitInterval }),
		parsed(commitCheckpoint, "boolean", "true", "Commit positions to the broker when the runner has made them durable.", only),
	}
}

// DefaultProducerGroup is that of the connectors for Flink. Brokers ask any producer
// of a group about its transactions, so that those need another one.
const DefaultProducerGroup = "PID-flink-producer"

func remotingSink() []Key {
	return []Key{
		text("rocketmq.sink.topic", "", "Topic to write.", func(c *Config) *string { return &c.Sink.Topic }).required(Write),
		text("rocketmq.sink.group", DefaultProducerGroup, "Producer group. With `EXACTLY_ONCE` the default stands for one that the table has for itself.", func(c *Config) *string { return &c.Sink.Group }),
		text("rocketmq.sink.tag", "", "Tag of all messages.", func(c *Config) *string { return &c.Sink.Tag }),
		choice("rocketmq.sink.delivery.guarantee", AtLeastOnce, []Guarantee{NoGuarantee, AtLeastOnce, ExactlyOnce}, "What is promised of each message.",
			func(c *Config) *Guarantee { return &c.Sink.Guarantee }),
		inUnits(transactionTimeout, "seconds", time.Second, "900", span{time.Second, 12 * time.Hour, false}, "How long a prepared message may wait for its commit. Only with `EXACTLY_ONCE`.",
			func(c *Config) *time.Duration { return &c.Sink.TransactionTimeout }),
		millis("rocketmq.sink.send.timeout", "5000", span{100 * time.Millisecond, 5 * time.Minute, false}, "Bound of each request.", func(c *Config) *time.Duration { return &c.Sink.SendTimeout }),
		count("rocketmq.sink.send.retry.times", "3", 0, 1000, "How often a message is sent again after a failure.", func(c *Config) *int { return &c.Sink.Retries }),
		count("rocketmq.sink.send.pending.max", "1000", 1, 100_000, "Messages that a worker has in flight at most.", func(c *Config) *int { return &c.Sink.PendingMax }),
		fixed("rocketmq.sink.executor.num", "number", "4", "Threads of the producer.", "there are no threads to set here"),
		parsed("rocketmq.sink.key.columns", "list", "", "Columns whose values become the keys of a message, with `;` or `,` between them.", func(c *Config, s string) (err error) {
			c.Sink.KeyColumns, err = parseList(s, ";,")
			return err
		}),
		parsed(dynamicTag, "boolean", "false", "Take each message's tag from a column.", func(_ *Config, s string) error { _, err := parseBoolean(s); return err }),
		text(dynamicTagColumn, "", "The column. Only together with the key above, and not beside a tag of all messages.", func(c *Config) *string { return &c.Sink.TagColumn }),
	}
}

const (
	transactionTimeout = "rocketmq.sink.transaction.timeout"

	dynamicTag       = "rocketmq.sink.tag.dynamic.enable"
	dynamicTagColumn = "rocketmq.sink.tag.dynamic.column"
)
