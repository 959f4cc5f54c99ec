// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/beamlog"
	"github.com/rocketmq-beam/rocketmq-beam/internal/health"
	"github.com/rocketmq-beam/rocketmq-beam/internal/idle"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
	"github.com/rocketmq-beam/rocketmq-beam/internal/pool"
)

// fetchers are the fetchers of this process, by their configuration: all
// shards of a source that run here share one. One that no bundle asked for
// during its idle time is closed, for no runner calls Teardown.
var fetchers = pool.New[string](
	func(f *fetcher) time.Duration { return f.cfg.IdleClose },
	func(f *fetcher) { f.close() },
)

// fetcher receives in the background and keeps what it received until a bundle
// takes it: one consumer, several receive workers, one queue.
type fetcher struct {
	cfg      readConfig
	log      *slog.Logger
	consumer *litegrpc.Consumer
	queue    *queue
	stats    *stats
	health   *health.Health
	again    *redeliveries
	times    *eventTimes
	idle     idle.Pause
	renew    func(Queued) time.Duration // nil: no renewal
	end      context.CancelFunc
	workers  sync.WaitGroup
}

// poolKey tells configurations apart.
func (c *readConfig) poolKey() (string, error) {
	key, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("litegrpcio: configuration: %w", err)
	}
	return string(key), nil
}

// lookAgain bounds how long a lite topic may stand still because the broker
// forgot to offer what is in it. To look costs it a walk over its lite topics.
const lookAgain = time.Minute

// openFetcher opens the consumer and starts the workers.
func openFetcher(ctx context.Context, cfg readConfig) (*fetcher, error) {
	f := &fetcher{
		cfg: cfg, log: beamlog.Logger("rocketmq lite source").With("topic", cfg.Topic, "group", cfg.Group),
		queue: newQueue(cfg.MaxMessageNum * cfg.FetchConcurrency), stats: &stats{},
		times: &eventTimes{publish: cfg.PublishTime, maxDisorder: cfg.MaxDisorder},
	}
	f.health = health.New(cfg.StallTimeout, f.log, time.Now())
	f.again = &redeliveries{log: f.log}
	if cfg.Renewal != nil {
		f.renew = renewalPolicy(cfg.Renewal)
	}
	base, err := cfg.Client.Config(cfg.Endpoints, cfg.Namespace, f.log, f.stats)
	if err != nil {
		return nil, err
	}
	f.consumer, err = litegrpc.NewConsumer(ctx, litegrpc.ConsumerConfig{
		Config: base, Topic: cfg.Topic, Group: cfg.Group, AwaitDuration: cfg.AwaitDuration, AssumeWildcard: cfg.AssumeWildcard,
		LookAgain: lookAgain,
	})
	if err != nil {
		return nil, fmt.Errorf("litegrpcio.Read: %w", err)
	}
	var life context.Context
	life, f.end = context.WithCancel(context.WithoutCancel(ctx))
	for range cfg.FetchConcurrency {
		f.workers.Go(func() { f.receive(life) })
	}
	if f.renew != nil {
		f.workers.Go(func() { f.keepLeases(life) })
	}
	return f, nil
}

// closeTimeout bounds handing back and leaving.
const closeTimeout = 3 * time.Second

// close stops receiving, hands back what waits, and leaves the group.
func (f *fetcher) close() {
	f.end()
	f.workers.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	f.handBack(ctx)
	f.consumer.Close(ctx)
}

// handBackAfter is the invisibility left to a message that is handed back. With
// none at all the broker might deliver it to this client again.
const handBackAfter = 100 * time.Millisecond

// handBack makes what was received and never emitted visible to the rest of the
// group. What cannot be handed back comes back by itself when its lease ends.
//
// It counts as an attempt, for the suspend flag that would prevent this acts on
// all messages of the lite topic that came in the same batch: those that were
// emitted and are being worked on would be delivered again at once.
func (f *fetcher) handBack(ctx context.Context) {
	left, _ := f.queue.takeAll(time.Now(), f.queue.len())
	const atOnce = 16
	slots := make(chan struct{}, atOnce)
	var group sync.WaitGroup
	for _, w := range left {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if _, err := f.consumer.ChangeInvisible(ctx, w.Handle, litegrpc.Deferral{For: handBackAfter}); err != nil {
				f.log.Info("a message waits for the end of its lease, handing it back", "error", err)
			}
		})
	}
	group.Wait()
}

// Shutdown hands back what the sources of this process have received and not
// emitted, and leaves their groups, without waiting for their idle time. For a
// program that runs a pipeline in its own process and is about to end; sources
// that still run are not touched.
func Shutdown() {
	fetchers.CloseIdle()
	senders.CloseIdle()
}
