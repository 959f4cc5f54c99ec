// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"fmt"
	"sync"
	"testing"

	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
)

// A broker makes the table of a group's offsets of a topic at the first commit.
// Two first commits at once may each make one, and one of them is lost, though
// both were answered with success (ConsumerOffsetManager.commitOffset, RocketMQ
// 5.5.0). A queue that is committed but once would then never be.
func TestRealFirstCommitsOfAGroupAreAllKept(t *testing.T) {
	const queues, groups, offset = 16, 60, 7
	mq := realmqtest.Shared(t)
	if err := mq.CreateTopic(t.Context(), "FIRST-COMMITS", realmq.Normal, realmq.Queues(queues)); err != nil {
		t.Fatal(err)
	}
	bare, route := bareClient(t, mq, "FIRST-COMMITS")
	defer bare.Close()
	lost := map[bool]int{} // by whether the session committed
	for i := range 2 * groups {
		ours := i%2 == 0
		cfg, err := newReadConfig(mq.NameServer(), fmt.Sprintf("first-commits-%d", i), []string{"FIRST-COMMITS"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := mq.CreateGroup(t.Context(), cfg.Group); err != nil {
			t.Fatal(err)
		}
		s, err := openSession(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for _, q := range route.Readable() {
			all.Go(func() {
				commit := func() error { return s.client.Commit(t.Context(), q, cfg.Group, offset) }
				if ours {
					commit = func() error { return s.commit(t.Context(), Queue{q.Topic, q.Broker, q.ID}, offset) }
				}
				if err := commit(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, q := range route.Readable() {
			if at, _, err := bare.QueryCommitted(t.Context(), q, cfg.Group); err != nil || at != offset {
				lost[ours]++
			}
		}
		s.close()
	}
	t.Logf("of %d commits that were answered with success, bare requests lost %d, the session %d", groups*queues, lost[false], lost[true])
	if lost[true] > 0 {
		t.Errorf("%d commits of the session are lost", lost[true])
	}
}
