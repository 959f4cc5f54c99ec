// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// What other connectors do wrong in reading, on the real broker. The bounded read
// from earliest to latest is in real_test.go.

// realRead reads a topic to its end and returns what came, in order of offset.
func realRead(t *testing.T, mq *realmq.Cluster, group, topic string, opts ...ReadOption) []coders.Message {
	t.Helper()
	c := newCollector(t)
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &collectFn{Test: t.Name()}, Read(s, mq.NameServer(), group, []string{topic}, append(quick(), opts...)...))
	if err := start(t, p).wait(t); err != nil {
		t.Fatal(err)
	}
	got := c.all()
	slices.SortFunc(got, func(a, b coders.Message) int { return int(a.QueueOffset - b.QueueOffset) })
	return got
}

func offsetsOf(ms []coders.Message) (out []int64) {
	for _, m := range ms {
		out = append(out, m.QueueOffset)
	}
	return out
}

func span(from, to int64) (out []int64) {
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}

// realQueue makes a topic with one queue and sends n messages with these tags in
// turn.
func realQueue(t *testing.T, mq *realmq.Cluster, n int, tags ...string) (topic, group string, q remoting.Queue, c *remoting.Client) {
	t.Helper()
	topic = strings.NewReplacer("/", "-", "_", "-").Replace(t.Name())
	group = "g-" + topic
	if err := mq.CreateTopic(t.Context(), topic, realmq.Normal, realmq.Queues(1)); err != nil {
		t.Fatal(err)
	}
	if err := mq.CreateGroup(t.Context(), group); err != nil {
		t.Fatal(err)
	}
	c, err := remoting.NewClient(remoting.Config{NameServers: mq.NameServer()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	q = remoting.Queue{Topic: topic, Broker: "broker-a"}
	for i := range n {
		m := &remoting.OutMessage{Body: fmt.Append(nil, i)}
		if len(tags) > 0 {
			m.Properties = remoting.PropertiesOf(remoting.PropertyTags, tags[i%len(tags)])
		}
		if _, err := c.Send(t.Context(), q, "producers", m); err != nil {
			t.Fatal(err)
		}
	}
	return topic, group, q, c
}

func TestRealStopAndStartPositionsAreComparedWithMessages(t *testing.T) {
	mq := realmqtest.Shared(t)
	topic, group, q, client := realQueue(t, mq, 100)
	all := realRead(t, mq, group, topic, ReadFrom(Earliest()), ReadTo(AtLatest()))
	if got := offsetsOf(all); !slices.Equal(got, span(0, 100)) {
		t.Fatalf("all: %v", got)
	}
	named := func(at int64) map[Queue]int64 { return map[Queue]int64{queueOf(q): at} }
	// The store time of a message in the middle, and the first that has it.
	at := all[60].StoreTime
	first := int64(slices.IndexFunc(all, func(m coders.Message) bool { return !m.StoreTime.Before(at) }))
	if err := client.Commit(t.Context(), q, group, 90); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		from Start
		to   End
		want []int64
	}{
		"a stop offset":                       {Earliest(), AtSpecific(named(37)), span(0, 37)},
		"a start and a stop offset":           {Specific(named(20), Earliest()), AtSpecific(named(37)), span(20, 37)},
		"a stop time, exclusive":              {Earliest(), AtTimestamp(at), span(0, first)},
		"a start time":                        {Timestamp(at), AtLatest(), span(first, 100)}, // O17
		"a start at the epoch":                {Timestamp(time.UnixMilli(1)), AtLatest(), span(0, 100)},
		"a start in the future":               {Timestamp(time.Now().Add(time.Hour)), AtLatest(), nil}, // O19
		"the committed offset":                {Committed(Earliest()), AtLatest(), span(90, 100)},
		"a stop before the committed offset":  {Committed(Earliest()), AtSpecific(named(50)), nil},
		"a stop time after the last of these": {Earliest(), AtTimestamp(time.Now().Add(time.Hour)), span(0, 100)},
	} {
		t.Run(name, func(t *testing.T) {
			opts := []ReadOption{ReadFrom(c.from), ReadTo(c.to), ReadCommitInterval(0)}
			if got := offsetsOf(realRead(t, mq, group, topic, opts...)); !slices.Equal(got, c.want) {
				t.Errorf("got %d messages %v, want %d", len(got), got, len(c.want))
			}
		})
	}
}

// A start time in the future is no silent run for ever: what comes is read.
func TestRealAStartInTheFutureReadsWhatComes(t *testing.T) {
	mq := realmqtest.Shared(t)
	topic, group, q, client := realQueue(t, mq, 10)
	c := newCollector(t)
	p, s := beam.NewPipelineWithRoot()
	opts := quick(ReadFrom(Timestamp(time.Now().Add(time.Hour))), ReadTo(AtSpecific(map[Queue]int64{queueOf(q): 15})))
	beam.ParDo0(s, &collectFn{Test: t.Name()}, Read(s, mq.NameServer(), group, []string{topic}, opts...))
	r := start(t, p)
	awaitCommitted(t, client, q, group, 10)
	for i := range 5 {
		if _, err := client.Send(t.Context(), q, "producers", &remoting.OutMessage{Body: fmt.Append(nil, "new", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	if got := offsetsOf(c.all()); !slices.Equal(got, span(10, 15)) {
		t.Errorf("got %v, want 10 to 14", got)
	}
}

// awaitCommitted waits until the group has committed an offset.
func awaitCommitted(t *testing.T, c *remoting.Client, q remoting.Queue, group string, want int64) {
	t.Helper()
	timeout := time.After(30 * time.Second)
	for {
		at, found, err := c.QueryCommitted(t.Context(), q, group)
		if err == nil && found && at == want {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-timeout:
			t.Fatalf("committed %d (%v, %v), want %d", at, found, err, want)
		}
	}
}

// F03: the filter is that of each request; two groups get each their own.
func TestRealATagFilterSelects(t *testing.T) {
	mq := realmqtest.Shared(t)
	topic, group, q, client := realQueue(t, mq, 90, "a", "b", "c")
	for name, c := range map[string]struct {
		tags []string
		want int
	}{
		"two tags": {[]string{"a", "b"}, 60},
		"one tag":  {[]string{"c"}, 30},
		"no match": {[]string{"d"}, 0}, // O26
	} {
		t.Run(name, func(t *testing.T) {
			own := fmt.Sprintf("%s-%d", group, c.want)
			if err := mq.CreateGroup(t.Context(), own); err != nil {
				t.Fatal(err)
			}
			got := realRead(t, mq, own, topic, ReadFrom(Earliest()), ReadTo(AtLatest()), ReadTags(c.tags...))
			for _, m := range got {
				if !slices.Contains(c.tags, m.Tag) {
					t.Errorf("offset %d arrived with tag %q", m.QueueOffset, m.Tag)
				}
			}
			if len(got) != c.want {
				t.Errorf("%d messages, want %d", len(got), c.want)
			}
			awaitCommitted(t, client, q, own, 90)
		})
	}
}

func TestRealAMissingTopicIsAnErrorSoon(t *testing.T) {
	mq := realmqtest.Shared(t)
	p, s := beam.NewPipelineWithRoot()
	Read(s, mq.NameServer(), "g-missing", []string{"there-is-no-such-topic"})
	began := time.Now()
	err := start(t, p).wait(t)
	if err == nil || !strings.Contains(err.Error(), "there-is-no-such-topic") {
		t.Errorf("got %v, want an error that names the topic", err)
	}
	if d := time.Since(began); d > 12*time.Second {
		t.Errorf("it took %v", d)
	}
}

// O09, autoCreateSubscriptionGroup: a group nobody created is read with, and has
// its offsets.
func TestRealAGroupThatNobodyCreated(t *testing.T) {
	mq := realmqtest.Shared(t)
	topic, _, q, client := realQueue(t, mq, 10)
	if got := realRead(t, mq, "g-out-of-thin-air", topic, ReadFrom(Committed(Earliest())), ReadTo(AtLatest())); len(got) != 10 {
		t.Errorf("%d messages, want 10", len(got))
	}
	awaitCommitted(t, client, q, "g-out-of-thin-air", 10)
}

func TestRealBatchSizeAndThresholdsTakeEffect(t *testing.T) {
	mq := realmqtest.Shared(t)
	topic, group, q, _ := realQueue(t, mq, 100)
	cfg, err := newReadConfig(mq.NameServer(), group, []string{topic}, quick(ReadPullBatchSize(6), ReadThresholds(18, 18)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := openSession(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	r := s.readerAt(queueOf(q), 0, 100)
	// With batches of another size it would stop elsewhere.
	for taken := 0; taken < 90; taken += 18 {
		eventually(t, s, "the limit is reached", func() bool { return r.next() >= int64(taken+18) })
		ready := 0
		for {
			messages, _ := r.take(100)
			if len(messages) == 0 {
				break
			}
			ready += len(messages)
		}
		if ready != 18 {
			t.Fatalf("%d messages are ready, want 3 pulls of 6", ready)
		}
	}
}

// Queues that are idle, whose pulls wait at the broker, do not hold up one that is
// not: messages come through at once.
func TestRealIdleQueuesDoNotHoldUpTheOthers(t *testing.T) {
	mq := realmqtest.Shared(t)
	topic, group, client := realTopic(t, mq, 0)
	c := newCollector(t)
	p, s := beam.NewPipelineWithRoot()
	busy := remoting.Queue{Topic: topic, Broker: "broker-a", ID: 3}
	ends := map[Queue]int64{}
	for id := range 8 {
		ends[Queue{topic, "broker-a", id}] = 1
	}
	ends[queueOf(busy)] = 20
	opts := quick(ReadFrom(Earliest()), ReadTo(AtSpecific(ends)), ReadPullTimeout(20*time.Second))
	beam.ParDo0(s, &collectFn{Test: t.Name()}, Read(s, mq.NameServer(), group, []string{topic}, opts...))
	r := start(t, p)
	send := func(q remoting.Queue) {
		t.Helper()
		if _, err := client.Send(t.Context(), q, "producers", &remoting.OutMessage{Body: []byte("x")}); err != nil {
			t.Fatal(err)
		}
	}
	var took []time.Duration
	for i := range 20 {
		began := time.Now()
		send(busy)
		c.await(t, i+1)
		took = append(took, time.Since(began))
	}
	t.Logf("beside 7 idle queues messages took %v", took)
	slices.Sort(took)
	if median := took[10]; median > time.Second {
		t.Errorf("a message took %v in the middle beside idle queues", median)
	}
	for id := range 8 {
		if id != busy.ID {
			send(remoting.Queue{Topic: topic, Broker: "broker-a", ID: id})
		}
	}
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
}
