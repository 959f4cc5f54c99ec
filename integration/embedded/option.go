// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"time"
)

// Option configures a broker. A wrong value makes Start panic with a text that
// names the option and the value.
type Option func(*config) error

type topicConfig struct {
	name string
	kind topicKind
}

type config struct {
	topics []topicConfig
	groups []group
	clock  timeSource
	log    *slog.Logger

	listen    string
	proxies   int
	tls       *tls.Config
	accessKey string
	secretKey string
	namespace string

	brokers           []string
	transactions      transactionTimes
	slaves            int
	autoCreateTopic   bool
	routeVia          string
	sql               map[string]func(map[string]string) bool // nil: property filters are off
	queues            int
	maxAttempts       int
	autoCreateGroup   bool
	liteSimple        bool
	maxBodySize       int
	liteTopicQuota    int
	subscriptionQuota int
	clientQuota       int
	minPoll, maxPoll  time.Duration
	minInvisible      time.Duration
	digest            DigestKind
	deadLetterEcho    bool
}

func defaultConfig() *config {
	return &config{
		clock: wallClock{}, log: slog.New(slog.DiscardHandler),
		listen: "127.0.0.1:0", proxies: 1, brokers: []string{"broker-a"}, queues: 8,
		autoCreateTopic: true, transactions: transactionTimes{30 * time.Second, 6 * time.Second, 15},
		maxAttempts: 17, autoCreateGroup: true, maxBodySize: 4 << 20,
		liteTopicQuota: 20000, subscriptionQuota: 100000, clientQuota: 2000,
		minPoll: 5 * time.Second, maxPoll: 20 * time.Second, minInvisible: 10 * time.Second,
		digest: DigestMD5, deadLetterEcho: true,
	}
}

var validName = regexp.MustCompile(`^[%|a-zA-Z0-9_-]+$`)

func checkName(option, what, name string, most int) error {
	if len(name) > most || !validName.MatchString(name) {
		return fmt.Errorf("%s: %s %q is not a name that RocketMQ allows (1 to %d of letters, digits, %%, |, _ and -)", option, what, name, most)
	}
	return nil
}

func topicOption(option string, kind topicKind, names []string) Option {
	return func(c *config) error {
		for _, n := range names {
			if err := checkName(option, "topic", n, 127); err != nil {
				return err
			}
			c.topics = append(c.topics, topicConfig{n, kind})
		}
		return nil
	}
}

// WithLiteTopic creates main topics for lite topics (message.type=LITE).
func WithLiteTopic(names ...string) Option { return topicOption("WithLiteTopic", kindLite, names) }

// WithNormalTopic creates topics of type NORMAL.
func WithNormalTopic(names ...string) Option {
	return topicOption("WithNormalTopic", kindNormal, names)
}

// WithFIFOTopic creates topics of type FIFO, ordered by message group. A group
// sees that order only if it consumes in order (WithFIFOGroup).
func WithFIFOTopic(names ...string) Option { return topicOption("WithFIFOTopic", kindFIFO, names) }

func groupOption(option string, g group) Option {
	return func(c *config) error {
		if err := checkName(option, "group", g.name, 120); err != nil {
			return err
		}
		if g.bindTopic != "" {
			if err := checkName(option, "topic", g.bindTopic, 127); err != nil {
				return err
			}
		}
		c.groups = append(c.groups, g)
		return nil
	}
}

// WithWildcardGroup creates a lite group that is bound to topic and receives all
// lite topics of it (lite.bind.topic and lite.sub.wildcard).
func WithWildcardGroup(name, topic string) Option {
	return groupOption("WithWildcardGroup", group{name: name, bindTopic: topic, wildcard: true})
}

// WithLiteGroup creates a lite group that is bound to topic but lacks the
// wildcard attribute: it receives the lite topics that it names, and with an
// empty subscription nothing at all, without any error.
func WithLiteGroup(name, topic string) Option {
	return groupOption("WithLiteGroup", group{name: name, bindTopic: topic})
}

// WithExclusiveGroup creates a lite group without the wildcard attribute in which
// each lite topic belongs to the client that named it last (lite.sub.model is
// Exclusive); the one before is told on its telemetry stream.
func WithExclusiveGroup(name, topic string) Option {
	return groupOption("WithExclusiveGroup", group{name: name, bindTopic: topic, exclusive: true})
}

// WithNormalGroup creates a regular consumer group.
func WithNormalGroup(name string) Option {
	return groupOption("WithNormalGroup", group{name: name})
}

// WithFIFOGroup creates a regular consumer group that consumes in order.
func WithFIFOGroup(name string) Option {
	return groupOption("WithFIFOGroup", group{name: name, ordered: true})
}

// WithAutoCreateGroup says whether an unknown group comes into being, as a
// regular one, when it is first used. Default true, as in RocketMQ.
func WithAutoCreateGroup(on bool) Option {
	return func(c *config) error { c.autoCreateGroup = on; return nil }
}

// WithClock drives all timers of the broker by a clock that a test moves. nil
// means real time, which is the default.
func WithClock(clock *Clock) Option {
	return func(c *config) error {
		if clock != nil {
			c.clock = clock
		}
		return nil
	}
}

// WithMaxDeliveryAttempts sets after how many deliveries a message goes to the
// dead letters instead of being delivered again. The default is 17, what 5.5.0
// tells its clients: one delivery and retryMaxTimes (16) further ones.
func WithMaxDeliveryAttempts(n int) Option {
	return positive("WithMaxDeliveryAttempts", n, func(c *config) { c.maxAttempts = n })
}

// WithDeadLetterEcho says whether a lite message that goes to the dead letters
// comes back to its lite topic, as a copy that no ack ends. Default true, for that
// is what 5.5.0 does; false is what one would expect.
func WithDeadLetterEcho(on bool) Option {
	return func(c *config) error { c.deadLetterEcho = on; return nil }
}

// WithListenAddress sets where to listen for gRPC; the remoting side always has
// free ports of the loopback interface. Default 127.0.0.1:0, a free port of the
// loopback interface. With several proxies the port must be 0.
func WithListenAddress(addr string) Option {
	return func(c *config) error {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return fmt.Errorf("WithListenAddress: %q is not host:port: %w", addr, err)
		}
		c.listen = addr
		return nil
	}
}

// WithTLS makes the broker speak TLS only.
func WithTLS(cfg *tls.Config) Option {
	return func(c *config) error { c.tls = cfg; return nil }
}

// WithCredentials makes the broker demand that every request of every type be
// signed with this key pair; what is not is answered UNAUTHORIZED, and over the
// remoting protocol, by the name server too, NO_PERMISSION (16).
func WithCredentials(accessKey, secretKey string) Option {
	return func(c *config) error {
		if accessKey == "" || secretKey == "" {
			return fmt.Errorf("WithCredentials: access key and secret key must not be empty")
		}
		c.accessKey, c.secretKey = accessKey, secretKey
		return nil
	}
}

// WithProxies starts n front ends, each with its own port and its own sessions,
// over one broker. Default 1.
func WithProxies(n int) Option {
	return positive("WithProxies", n, func(c *config) { c.proxies = n })
}

// WithLiteSimpleConsumer says whether the proxy knows the client type
// LITE_SIMPLE_CONSUMER. Default false, as in 5.5.0; later proxies do.
func WithLiteSimpleConsumer(known bool) Option {
	return func(c *config) error { c.liteSimple = known; return nil }
}

// WithMaxBodySize sets the largest body in bytes that can be sent; default 4 MiB.
func WithMaxBodySize(n int) Option {
	return positive("WithMaxBodySize", n, func(c *config) { c.maxBodySize = n })
}

// WithLiteTopicQuota sets how many lite topics may exist in the broker; default
// 20000. A message to one more is answered LITE_TOPIC_QUOTA_EXCEEDED.
func WithLiteTopicQuota(n int) Option {
	return positive("WithLiteTopicQuota", n, func(c *config) { c.liteTopicQuota = n })
}

// WithLiteSubscriptionQuota sets how many lite subscriptions the broker holds
// before it refuses to add single ones; default 100000.
func WithLiteSubscriptionQuota(n int) Option {
	return positive("WithLiteSubscriptionQuota", n, func(c *config) { c.subscriptionQuota = n })
}

// WithLiteClientQuota sets how many lite topics one client may name in one
// request (lite.sub.client.quota); default 2000. The proxy allows 300 more.
func WithLiteClientQuota(n int) Option {
	return positive("WithLiteClientQuota", n, func(c *config) { c.clientQuota = n })
}

// WithQueues sets how many readable and writable queues each topic has, at each
// broker; default 8.
func WithQueues(n int) Option {
	return positive("WithQueues", n, func(c *config) { c.queues = n })
}

// WithLongPolling sets the bounds into which the long-polling time of a receive
// is forced; default 5 s to 20 s. A receive whose deadline is nearer than the
// lower bound is refused with ILLEGAL_POLLING_TIME.
func WithLongPolling(least, most time.Duration) Option {
	return func(c *config) error {
		if least <= 0 || most < least {
			return fmt.Errorf("WithLongPolling: bounds %v and %v must be positive and in order", least, most)
		}
		c.minPoll, c.maxPoll = least, most
		return nil
	}
}

// WithNamespace makes all topics and groups live in one resource namespace. A
// request whose resources carry another one does not find them. Without this
// option the namespace of a request is ignored, as 5.5.0 does.
func WithNamespace(ns string) Option {
	return func(c *config) error {
		if ns == "" {
			return fmt.Errorf("WithNamespace: the namespace must not be empty")
		}
		c.namespace = ns
		return nil
	}
}

// WithBodyDigest sets the checksum that delivered messages carry; default MD5,
// the one that RocketMQ uses.
func WithBodyDigest(kind DigestKind) Option {
	return func(c *config) error {
		switch kind {
		case DigestMD5, DigestSHA1, DigestCRC32, DigestNone:
			c.digest = kind
			return nil
		}
		return fmt.Errorf("WithBodyDigest: unknown kind %q", kind)
	}
}

// WithLogger sets where the broker logs; default nowhere.
func WithLogger(l *slog.Logger) Option {
	return func(c *config) error {
		if l == nil {
			return fmt.Errorf("WithLogger: the logger must not be nil")
		}
		c.log = l
		return nil
	}
}

func positive(option string, n int, set func(*config)) Option {
	return func(c *config) error {
		if n <= 0 {
			return fmt.Errorf("%s: %d must be positive", option, n)
		}
		set(c)
		return nil
	}
}

// resolve applies the options and then checks what belongs together.
func resolve(opts []Option) (*config, error) {
	c := defaultConfig()
	for _, o := range opts {
		if err := o(c); err != nil {
			return nil, err
		}
	}
	seen := map[string]topicKind{}
	for _, t := range c.topics {
		if was, ok := seen[t.name]; ok {
			return nil, fmt.Errorf("topic %q is declared twice, as %s and as %s", t.name, was, t.kind)
		}
		seen[t.name] = t.kind
	}
	groups := map[string]bool{}
	for i := range c.groups {
		g := &c.groups[i]
		if groups[g.name] {
			return nil, fmt.Errorf("group %q is declared twice", g.name)
		}
		groups[g.name] = true
		g.maxAttempts, g.clientQuota = c.maxAttempts, c.clientQuota
	}
	if _, port, _ := net.SplitHostPort(c.listen); c.proxies > 1 && port != "0" {
		return nil, fmt.Errorf("WithListenAddress(%q) and WithProxies(%d): several proxies need port 0", c.listen, c.proxies)
	}
	return c, nil
}
