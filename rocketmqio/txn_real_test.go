// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// The cluster is this test's own: from the first half message on a thread of the
// broker spins. The figures are medians of alternating rounds in one run.
func TestTransactionsOnARealBroker(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts three JVMs")
	}
	mq := realmqtest.Start(t, realmq.BrokerProperty("waitTimeMillsInSendQueue", "10000"))
	const messages, rounds = 2000, 3
	ways := []struct {
		name string
		opts []WriteOption
	}{
		{"at least once, batches of 64", nil},
		{"at least once, one by one", []WriteOption{WriteBatch(1, 1<<20)}},
		{"exactly once, asking always", []WriteOption{WriteGuarantee(ExactlyOnce), WriteCommitSettle(10 * time.Millisecond)}},
		{"exactly once, asking after doubt", []WriteOption{WriteGuarantee(ExactlyOnce), WriteCommitSettle(10 * time.Millisecond), WriteCommitCheck(CheckAfterDoubt)}},
	}
	took := make([][]time.Duration, len(ways))
	for round := range rounds {
		for i, way := range ways {
			topic := fmt.Sprintf("txn-%d-%d", round, i)
			if err := mq.CreateTopic(t.Context(), topic, realmq.Normal, realmq.Queues(4)); err != nil {
				t.Fatal(err)
			}
			cfg := writeConfigOf(t, mq.NameServer(), append([]WriteOption{WriteTopic(topic)}, way.opts...)...)
			cfg.SinkID = topic
			cfg.nameGroup(topic)
			t.Cleanup(txnSessions.CloseIdle)
			in := many(messages, func(i int) OutgoingMessage {
				return OutgoingMessage{Body: fmt.Append(nil, i), UniqueKey: fmt.Sprintf("k%d", i)}
			})
			begin := time.Now()
			if cfg.Guarantee == ExactlyOnce {
				mustCommit(t, cfg, mustPrepare(t, cfg, in...)...)
			} else if _, err := bundleOf(t, cfg, in); err != nil {
				t.Fatal(err)
			}
			took[i] = append(took[i], time.Since(begin))
			if n := awaitStored(t, mq, topic, messages); n != messages {
				t.Errorf("%s: %d messages are there, want %d", way.name, n, messages)
			}
		}
	}
	for i, way := range ways {
		slices.Sort(took[i])
		t.Logf("%s: %.0f messages/s, %.2f of what goes one by one", way.name, messages/took[i][rounds/2].Seconds(),
			took[1][rounds/2].Seconds()/took[i][rounds/2].Seconds())
	}
}

// awaitStored counts until there are so many: what a broker has stored can be read
// a moment later.
func awaitStored(t *testing.T, mq *realmq.Cluster, topic string, want int64) (n int64) {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		if n = countStored(t, mq, topic); n >= want {
			return n
		}
		select {
		case <-late:
			return n
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// countStored counts what consumers of a topic find.
func countStored(t *testing.T, mq *realmq.Cluster, topic string) (n int64) {
	t.Helper()
	c, err := remoting.NewClient(remoting.Config{NameServers: mq.NameServer()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	route, err := c.Route(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range route.Readable() {
		end, err := c.MaxOffset(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		n += end
	}
	return n
}
