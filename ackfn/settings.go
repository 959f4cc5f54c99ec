// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"fmt"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/internal/option"
)

// settings is what the options make. It travels in the pipeline graph as JSON
// and is part of the key under which sessions are shared.
type settings struct {
	Credentials    auth.Source   `json:"credentials,omitzero"`
	TLS            auth.TLS      `json:"tls,omitzero"`
	RequestTimeout time.Duration `json:"request_timeout"`
	MaxAttempts    int           `json:"max_attempts"`
	FlowControl    time.Duration `json:"flow_control_budget"`
	BatchSize      int           `json:"batch_size"`
	MaxInFlight    int           `json:"max_in_flight"`
}

// The defaults of the options of the same names.
const (
	DefaultRequestTimeout    = 3 * time.Second
	DefaultMaxAttempts       = 10
	DefaultFlowControlBudget = 30 * time.Second
	DefaultBatchSize         = 32
	DefaultMaxInFlight       = 8
)

// An Option configures a [Client] and the transform [Ack].
type Option func(*settings) error

func (s *settings) credentials() *auth.Source { return &s.Credentials }

func resolve(opts []Option) (settings, error) {
	s := settings{
		RequestTimeout: DefaultRequestTimeout, MaxAttempts: DefaultMaxAttempts, FlowControl: DefaultFlowControlBudget,
		BatchSize: DefaultBatchSize, MaxInFlight: DefaultMaxInFlight,
	}
	if err := option.Apply(&s, opts); err != nil {
		return settings{}, err
	}
	if err := s.Credentials.Check(); err != nil {
		return settings{}, fmt.Errorf("options Credentials and StaticCredentials: %w", err)
	}
	if err := s.TLS.Check(); err != nil {
		return settings{}, fmt.Errorf("option TLS: %w", err)
	}
	return s, nil
}

// Credentials names the resolver that gives the keys for the endpoints of each
// handle, on the worker: "env", "file:/path", or one registered with
// [auth.Register]. Default: requests are not signed.
func Credentials(resolver string) Option {
	return option.Resolver("Credentials", resolver, (*settings).credentials)
}

// StaticCredentials gives the keys themselves. They stand in the pipeline graph
// in plain text, where everybody can read them who can see the job. Use
// [Credentials] wherever that matters.
func StaticCredentials(accessKey, secretKey string) Option {
	return option.StaticKeys("StaticCredentials", accessKey, secretKey, (*settings).credentials)
}

// TLS secures the connections. Default: plain text.
func TLS(t auth.TLS) Option {
	return func(s *settings) error { s.TLS = t; return nil }
}

// RequestTimeout bounds each request, from 100 ms to 5 minutes. Default 3 s. Opening
// a session, before the first request of a route, may take 8 s more.
func RequestTimeout(d time.Duration) Option {
	return option.InRange("RequestTimeout", d, 100*time.Millisecond, 5*time.Minute, func(s *settings) { s.RequestTimeout = d })
}

// MaxAttempts is how often a request is sent, the first time included, before
// errors that may pass (no connection, no answer, a lost session) fail the
// bundle; 1 to 1000. Between two attempts there is a pause of 100 ms, doubling
// up to 5 s, so that the default of 10 bridges a restart of the proxy of 20 to
// 50 s. Flow control has a budget of its own.
func MaxAttempts(n int) Option {
	return option.InRange("MaxAttempts", n, 1, 1000, func(s *settings) { s.MaxAttempts = n })
}

// FlowControlBudget is how long one request may be put off altogether because
// the server answers that there are too many (TOO_MANY_REQUESTS and the like),
// before the bundle fails; up to 1 h. Zero means: not at all. These pauses begin
// with 50 ms and double up to 2 s; they do not count as attempts. Default 30 s:
// much longer than that, and the lease is over.
func FlowControlBudget(d time.Duration) Option {
	return option.InRange("FlowControlBudget", d, 0, time.Hour, func(s *settings) { s.FlowControl = d })
}

// BatchSize is how many handles of one topic and group go into one request, 1
// to 1000. Default 32. RocketMQ 5.5 carries out the entries of lite topics one
// by one, so beyond the default there is little to gain; 1 sends each
// acknowledgement by itself.
func BatchSize(n int) Option {
	return option.InRange("BatchSize", n, 1, 1000, func(s *settings) { s.BatchSize = n })
}

// MaxInFlight is how many requests of one bundle, or of one call of the client,
// are under way at the same time, 1 to 1000. Default 8.
func MaxInFlight(n int) Option {
	return option.InRange("MaxInFlight", n, 1, 1000, func(s *settings) { s.MaxInFlight = n })
}
