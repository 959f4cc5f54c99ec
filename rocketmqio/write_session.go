// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/asyncsink"
	"github.com/rocketmq-beam/rocketmq-beam/internal/beamlog"
	"github.com/rocketmq-beam/rocketmq-beam/internal/health"
	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
	"github.com/rocketmq-beam/rocketmq-beam/internal/pool"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// writeSessions are the sessions of this process, by sink.
var writeSessions = pool.New[string](
	func(s *writeSession) time.Duration { return s.cfg.IdleClose },
	func(s *writeSession) { s.close() },
)

// written is an element of the input, with its place in it.
type written struct {
	message OutgoingMessage
	place   placed.Place
	out     outgoing // what is made of it, here so that both are one allocation
}

// The parts of asyncsink that this package uses.
type (
	messageSink   = asyncsink.Sink[*written, *outgoing, stored]
	messageWriter = asyncsink.Writer[*written, *outgoing, stored]
	messageResult = asyncsink.Outcome[*written, *outgoing, stored]
)

// writeSession is what all bundles of one sink share in one process: a client, the
// routes, and the engine that batches and sends.
type writeSession struct {
	cfg    writeConfig
	log    *slog.Logger
	client *remoting.Client
	routes *writeRoutes
	sink   *messageSink
	plain  asyncsink.Lane // of the sink's own topic
	stats  writeStats
	quiet  health.Silence
}

// mostBufferedBytes bounds the bodies that wait or are in flight.
const mostBufferedBytes = 64 << 20

// mostFlyingBytes bounds what is in flight: on a link that carries less than that
// within the timeout of a request, all requests would be late and be sent again.
const mostFlyingBytes = 8 << 20

// mostRequests bounds the requests in flight: no more than a broker's own pool of
// threads and queue take without complaint.
const mostRequests = 256

func openWriteSession(cfg writeConfig) (*writeSession, error) {
	client, err := remoting.NewClient(remoting.Config{
		NameServers: cfg.NameServers, Namespace: cfg.Namespace, Credentials: cfg.Credentials.Provider(cfg.NameServers),
		TLS: cfg.TLS, Timeout: cfg.SendTimeout, MaxFrame: max(remoting.DefaultMaxFrame, 2*cfg.MaxBody),
	})
	if err != nil {
		return nil, fmt.Errorf("rocketmqio.Write: %w", err)
	}
	s := &writeSession{cfg: cfg, log: beamlog.Logger("rocketmq sink").With("group", cfg.Group), client: client, plain: asyncsink.Lane{Key: "plain/" + cfg.Topic}}
	s.routes = newWriteRoutes(client)
	strategy, err := cfg.strategy()
	if err != nil {
		client.Close()
		return nil, fmt.Errorf("rocketmqio.Write: %w", err)
	}
	s.sink, err = asyncsink.New(asyncsink.Config[*written, *outgoing, stored]{
		Convert: s.convert, Size: func(o *outgoing) int { return o.size }, Lane: func(o *outgoing) asyncsink.Lane { return o.lane },
		Submit: s.submit, Classify: judgeSend, Observe: s.stats.observe, Strategy: strategy,
		MaxBatch: cfg.BatchSize, MaxBatchBytes: cfg.BatchBytes, Linger: cfg.Linger,
		MaxInFlight: min(cfg.PendingMax, mostRequests), MaxInFlightBytes: mostFlyingBytes, MaxBuffered: cfg.PendingMax, MaxBufferedBytes: max(mostBufferedBytes, 2*cfg.MaxBody),
		RequestTimeout: cfg.SendTimeout, FailOnTimeout: cfg.FailOnTimeout, MaxAttempts: cfg.Retries + 1, MaxWait: cfg.Patience,
		StopOnFailure: cfg.Guarantee != None,
	})
	if err != nil {
		client.Close()
		return nil, fmt.Errorf("rocketmqio.Write: %w", err)
	}
	return s, nil
}

// drainTime is how long what a bundle left behind without waiting for it, for it
// had failed elsewhere, may go on when the session closes.
const drainTime = time.Second

func (s *writeSession) close() {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := s.sink.Drain(ctx); err != nil {
		s.log.Warn("closing while messages are pending", "pending", s.sink.Stats().InFlight+s.sink.Stats().Buffered)
	}
	s.sink.Close()
	if err := s.client.Close(); err != nil {
		s.log.Info("closing", "error", err)
	}
}
