// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import "fmt"

// WithBrokers sets the names of the brokers of the remoting side, each with a
// port and queues of its own; default is one, "broker-a". The gRPC side shows all
// queues as those of the first one.
func WithBrokers(names ...string) Option {
	return func(c *config) error {
		if len(names) == 0 {
			return fmt.Errorf("WithBrokers: no names")
		}
		seen := map[string]bool{}
		for _, n := range names {
			if err := checkName("WithBrokers", "broker", n, 127); err != nil {
				return err
			}
			if seen[n] {
				return fmt.Errorf("WithBrokers: %q is named twice", n)
			}
			seen[n] = true
		}
		c.brokers = names
		return nil
	}
}

// WithSlaves gives each broker n slaves, with broker ids from 1 on. They serve
// pulls and refuse what is sent to them.
func WithSlaves(n int) Option {
	return positive("WithSlaves", n, func(c *config) { c.slaves = n })
}

// WithAutoCreateTopic says whether a broker creates an unknown topic when a
// message is sent to it over the remoting protocol (autoCreateTopicEnable).
// Default true, as in RocketMQ.
func WithAutoCreateTopic(on bool) Option {
	return func(c *config) error { c.autoCreateTopic = on; return nil }
}

// WithRouteVia makes routes list the broker's address under this name, while
// queues keep the broker's own: so vendors do whose clients only reach a proxy.
func WithRouteVia(name string) Option {
	return func(c *config) error { c.routeVia = name; return nil }
}

// WithSQLFilter switches property filters on (enablePropertyFilter, off by
// default as in RocketMQ), and says what an expression of type SQL92 matches:
// nothing here reads SQL. Any other expression is one that does not parse.
func WithSQLFilter(expression string, match func(properties map[string]string) bool) Option {
	return func(c *config) error {
		if match == nil {
			return fmt.Errorf("WithSQLFilter(%q): match must not be nil", expression)
		}
		if c.sql == nil {
			c.sql = map[string]func(map[string]string) bool{}
		}
		c.sql[expression] = match
		return nil
	}
}
