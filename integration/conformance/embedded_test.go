// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/conformance"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func TestEmbedded(t *testing.T) { conformance.Run(t, inProcess{}) }

// inProcess gives each case an embedded broker of its own, with a clock that
// stands still until the case moves it.
type inProcess struct{}

func (inProcess) Parallel() int { return 8 }

func (inProcess) Lacks(f conformance.Feature) string {
	return map[conformance.Feature]string{
		conformance.Dispatch:  "the embedded broker gives a message to the client that asks first",
		conformance.AutoRenew: "the embedded broker renews nothing",
	}[f]
}

func (inProcess) Open(t *testing.T, s conformance.Setup) conformance.Broker {
	t.Helper()
	clock := embedded.NewClock(time.Now())
	opts := []embedded.Option{embedded.WithClock(clock)}
	for _, topic := range s.Topics {
		switch topic.Kind {
		case conformance.Lite:
			opts = append(opts, embedded.WithLiteTopic(topic.Name))
		case conformance.Normal:
			opts = append(opts, embedded.WithNormalTopic(topic.Name))
		case conformance.FIFO:
			opts = append(opts, embedded.WithFIFOTopic(topic.Name))
		}
	}
	for _, g := range s.Groups {
		opts = append(opts, groupOption(g))
		if g.RetryMaxTimes > 0 {
			opts = append(opts, embedded.WithMaxDeliveryAttempts(g.RetryMaxTimes+1))
		}
		if g.ClientQuota > 0 {
			opts = append(opts, embedded.WithLiteClientQuota(g.ClientQuota))
		}
	}
	mq := embedded.Start(t.Context(), opts...)
	t.Cleanup(mq.Close)
	return embeddedBroker{mq, clock}
}

func groupOption(g conformance.Group) embedded.Option {
	switch {
	case g.Wildcard:
		return embedded.WithWildcardGroup(g.Name, g.Bind)
	case g.Exclusive:
		return embedded.WithExclusiveGroup(g.Name, g.Bind)
	case g.Bind != "":
		return embedded.WithLiteGroup(g.Name, g.Bind)
	}
	return embedded.WithNormalGroup(g.Name)
}

type embeddedBroker struct {
	mq    *embedded.Broker
	clock *embedded.Clock
}

func (b embeddedBroker) Endpoints() string { return b.mq.Endpoints() }

func (b embeddedBroker) Now() time.Time { return b.clock.Now() }

func (b embeddedBroker) Advance(_ context.Context, d time.Duration) { b.clock.Advance(d) }

func (b embeddedBroker) AwaitTaken(ctx context.Context, topic string) {
	_ = b.mq.Wait(ctx, func(s embedded.Snapshot) bool { // else the case fails
		return !slices.ContainsFunc(s.Messages(topic), func(m embedded.Message) bool { return len(m.Deliveries) == 0 })
	})
}

// LosesPolls: a poll without an answer is a fault of ours.
func (b embeddedBroker) LosesPolls() bool { return false }

// AwaitPoll moves the clock once the poll is waiting.
func (b embeddedBroker) AwaitPoll(ctx context.Context, group string, d time.Duration, done <-chan struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-done:
			cancel()
		case <-ctx.Done():
		}
	}()
	if b.mq.Wait(ctx, func(s embedded.Snapshot) bool { return s.LongPolls(group) > 0 }) == nil {
		b.clock.Advance(d)
	}
	cancel()
	<-stopped
}

func (b embeddedBroker) RestartProxy(*testing.T) { b.mq.Restart() }

func (b embeddedBroker) RestartBroker(*testing.T) { b.mq.RestartBroker() }
