// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"log/slog"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
)

// Config is what every session needs.
type Config struct {
	// Endpoints are the proxies. Required.
	Endpoints Endpoints
	// Namespace is the instance namespace, mostly empty.
	Namespace string
	// Credentials are asked for before each request; nil means: do not sign.
	Credentials func(ctx context.Context) (auth.Keys, error)
	// TLS secures the connections.
	TLS auth.TLS
	// RequestTimeout bounds each request but the wait of a long poll. Default 3 s.
	RequestTimeout time.Duration
	// StartTimeout bounds the opening of a session. Default 8 s.
	StartTimeout time.Duration
	// MaxReceiveBytes bounds one answer. Default 64 MiB.
	MaxReceiveBytes int
	// Logger hears of sessions lost and found again, nothing in normal
	// operation. Default: silent.
	Logger *slog.Logger
	// Events hears of what operators count. Default: nobody.
	Events Events
}

// Events are told of what operators count. The calls must not block.
type Events interface {
	// Reconnected is told each time a link was opened again.
	Reconnected()
}

type noEvents struct{}

func (noEvents) Reconnected() {}

// The defaults of Config.
const (
	DefaultRequestTimeout  = 3 * time.Second
	DefaultStartTimeout    = 8 * time.Second
	DefaultMaxReceiveBytes = 64 << 20
)

// How often a session speaks unasked. The broker forgets a lite subscription
// after 3 minutes, and a client without heartbeats after 2.
const (
	heartbeatInterval = 10 * time.Second
	resyncInterval    = 30 * time.Second
	routeInterval     = 30 * time.Second
)

// Pauses between two tries to open a link.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 30 * time.Second
)

func (c Config) withDefaults() Config {
	if c.RequestTimeout <= 0 {
		c.RequestTimeout = DefaultRequestTimeout
	}
	if c.StartTimeout <= 0 {
		c.StartTimeout = DefaultStartTimeout
	}
	if c.MaxReceiveBytes <= 0 {
		c.MaxReceiveBytes = DefaultMaxReceiveBytes
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Events == nil {
		c.Events = noEvents{}
	}
	return c
}
