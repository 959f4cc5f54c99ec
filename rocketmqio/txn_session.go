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
	"github.com/rocketmq-beam/rocketmq-beam/internal/pool"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// txnSessions are the sessions of this process, by sink. One outlives the last
// bundle by as long as brokers may ask about what that has prepared.
var txnSessions = pool.New[string](
	func(s *txnSession) time.Duration { return max(s.cfg.IdleClose, s.cfg.Transaction.Timeout+checkTime) },
	func(s *txnSession) { s.close() },
)

// checkTime is how long a broker checks a half message whose timeout is over, with
// its own settings: 15 times every 30 s, and some more.
const checkTime = 10 * time.Minute

// The parts of asyncsink that the commit step uses.
type (
	commitSink   = asyncsink.Sink[*prepared, *ending, ended]
	commitWriter = asyncsink.Writer[*prepared, *ending, ended]
	commitResult = asyncsink.Outcome[*prepared, *ending, ended]
)

// txnSession is what a process needs to commit half messages and to answer for
// them.
type txnSession struct {
	cfg       writeConfig
	log       *slog.Logger
	client    *remoting.Client
	sink      *commitSink
	keeper    *keeper
	memory    *memory
	stats     txnStats
	brokers   *brokerChecks
	callbacks callbacks
}

func openTxnSession(cfg writeConfig) (*txnSession, error) {
	s := &txnSession{cfg: cfg, log: beamlog.Logger("rocketmq transactions").With("group", cfg.Group), memory: newMemory(), brokers: newBrokerChecks()}
	var err error
	s.client, err = remoting.NewClient(remoting.Config{
		NameServers: cfg.NameServers, Namespace: cfg.Namespace, Credentials: cfg.Credentials.Provider(cfg.NameServers),
		TLS: cfg.TLS, Timeout: cfg.SendTimeout, MaxFrame: max(remoting.DefaultMaxFrame, 2*cfg.MaxBody), Handler: s.handle,
	})
	if err != nil {
		return nil, fmt.Errorf("rocketmqio.Write: %w", err)
	}
	t := &cfg.Transaction
	s.sink, err = asyncsink.New(asyncsink.Config[*prepared, *ending, ended]{
		Convert: func(_ context.Context, p *prepared) (*ending, error) { return &ending{prepared: p}, nil },
		// One at a time of each key: of two, the second must find the first.
		Lane: func(e *ending) asyncsink.Lane {
			return asyncsink.Lane{Key: e.prepared.half.Topic + "\x00" + e.prepared.half.UniqueKey, Ordered: true}
		},
		Submit: s.submit, Classify: judgeCommit, Observe: s.stats.observe,
		MaxBatch: 1, MaxInFlight: t.Concurrency, MaxBuffered: max(cfg.PendingMax, t.Concurrency),
		RequestTimeout: cfg.longestEnd(), MaxAttempts: cfg.Retries + 1, MaxWait: cfg.Patience,
		StopOnFailure: t.Lost == FailLost,
	})
	if err != nil {
		_ = s.client.Close() // nothing was done with it
		return nil, fmt.Errorf("rocketmqio.Write: %w", err)
	}
	s.keeper = newKeeper(s)
	if cfg.Topic != "" {
		s.keeper.watch(cfg.Topic)
	}
	return s, nil
}

func (s *txnSession) close() {
	s.sink.Close()
	s.keeper.close()
	if err := s.client.Close(); err != nil {
		s.log.Info("closing", "error", err)
	}
}

// withTransactions runs do with the session of the sink.
func withTransactions(ctx context.Context, cfg *writeConfig, do func(*txnSession) error) error {
	key, err := cfg.sessionKey()
	if err != nil {
		return err
	}
	return withTransactionsOf(ctx, key, cfg, do)
}

// withTransactionsOf is the same for those who keep the key, for they come often.
func withTransactionsOf(ctx context.Context, key string, cfg *writeConfig, do func(*txnSession) error) error {
	s, hold, err := txnSessions.Acquire(ctx, key, func(context.Context) (*txnSession, error) { return openTxnSession(*cfg) })
	if err != nil {
		return err
	}
	defer hold.Release()
	return do(s)
}
