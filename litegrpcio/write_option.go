// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"errors"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
	"github.com/rocketmq-beam/rocketmq-beam/internal/names"
	"github.com/rocketmq-beam/rocketmq-beam/internal/option"
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
	faults := option.Apply(&c, opts)
	_, endpointsErr := litegrpc.ParseEndpoints(endpoints)
	return c, errors.Join(faults, endpointsErr, names.CheckTopic(topic), c.Client.Check())
}

func (c *writeConfig) credentials() *auth.Source { return &c.Client.Credentials }

// WriteLiteTopic sets the lite topic of all messages that name none themselves.
func WriteLiteTopic(name string) WriteOption {
	return func(c *writeConfig) error { c.LiteTopic = name; return names.CheckLiteTopic(name) }
}

// WriteNamespace sets the instance namespace, which some vendors need. Default:
// none.
func WriteNamespace(namespace string) WriteOption {
	return option.Namespace("WriteNamespace", namespace, func(c *writeConfig) { c.Namespace = namespace })
}

// WriteCredentials is [ReadCredentials] for writing.
func WriteCredentials(resolver string) WriteOption {
	return option.Resolver("WriteCredentials", resolver, (*writeConfig).credentials)
}

// WriteStaticCredentials is [ReadStaticCredentials] for writing.
func WriteStaticCredentials(accessKey, secretKey string) WriteOption {
	return option.StaticKeys("WriteStaticCredentials", accessKey, secretKey, (*writeConfig).credentials)
}

// WriteTLS secures the connections. Default: plain text.
func WriteTLS(t auth.TLS) WriteOption {
	return func(c *writeConfig) error { c.Client.TLS = t; return nil }
}

// WriteRequestTimeout bounds each request. 100 ms to 1 min, default 3 s.
func WriteRequestTimeout(d time.Duration) WriteOption {
	return option.InRange("WriteRequestTimeout", d, 100*time.Millisecond, time.Minute, func(c *writeConfig) { c.Client.RequestTimeout = d })
}

// WriteMaxAttempts sets how often a message is sent before the bundle fails. An
// answer that asks to slow down does not count, nor does a try that did not
// leave, because no proxy could be reached. 1 to 100, default 3.
func WriteMaxAttempts(n int) WriteOption {
	return option.InRange("WriteMaxAttempts", n, 1, 100, func(c *writeConfig) { c.MaxAttempts = n })
}

// WriteMaxInFlight sets how many requests a worker process keeps under way at
// most, each for another lite topic; fewer while the broker asks to slow down. 1
// to 1024, default 32.
func WriteMaxInFlight(n int) WriteOption {
	return option.InRange("WriteMaxInFlight", n, 1, 1024, func(c *writeConfig) { c.MaxInFlight = n })
}
