// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// realQueueState is a topic of one queue in some state.
type realQueueState struct {
	topic    string
	min, max int64
	commit   int64 // what a group that is known has committed
}

// The cells of the table of starts that a real broker can be put into: all states
// of a queue, and groups that are new or known. A broker that fails to say what a
// group has committed, once or for ever, is the embedded broker's (O05, O11, O19,
// O21, X11a, Y20). Old messages are made to go by removing files of the commit log
// while the broker is stopped.
func TestRealTheFirstOffsetOfEachStartInEachState(t *testing.T) {
	const fileSize = 1 << 20
	mq := realmqtest.Start(t, realmq.BrokerProperty("mappedFileSizeCommitLog", fmt.Sprint(fileSize)))
	client, err := remoting.NewClient(remoting.Config{NameServers: mq.NameServer()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	queue := func(topic string) remoting.Queue { return remoting.Queue{Topic: topic, Broker: "broker-a"} }
	send := func(topic string, n, size int) {
		t.Helper()
		for range n {
			if _, err := client.Send(t.Context(), queue(topic), "producers", &remoting.OutMessage{Body: make([]byte, size)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	states := map[string]*realQueueState{
		"an empty queue": {topic: "empty"}, "a fresh queue": {topic: "fresh", commit: 4},
		"committed ahead of the end": {topic: "ahead", commit: 25},
		"an expired head":            {topic: "expired"}, "trimmed below what was committed": {topic: "trimmed"},
	}
	for _, q := range states {
		if err := mq.CreateTopic(t.Context(), q.topic, realmq.Normal, realmq.Queues(1)); err != nil {
			t.Fatal(err)
		}
	}
	// Each fills a file and a half before the others fill theirs.
	for _, topic := range []string{"expired", "trimmed"} {
		send(topic, 6, 256<<10)
	}
	send("ahead", 10, 10)
	for _, topic := range []string{"expired", "trimmed"} {
		send(topic, 6, 256<<10)
	}
	if err := mq.DropOldestMessages(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	send("fresh", 10, 10)
	for name, q := range states {
		b, err := boundsOf(t.Context(), client, queue(q.topic))
		if err != nil {
			t.Fatal(err)
		}
		q.min, q.max = b.min, b.max
		switch q.topic {
		case "expired":
			q.commit = q.max - 1
		case "trimmed":
			q.commit = q.min - 1
		}
		t.Logf("%s holds %d to %d, a known group has committed %d", name, q.min, q.max, q.commit)
	}
	for _, topic := range []string{"an expired head", "trimmed below what was committed"} {
		if q := states[topic]; q.min < 2 || q.max != 12 {
			t.Fatalf("%s holds %d to %d: its head was not removed", topic, q.min, q.max)
		}
	}
	starts := func(topic string) map[string]Start {
		return map[string]Start{
			"earliest": Earliest(), "latest": Latest(), "committed": Committed(Earliest()),
			"timestamp at the epoch": Timestamp(time.UnixMilli(1)), "timestamp in the future": Timestamp(time.Now().Add(time.Hour)),
			"specific 5": Specific(map[Queue]int64{{topic, "broker-a", 0}: 5}, Earliest()),
		}
	}
	for name, q := range states {
		for _, known := range []bool{false, true} {
			group := fmt.Sprintf("%s-%v", q.topic, known)
			if err := mq.CreateGroup(t.Context(), group); err != nil {
				t.Fatal(err)
			}
			if known {
				if err := client.Commit(t.Context(), queue(q.topic), group, q.commit); err != nil {
					t.Fatal(err)
				}
			}
			for mode, from := range starts(q.topic) {
				t.Run(fmt.Sprintf("%s/%s/group known %v", mode, name, known), func(t *testing.T) {
					want, fault := wantStart(mode, q.min, q.max, q.commit, known, false)
					checkRealStart(t, mq, group, q.topic, from, want, fault)
				})
			}
		}
	}
	t.Run("a trimmed queue is read from its head", func(t *testing.T) {
		q := states["trimmed below what was committed"]
		opts := []ReadOption{ReadFrom(Committed(Earliest())), ReadTo(AtLatest()), ReadOutOfRange(SkipToEarliest), ReadCommitInterval(0)}
		got := realRead(t, mq, "trimmed-true", "trimmed", opts...)
		if len(got) != int(q.max-q.min) || got[0].QueueOffset != q.min {
			t.Errorf("%d messages, want %d from %d", len(got), q.max-q.min, q.min)
		}
	})
	t.Run("a position that was trimmed while it was kept follows the policy", func(t *testing.T) { // O11, O14
		q := states["an expired head"]
		for policy, want := range map[OutOfRange]int64{SkipToEarliest: q.max - q.min, SkipToLatest: 0} {
			cfg, err := newReadConfig(mq.NameServer(), "expired-true", []string{"expired"}, quick(ReadOutOfRange(policy)))
			if err != nil {
				t.Fatal(err)
			}
			s, err := openSession(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.close)
			r := s.readerAt(Queue{"expired", "broker-a", 0}, 0, q.max)
			eventually(t, s, "the end is reached", func() bool { return r.next() >= q.max })
			n := int64(0)
			for reached := int64(0); reached < q.max; {
				messages, to := r.take(100)
				n, reached = n+int64(len(messages)), to
			}
			if n != want || r.verdict() != nil {
				t.Errorf("policy %s: %d messages, want %d; %v", policy, n, want, r.verdict())
			}
		}
	})
}

// checkRealStart wants one first offset, or an error with a part of a text.
func checkRealStart(t *testing.T, mq *realmq.Cluster, group, topic string, from Start, want int64, fault string) {
	t.Helper()
	cfg, err := newReadConfig(mq.NameServer(), group, []string{topic}, quick(ReadFrom(from)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := openSession(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	got, err := s.discover(t.Context(), discovery{First: true})
	switch {
	case fault != "":
		if err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("got %v and error %v, want an error with %q", got, err, fault)
		}
	case err != nil || len(got) != 1 || got[0].Start != want:
		t.Errorf("got %+v, %v, want a start of %d", got, err, want)
	}
}
