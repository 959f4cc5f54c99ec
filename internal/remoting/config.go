// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
)

// Config is what a client needs.
type Config struct {
	// NameServers is a list as in [ParseNameServers]. Required.
	NameServers string
	// Namespace is the instance namespace, mostly empty.
	Namespace string
	// Credentials are asked for before each request; nil means: do not sign.
	Credentials func(ctx context.Context) (auth.Keys, error)
	// TLS secures the connections, to name servers and brokers alike.
	TLS auth.TLS
	// Timeout bounds each request but the wait of a long poll, the opening of
	// its connection included. Default 3 s. A context with an earlier deadline
	// counts, too.
	Timeout time.Duration
	// IdleAfter is how long a connection without requests stays open. Default
	// 60 s, well under the 120 s after which brokers close it, so that no
	// request runs into a closing connection.
	IdleAfter time.Duration
	// RouteAge is how old a route may get before it is asked for again, in the
	// background. Default 30 s. When a broker cannot be reached, or is not in
	// the route, its topic's route is asked for at once.
	RouteAge time.Duration
	// MaxFrame bounds requests and answers. Default [DefaultMaxFrame].
	MaxFrame int
	// MaxBody bounds a decompressed body. Default [DefaultMaxBody].
	MaxBody int
	// ClientID names this client to brokers in heartbeats. Default: one of its
	// own.
	ClientID string
	// Handler is called with what servers ask unasked, such as the state of a
	// transaction ([ParseCheck]), one after the other for each connection. Its
	// context ends with the connection. What it returns is the answer, if one
	// is wanted; nil is "not supported". Up to 256 requests wait for it, more
	// are dropped: servers ask again. Default: nobody.
	Handler func(ctx context.Context, from string, cmd *Command) *Command
	// Dial makes a connection, for tests. Default: TCP.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
}

// The defaults of Config.
const (
	DefaultTimeout   = 3 * time.Second
	DefaultIdleAfter = time.Minute
	DefaultRouteAge  = 30 * time.Second
)

// Bounds that nobody has asked to change.
const (
	// frameTimeout is how long nothing may come of the rest of a frame.
	frameTimeout = 15 * time.Second
	// writeTimeout is how long the other side may take a piece of bytes. The caller
	// whose request waits is long gone by then.
	writeTimeout = 10 * time.Second
	// pollGrace is how much later than asked for a broker may end a long poll:
	// it looks at those that wait every 5 s.
	pollGrace = 6 * time.Second
	// Pauses between two tries to reach a server.
	firstPause = 50 * time.Millisecond
	lastPause  = 2 * time.Second
	// routeRounds is how often all name servers are asked when none answers.
	routeRounds = 3
	routePause  = 100 * time.Millisecond
	// maxHandled is how many requests of a server wait for the handler.
	maxHandled = 256
)

func (c Config) withDefaults() Config {
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.IdleAfter <= 0 {
		c.IdleAfter = DefaultIdleAfter
	}
	if c.RouteAge <= 0 {
		c.RouteAge = DefaultRouteAge
	}
	if c.MaxFrame <= 0 {
		c.MaxFrame = DefaultMaxFrame
	}
	if c.ClientID == "" {
		c.ClientID = fmt.Sprintf("rocketmq-beam@%x", randomBytes(8))
	}
	if c.Dial == nil {
		c.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		}
	}
	return c
}
