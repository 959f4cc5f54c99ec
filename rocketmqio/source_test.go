// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// O10: a single message in an idle queue is emitted once, however often the queue
// is pulled afterwards.
func TestASingleMessageOfAnIdleQueueIsEmittedOnce(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 22, "m")
	b.SetCommitted(testGroup, queueNo(0), 21)
	c := newCollector(t)
	r := start(t, readPipeline(t, b, ReadFrom(Committed(Earliest())), ReadTo(ends(b, 1, 1)), ReadPullTimeout(time.Second)))
	c.await(t, 1)
	before := b.Requests(embedded.RemotingPull)
	if err := b.Wait(t.Context(), func(s embedded.Snapshot) bool { return s.Requests(embedded.RemotingPull) >= before+3 }); err != nil {
		t.Fatal(err)
	}
	publish(b, 0, 1, "end")
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	if got := c.all(); len(got) != 2 || got[0].QueueOffset != 21 || got[1].QueueOffset != 22 {
		t.Errorf("%d messages, want the one at 21 once and the end", len(got))
	}
}

// O08: what comes one by one is emitted at once, and not when a batch is full.
func TestASingleMessageIsNotHeldBack(t *testing.T) {
	b := startBroker(t, 4)
	c := newCollector(t)
	r := start(t, readPipeline(t, b, ReadFrom(Earliest()), ReadTo(ends(b, 4, 5))))
	var took []time.Duration
	for i := range 20 {
		began := time.Now()
		publish(b, i%4, 1, fmt.Sprint(i))
		c.await(t, i+1)
		took = append(took, time.Since(began))
	}
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	slices.Sort(took)
	if median := took[len(took)/2]; median > time.Second {
		t.Errorf("a message took %v in the middle, want less than 1 s", median)
	}
	t.Logf("a message took %v in the middle and %v at most", took[len(took)/2], took[len(took)-1])
}

// N06, Y47: name servers given as a list of which one is dead, and as a host's
// name, do; a source that is idle while they are all away goes on when they are
// back.
func TestNameServersOfAllKinds(t *testing.T) {
	for name, servers := range map[string]func(addr string) string{
		"a list with a dead one": func(addr string) string { return "127.0.0.1:1;" + addr },
		"a host's name": func(addr string) string {
			_, port, err := net.SplitHostPort(addr)
			if err != nil {
				t.Fatal(err)
			}
			return net.JoinHostPort("localhost", port)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t, 2)
			publish(b, 0, 10, "m")
			c := newCollector(t)
			p, s := beam.NewPipelineWithRoot()
			msgs := Read(s, servers(b.NameServer()), testGroup, []string{testTopic},
				quick(ReadFrom(Earliest()), ReadTo(ends(b, 2, 1)), ReadPullTimeout(time.Second), ReadDiscoveryInterval(time.Second))...)
			beam.ParDo0(s, &collectFn{Test: t.Name()}, msgs)
			r := start(t, p)
			c.await(t, 10)
			b.StopNameServer()
			before := b.Requests(embedded.RemotingPull)
			if err := b.Wait(t.Context(), func(s embedded.Snapshot) bool { return s.Requests(embedded.RemotingPull) >= before+4 }); err != nil {
				t.Fatal(err)
			}
			b.ResumeNameServer()
			publish(b, 0, 1, "end")
			publish(b, 1, 1, "end")
			if err := r.wait(t); err != nil {
				t.Fatal(err)
			}
			if n := len(c.all()); n != 12 {
				t.Errorf("%d messages, want 12", n)
			}
		})
	}
}

// O09: a topic that was created a moment ago, which its name server does not know
// yet, is waited for; no assignment by the broker is.
func TestATopicThatWasJustCreatedIsWaitedFor(t *testing.T) {
	b := startBroker(t, 2)
	publish(b, 0, 10, "m")
	for range 3 {
		b.Control(embedded.RemotingRoute, func(context.Context, *embedded.Request) embedded.Reaction {
			return embedded.AnswerRemoting(remoting.CodeTopicNotExist, "No topic route info in name server for the topic: "+testTopic, nil, nil)
		})
	}
	c := newCollector(t)
	if err := start(t, readPipeline(t, b, ReadFrom(Earliest()), ReadTo(AtLatest()))).wait(t); err != nil {
		t.Fatal(err)
	}
	if n := len(c.all()); n != 10 {
		t.Errorf("%d messages, want 10", n)
	}
}

// O09, N03: with an instance namespace the servers see the instance's topic and
// group, and messages have the topic's own name.
func TestATopicOfAnInstance(t *testing.T) {
	const instance = "MQ_INST_1_abc"
	b := startBroker(t, 1)
	b.CreateTopic(instance+"%"+testTopic, 1)
	q := embedded.Queue{Topic: instance + "%" + testTopic}
	for i := range 10 {
		b.PublishTo(q, fmt.Append(nil, i))
	}
	c := newCollector(t)
	if err := start(t, readPipeline(t, b, ReadFrom(Earliest()), ReadTo(AtLatest()), ReadNamespace(instance))).wait(t); err != nil {
		t.Fatal(err)
	}
	if got := c.all(); len(got) != 10 || got[0].Topic != testTopic {
		t.Errorf("%d messages, want 10 of topic %q: %+v", len(got), testTopic, got)
	}
	if at, ok := b.Committed(instance+"%"+testGroup, q); !ok || at != 10 {
		t.Errorf("committed for the instance's group: %d (%v), want 10", at, ok)
	}
}

// X21b, Y19: after the restart of one of two brokers each of 24 queues gets on
// again soon, and those of the other are not held up.
func TestEachQueueGetsOnAfterABrokersRestart(t *testing.T) {
	b := startBroker(t, 12, embedded.WithBrokers("broker-a", "broker-b"))
	brokers := []string{"broker-a", "broker-b"}
	stop := map[Queue]int64{}
	each := func(text string, names ...string) {
		for _, name := range names {
			for id := range 12 {
				b.PublishTo(embedded.Queue{Topic: testTopic, Broker: name, ID: id}, fmt.Appendf(nil, "%s %s %d", text, name, id))
				stop[Queue{testTopic, name, id}] = 3
			}
		}
	}
	each("before", brokers...)
	c := newCollector(t)
	r := start(t, readPipeline(t, b, ReadFrom(Earliest()), ReadTo(AtSpecific(stop))))
	c.await(t, 24)
	b.StopBroker("broker-b")
	each("while it is away", "broker-a")
	c.await(t, 36)
	b.ResumeBroker("broker-b")
	each("while it was away", "broker-b")
	began := time.Now()
	c.await(t, 48)
	each("after", brokers...)
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d > 30*time.Second {
		t.Errorf("it took %v until all queues had got on", d)
	}
	if got := bodies(c.all()); len(got) != 72 || len(c.all()) != 72 {
		t.Errorf("%d messages with %d bodies, want 72 and 72", len(c.all()), len(got))
	}
}

// L38, N10, X22d: queues of one source that are read at the same time, as on a
// runner with several workers in a process, beside commits and questions about
// sizes. It is for the race detector.
func TestManyUsersOfOneSession(t *testing.T) {
	b := startBroker(t, 8)
	const each = 200
	for id := range 8 {
		publish(b, id, each, "m")
	}
	cfg := testConfig(t, b, ReadFrom(Earliest()), ReadThresholds(20, 100))
	var all sync.WaitGroup
	for id := range 8 {
		q := Queue{testTopic, "broker-a", id}
		all.Go(func() {
			got := callUntil(t, cfg, q, offsetRange{0, each}, each)
			for i, m := range got.messages {
				if m.QueueOffset != int64(i) || m.QueueID != int32(id) {
					t.Errorf("queue %d: message %d is that of queue %d at %d", id, i, m.QueueID, m.QueueOffset)
					return
				}
			}
			ctx := beamContext(t)
			commit := &commitFn{Config: cfg}
			commit.StartBundle(ctx, nil)
			for _, p := range got.commits {
				_ = commit.ProcessElement(ctx, p, nil)
			}
			if err := commit.FinishBundle(ctx, nil); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			fn := &readFn{queueSource{Config: cfg}}
			for range 1000 {
				if size := fn.RestrictionSize(assignment{Queue: q}, offsetRange{0, each}); size < 0 || size > each {
					t.Errorf("size %v", size)
					return
				}
			}
		})
	}
	all.Wait()
	for id := range 8 {
		if at, _ := b.Committed(testGroup, queueNo(id)); at != each {
			t.Errorf("queue %d: committed %d, want %d", id, at, each)
		}
	}
}

// A message of many megabytes comes through, and a log never has its body (N10).
func TestALargeMessageComesThrough(t *testing.T) {
	b := startBroker(t, 1)
	body := strings.Repeat("0123456789abcdef", 3<<20/16)
	b.PublishTo(queueNo(0), []byte(body))
	b.PublishTo(queueNo(0), []byte("small"))
	c := newCollector(t)
	if err := start(t, readPipeline(t, b, ReadFrom(Earliest()), ReadTo(AtLatest()))).wait(t); err != nil {
		t.Fatal(err)
	}
	if got := c.all(); len(got) != 2 || string(got[0].Body) != body || string(got[1].Body) != "small" {
		t.Errorf("%d messages, or another body than the one sent", len(got))
	}
}
