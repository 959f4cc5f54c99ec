// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// handle answers a broker's question about a half message. What is there already
// must be rolled back, for the half message, or this copy of it, would be stored
// beside it. All else is undecided, whoever's it is: its handle may be on its way
// to the commit step, of this process or another. Commit is never an answer.
func (s *txnSession) handle(ctx context.Context, from string, cmd *remoting.Command) *remoting.Command {
	check, ok, err := s.client.ParseCheck(from, cmd)
	if !ok {
		return nil
	}
	if err != nil {
		s.log.Warn("a broker's question about a half message cannot be read", "broker", from, "error", err)
		return nil
	}
	outcome := s.decide(ctx, check.Half)
	s.stats.add(func(n *txnCounts) {
		n.checks++
		if outcome == remoting.Rollback {
			n.rolledBack++
		}
	})
	if err := s.client.AnswerCheck(ctx, check, outcome); err != nil {
		s.log.Info("answering about a half message", "topic", check.Half.Topic, "key", check.Half.UniqueKey, "error", err)
	}
	return nil
}

func (s *txnSession) decide(ctx context.Context, h remoting.Half) remoting.Outcome {
	found, err := s.find(ctx, h)
	switch {
	case err != nil:
		s.log.Info("a half message stays undecided", "topic", h.Topic, "key", h.UniqueKey, "error", err)
	case found != nil:
		return remoting.Rollback
	}
	return remoting.Unknown
}

// The times of heartbeats.
const (
	heartbeatEvery = 30 * time.Second
	heartbeatAgain = time.Second // after one that failed
)

// keeper keeps the producer group known to the brokers of its topics.
type keeper struct {
	session *txnSession
	stop    context.CancelFunc
	over    sync.WaitGroup
	news    chan struct{} // holds one when there is a new topic

	mu     sync.Mutex
	topics []string
}

func newKeeper(s *txnSession) *keeper {
	ctx, stop := context.WithCancel(context.Background())
	k := &keeper{session: s, stop: stop, news: make(chan struct{}, 1)}
	k.over.Go(func() { k.run(ctx) })
	return k
}

func (k *keeper) close() {
	k.stop()
	k.over.Wait()
}

// watch adds a topic whose brokers are to know the group.
func (k *keeper) watch(topic string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if topic == "" || slices.Contains(k.topics, topic) {
		return
	}
	k.topics = append(k.topics, topic)
	select {
	case k.news <- struct{}{}:
	default:
	}
}

func (k *keeper) run(ctx context.Context) {
	timer := time.NewTimer(heartbeatEvery)
	defer timer.Stop()
	for {
		pause := heartbeatEvery
		if !k.beat(ctx) {
			pause = heartbeatAgain
		}
		timer.Reset(pause)
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-k.news:
		}
	}
}

// beat tells the brokers of all topics, and says whether all of them heard it.
func (k *keeper) beat(ctx context.Context) bool {
	k.mu.Lock()
	topics := slices.Clone(k.topics)
	k.mu.Unlock()
	well := true
	for _, topic := range topics {
		err := k.session.client.Heartbeat(ctx, remoting.Heartbeat{Topic: topic, Producers: []string{k.session.cfg.Group}})
		if err != nil && ctx.Err() == nil {
			k.session.log.Info("the producer group is not known to all brokers", "topic", topic, "error", err)
			well = false
		}
	}
	return well
}
