// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"errors"
	"fmt"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
	"github.com/rocketmq-beam/rocketmq-beam/internal/names"
)

// The defaults of Write.
const (
	DefaultMaxAttempts = 3
	DefaultMaxInFlight = 32
)

// writeConfig is what Write was told. It is part of the pipeline graph.
type writeConfig struct {
	Endpoints   string            `json:"endpoints"`
	Namespace   string            `json:"namespace,omitempty"`
	Topic       string            `json:"topic"`
	LiteTopic   string            `json:"lite_topic,omitempty"`
	Client      litegrpc.Settings `json:"client"`
	MaxAttempts int               `json:"max_attempts"`
	MaxInFlight int               `json:"max_in_flight"`
}

// WriteOption changes one setting of [Write].
type WriteOption func(*writeConfig) error

func newWriteConfig(endpoints, topic string, opts []WriteOption) (writeConfig, error) {
	c := writeConfig{Endpoints: endpoints, Topic: topic, MaxAttempts: DefaultMaxAttempts, MaxInFlight: DefaultMaxInFlight}
	var faults []error
	for _, opt := range opts {
		if opt == nil {
			faults = append(faults, errors.New("an option is nil"))
			continue
		}
		faults = append(faults, opt(&c))
	}
	_, endpointsErr := litegrpc.ParseEndpoints(endpoints)
	return c, errors.Join(append(faults, endpointsErr, names.CheckTopic(topic), c.Client.Check())...)
}

// WriteLiteTopic sets the lite topic of all messages that name none themselves.
func WriteLiteTopic(name string) WriteOption {
	return func(c *writeConfig) error { c.LiteTopic = name; return names.CheckLiteTopic(name) }
}

// WriteNamespace sets the instance namespace, which some vendors need. Default:
// none.
func WriteNamespace(namespace string) WriteOption {
	return func(c *writeConfig) error { c.Namespace = namespace; return nil }
}

// WriteCredentials is [ReadCredentials] for writing.
func WriteCredentials(resolver string) WriteOption {
	return func(c *writeConfig) error {
		if resolver == "" {
			return errors.New("credentials resolver is empty: leave the option out, or name one")
		}
		c.Client.Credentials.Resolver = resolver
		return nil
	}
}

// WriteStaticCredentials is [ReadStaticCredentials] for writing.
func WriteStaticCredentials(accessKey, secretKey string) WriteOption {
	return func(c *writeConfig) error {
		c.Client.Credentials.StaticAccessKey, c.Client.Credentials.StaticSecretKey = accessKey, secretKey
		return nil
	}
}

// WriteTLS secures the connections. Default: plain text.
func WriteTLS(t auth.TLS) WriteOption {
	return func(c *writeConfig) error { c.Client.TLS = t; return nil }
}

// WriteRequestTimeout bounds each request. 100 ms to 1 min, default 3 s.
func WriteRequestTimeout(d time.Duration) WriteOption {
	return func(c *writeConfig) error {
		if d < 100*time.Millisecond || d > time.Minute {
			return fmt.Errorf("request timeout %v: want 100ms to 1m", d)
		}
		c.Client.RequestTimeout = d
		return nil
	}
}

// WriteMaxAttempts sets how often a message is sent before the bundle fails. An
// answer that asks to slow down does not count. 1 to 100, default 3.
func WriteMaxAttempts(n int) WriteOption {
	return func(c *writeConfig) error {
		if n < 1 || n > 100 {
			return fmt.Errorf("max attempts %d: want 1 to 100", n)
		}
		c.MaxAttempts = n
		return nil
	}
}

// WriteMaxInFlight sets how many requests a bundle keeps under way, each for
// another lite topic. 1 to 1024, default 32.
func WriteMaxInFlight(n int) WriteOption {
	return func(c *writeConfig) error {
		if n < 1 || n > 1024 {
			return fmt.Errorf("max in flight %d: want 1 to 1024", n)
		}
		c.MaxInFlight = n
		return nil
	}
}
