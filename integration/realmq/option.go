// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"errors"
	"fmt"
	"strings"
)

// config is what Start was asked for.
type config struct {
	broker     map[string]string
	proxy      map[string]any
	brokerPort int
	heap       [3]string // name server, broker, proxy
	keys       keys      // zero: the servers ask for none
}

func newConfig(opts []Option) (*config, error) {
	c := &config{
		broker: map[string]string{}, proxy: map[string]any{},
		heap: [3]string{"128m", "1g", "512m"},
	}
	for _, opt := range opts {
		if err := opt(c); err != nil {
			return nil, fmt.Errorf("realmq: %w", err)
		}
	}
	return c, nil
}

// Option changes how a cluster is started.
type Option func(*config) error

// BrokerProperty adds a line to the broker's configuration file, or overrides
// one that this package sets, for instance BrokerProperty("maxMessageSize",
// "8388608").
func BrokerProperty(key, value string) Option {
	return func(c *config) error {
		if key == "" || strings.ContainsAny(key+value, "\r\n") {
			return fmt.Errorf("BrokerProperty(%q, %q): empty key or a line break", key, value)
		}
		c.broker[key] = value
		return nil
	}
}

// ProxySetting adds a setting to the proxy's JSON configuration, or overrides
// one that this package sets, for instance
// ProxySetting("minInvisibleTimeMillsForRecv", 1000).
func ProxySetting(key string, value any) Option {
	return func(c *config) error {
		if key == "" {
			return errors.New("ProxySetting: empty key")
		}
		c.proxy[key] = value
		return nil
	}
}

// BrokerPort fixes the port of the broker, for clients that remember it over
// restarts of the cluster. Default: a free one. The port two below is used
// too.
func BrokerPort(port int) Option {
	return func(c *config) error {
		if port < 1026 || port > 65535 {
			return fmt.Errorf("BrokerPort(%d): want 1026 to 65535", port)
		}
		c.brokerPort = port
		return nil
	}
}

// Heap sets the largest heaps of name server, broker and proxy in the JVM's
// notation. Default: 128m, 1g and 512m.
func Heap(nameServer, broker, proxy string) Option {
	return func(c *config) error {
		for _, size := range []string{nameServer, broker, proxy} {
			if size == "" {
				return errors.New("Heap: empty size")
			}
		}
		c.heap = [3]string{nameServer, broker, proxy}
		return nil
	}
}
