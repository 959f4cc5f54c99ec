// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"fmt"
	"strings"
	"time"
)

// grpcKeys are the keys for lite topics.
func grpcKeys() []Key {
	keys := grpcClient()
	keys = append(keys, formatKeys(true)...)
	return append(append(keys, grpcSource()...), grpcSink()...)
}

func grpcClient() []Key {
	return []Key{
		parsed("rocketmq.client.endpoints", "list of host:port", "", "Proxies, with `;` between them.", parseEndpoints(false)).required(Read | Write),
		text("rocketmq.client.namespace", "", "Namespace of the instance, for vendors that have one.", func(c *Config) *string { return &c.Client.Namespace }),
		text("rocketmq.client.access-key", "", "Access key. It goes into the pipeline's graph: prefer a resolver.", func(c *Config) *string { return &c.Client.Credentials.StaticAccessKey }).secret(),
		text("rocketmq.client.secret-key", "", "Secret key, likewise.", func(c *Config) *string { return &c.Client.Credentials.StaticSecretKey }).secret(),
		resolverKey("rocketmq.client.credentials-resolver").own(),
		resolverClass(),
		onOff("rocketmq.client.tls-enabled", "false", "Connect with TLS; certificates are verified.", func(c *Config) *bool { return &c.Client.TLS.Enabled }),
		text("rocketmq.client.tls.ca-file", "", "PEM file, on the workers, of the authorities to trust instead of the system's.", func(c *Config) *string { return &c.Client.TLS.CAFile }).own(),
		duration("rocketmq.client.request-timeout", "3 s", span{100 * time.Millisecond, time.Minute, false}, "Bound of each request, and for a long poll what comes on top of the wait.",
			func(c *Config) *time.Duration { return &c.Client.RequestTimeout }),
	}
}

// resolverClass takes a resolver's name; a class cannot be loaded.
func resolverClass() Key {
	k := resolverKey("rocketmq.client.credentials-resolver-class")
	k.Meaning = "The same key under the name that it has in the connector for Flink. The value is a resolver's name, not a class of Java."
	read := k.read
	k.read = func(c *Config, s string) error {
		if name, _, _ := strings.Cut(s, ":"); strings.Contains(name, ".") {
			return fmt.Errorf("classes of Java cannot be loaded: want env, file:/path, or a resolver that the program registered (auth.Register)")
		}
		return read(c, s)
	}
	return k
}

// renewWhileQueued is the one renewal policy that a name stands for.
const renewWhileQueued = "while-queued"

func grpcSource() []Key {
	return []Key{
		text("rocketmq.source.main-topic", "", "Main topic whose lite topics are read.", func(c *Config) *string { return &c.LiteSource.Topic }).required(Read),
		text("rocketmq.source.consumer-group", "", "Consumer group; it needs the attribute `lite.sub.wildcard=true`.", func(c *Config) *string { return &c.LiteSource.Group }).required(Read),
		count("rocketmq.source.fetch-concurrency", "1", 1, 256, "Long polls that a worker has under way.", func(c *Config) *int { return &c.LiteSource.FetchConcurrency }),
		duration("rocketmq.source.await-duration", "20 s", span{5 * time.Second, time.Minute, false}, "How long a poll waits at the proxy for a message.", func(c *Config) *time.Duration { return &c.LiteSource.AwaitDuration }),
		duration("rocketmq.source.invisible-duration", "60 s", span{10 * time.Second, 12 * time.Hour, false}, "How long the pipeline has for a message until it is delivered again.",
			func(c *Config) *time.Duration { return &c.LiteSource.InvisibleDuration }),
		count("rocketmq.source.max-message-num", "32", 1, 1024, "Messages that a poll may bring.", func(c *Config) *int { return &c.LiteSource.MaxMessageNum }),
		parsed("rocketmq.source.renewal-policy-class", renewWhileQueued, "", "`"+renewWhileQueued+"` renews the leases of messages that wait in the worker. Without it none is renewed. Classes of Java cannot be loaded.",
			func(c *Config, s string) error {
				if !strings.EqualFold(strings.TrimSpace(s), renewWhileQueued) {
					return fmt.Errorf("classes of Java cannot be loaded: want %s, or write a Beam pipeline with a policy of your own", renewWhileQueued)
				}
				c.LiteSource.RenewWhileQueued = true
				return nil
			}),
		duration(renewalAhead, "5 s", span{time.Second, 10 * time.Minute, false}, "How long before its end a lease is renewed; less than the lease. Only together with the key above.",
			func(c *Config) *time.Duration { return &c.LiteSource.RenewalAhead }),
		choice("rocketmq.source.ack", AckNever, []AckMode{AckNever, AckLast}, "When messages are acknowledged. `never`: rows carry no handle, as in the connector for Flink, so that each message comes again when its lease ends. "+
			"`last-step`: when the last step is done with its rows.", func(c *Config) *AckMode { return &c.LiteSource.Ack }).own(),
	}
}

const renewalAhead = "rocketmq.source.renewal-ahead-time"

func grpcSink() []Key {
	return []Key{
		text("rocketmq.sink.topic", "", "Main topic to write.", func(c *Config) *string { return &c.LiteSink.Topic }).required(Write),
		text("rocketmq.sink.lite-topic", "", "Lite topic of all messages. Rows cannot name one, so that it must be given.", func(c *Config) *string { return &c.LiteSink.LiteTopic }).required(Write),
		count("rocketmq.sink.max-attempts", "3", 1, 100, "How often a message is sent before it has failed.", func(c *Config) *int { return &c.LiteSink.MaxAttempts }),
	}
}
