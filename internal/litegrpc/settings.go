// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
)

// Settings are what a transform is told about its connections. They are part
// of the pipeline graph, hence plain values, and can be the key of a pool.
type Settings struct {
	Credentials    auth.Source   `json:"credentials"`
	TLS            auth.TLS      `json:"tls"`
	RequestTimeout time.Duration `json:"request_timeout,omitempty"`
}

// Check refuses settings that cannot work, while the pipeline is built.
func (s Settings) Check() error {
	if s.RequestTimeout < 0 || s.RequestTimeout > time.Minute {
		return fmt.Errorf("request timeout %v: want more than 0 and at most 1m", s.RequestTimeout)
	}
	if err := s.Credentials.Check(); err != nil {
		return err
	}
	return s.TLS.Check()
}

// Config makes the configuration of a session, on the worker.
func (s Settings) Config(endpoints, namespace string, logger *slog.Logger, events Events) (Config, error) {
	parsed, err := ParseEndpoints(endpoints)
	if err != nil {
		return Config{}, &Error{Op: "opening a session", Class: Permanent, Err: err}
	}
	return Config{
		Endpoints: parsed, Namespace: namespace, Credentials: s.Credentials.Provider(endpoints), TLS: s.TLS,
		RequestTimeout: s.RequestTimeout, Logger: logger, Events: events,
	}, nil
}
