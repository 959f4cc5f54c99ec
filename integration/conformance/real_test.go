// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/conformance"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
)

func TestReal(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts three JVMs")
	}
	// All cases begin at once; a broker of a busy machine would refuse some of
	// their messages after 200 ms.
	mq := realmqtest.Start(t, realmq.BrokerProperty("waitTimeMillsInSendQueue", "10000"))
	conformance.Run(t, real{mq})
}

// real runs all cases on one cluster, each with topics and groups of its own.
type real struct{ mq *realmq.Cluster }

// Lacks nothing: the suite is what this one does.
func (r real) Lacks(conformance.Feature) string { return "" }

// Parallel is high because a case mostly waits.
func (r real) Parallel() int { return 24 }

func (r real) Open(t *testing.T, s conformance.Setup) conformance.Broker {
	t.Helper()
	for _, topic := range s.Topics {
		if err := r.mq.CreateTopic(t.Context(), topic.Name, realmq.Kind(topic.Kind)); err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range s.Groups {
		if err := r.mq.CreateGroup(t.Context(), g.Name, groupOptions(g)...); err != nil {
			t.Fatal(err)
		}
	}
	return realBroker(r)
}

func groupOptions(g conformance.Group) []realmq.GroupOption {
	var opts []realmq.GroupOption
	if g.Bind != "" {
		opts = append(opts, realmq.LiteBind(g.Bind))
	}
	if g.Wildcard {
		opts = append(opts, realmq.Wildcard())
	}
	if g.Exclusive {
		opts = append(opts, realmq.GroupAttribute("lite.sub.model", "Exclusive"))
	}
	if g.RetryMaxTimes > 0 {
		opts = append(opts, realmq.RetryMaxTimes(g.RetryMaxTimes))
	}
	if g.ClientQuota > 0 {
		opts = append(opts, realmq.GroupAttribute("lite.sub.client.quota", strconv.Itoa(g.ClientQuota)))
	}
	return opts
}

type realBroker struct{ mq *realmq.Cluster }

func (b realBroker) Endpoints() string { return b.mq.Endpoints() }

func (b realBroker) Now() time.Time { return time.Now() }

// Advance waits: nothing moves the clock of a real broker.
func (b realBroker) Advance(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// AwaitTaken: its clock does not stand still.
func (b realBroker) AwaitTaken(context.Context, string) {}

func (b realBroker) LosesPolls() bool { return true }

func (b realBroker) AwaitPoll(ctx context.Context, _ string, _ time.Duration, done <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-done:
	}
}

func (b realBroker) RestartProxy(t *testing.T) {
	t.Helper()
	if err := b.mq.RestartProxy(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (b realBroker) RestartBroker(t *testing.T) {
	t.Helper()
	if err := b.mq.RestartBroker(t.Context()); err != nil {
		t.Fatal(err)
	}
}
