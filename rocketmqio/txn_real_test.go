// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

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
		bare bool // what exactly once costs the client and the broker without this sink
	}{
		{"at least once, batches of 64", nil, false},
		{"at least once, one by one", []WriteOption{WriteBatch(1, 1<<20)}, false},
		{"exactly once, asking always", []WriteOption{WriteGuarantee(ExactlyOnce), WriteCommitSettle(10 * time.Millisecond)}, false},
		{"exactly once, asking after doubt", []WriteOption{WriteGuarantee(ExactlyOnce), WriteCommitSettle(10 * time.Millisecond), WriteCommitCheck(CheckAfterDoubt)}, false},
		{"half, question and commit alone", nil, true},
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
			if way.bare {
				threeCalls(t, mq, topic, messages)
			} else if cfg.Guarantee == ExactlyOnce {
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

// threeCalls writes messages by the calls that make one visible once: the half
// message, the question whether it is there, and the commit.
func threeCalls(t *testing.T, mq *realmq.Cluster, topic string, messages int) {
	t.Helper()
	c, route := bareClient(t, mq, topic)
	defer c.Close()
	queues := route.Writable()
	var all errgroup.Group
	all.SetLimit(DefaultCommitConcurrency)
	for i := range messages {
		all.Go(func() error {
			m := &remoting.OutMessage{Body: fmt.Append(nil, i), UniqueKey: fmt.Sprintf("k%d", i), Half: true}
			sent, err := c.SendV2(t.Context(), queues[i%len(queues)], topic, m)
			if err != nil {
				return err
			}
			half, err := sent.Half(topic)
			if err != nil {
				return err
			}
			found, err := c.QueryMessages(t.Context(), remoting.Query{Topic: topic, Key: half.UniqueKey, Unique: true})
			if err != nil || len(found) > 0 {
				return fmt.Errorf("found %d messages before the commit: %w", len(found), err)
			}
			return c.EndTransaction(t.Context(), half, remoting.Commit)
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
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
	c, route := bareClient(t, mq, topic)
	defer c.Close()
	for _, q := range route.Readable() {
		end, err := c.MaxOffset(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		n += end
	}
	return n
}
