// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"errors"
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

// readAll reads a topic from its beginning to the last of the messages that were
// written: a real broker shows them a moment later.
func readAll(t *testing.T, nameServers, topic string, written []WriteResult) []coders.Message {
	t.Helper()
	ends := map[Queue]int64{}
	for _, r := range written {
		q := Queue{r.Topic, r.Broker, int(r.QueueID)}
		ends[q] = max(ends[q], r.QueueOffset+1)
	}
	c := newCollector(t)
	p, s := beam.NewPipelineWithRoot()
	msgs := ReadBounded(s, nameServers, "readers-of-"+topic, []string{topic}, ReadFrom(Earliest()), ReadTo(AtSpecific(ends)), ReadCommitInterval(0))
	beam.ParDo0(s, &collectFn{Test: t.Name()}, msgs)
	if err := start(t, p).wait(t); err != nil {
		t.Fatal(err)
	}
	return c.all()
}

// S05, Y09, X06c: what is written is read back with all that belongs to it, and
// each message has the result that says where it is.
func TestRealMessagesAreReadBackAsTheyWereWritten(t *testing.T) {
	mq := realmqtest.Shared(t)
	topic, _, _ := realTopic(t, mq, 0)
	const n = 1000
	begin := time.Now()
	results, err := write(t, mq.NameServer(), n, func(i int) OutgoingMessage {
		return OutgoingMessage{
			Body: []byte(fmt.Sprint(i)), Tag: "even", Keys: []string{"k1", fmt.Sprint("number-", i)},
			Properties: map[string]string{"colour": "blau 蓝 🔵"},
		}
	}, WriteTopic(topic))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("written in %v", time.Since(begin))
	at := map[string]WriteResult{}
	for _, r := range results {
		if !r.OK() || r.Status != StatusSendOK || r.Repeated {
			t.Fatalf("got %+v, want it stored safely, once", r)
		}
		at[r.UniqueKey] = r
	}
	read := readAll(t, mq.NameServer(), topic, results)
	if len(read) != n || len(bodies(read)) != n || len(at) != n {
		t.Fatalf("%d messages with %d bodies and %d results, want %d each", len(read), len(bodies(read)), len(at), n)
	}
	for _, m := range read {
		if m.Tag != "even" || len(m.Keys) != 2 || m.Keys[0] != "k1" || m.Keys[1] != "number-"+string(m.Body) || m.Properties["colour"] != "blau 蓝 🔵" {
			t.Fatalf("got %+v, want tag, keys and property as written", m)
		}
		r, ok := at[m.UniqueKey]
		if !ok || r.Broker != m.Broker || r.QueueID != m.QueueID || r.QueueOffset != m.QueueOffset || r.MessageID != m.MessageID {
			t.Fatalf("the result says %+v, the message is at %v with id %s", r, m, m.MessageID)
		}
	}
}

// pullAll pulls all queues of a topic, each in order, until n messages came, and
// what else is there by then.
func pullAll(t *testing.T, c *remoting.Client, topic string, n int) (all []remoting.Message) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	route, err := c.Route(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	next := map[remoting.Queue]int64{}
	for pause := time.Duration(0); ; {
		got := 0
		for _, q := range route.Readable() {
			r, err := c.Pull(ctx, remoting.PullRequest{Queue: q, Group: "pulls-of-" + topic, Offset: next[q], Max: 32, Suspend: pause})
			if err != nil && r == nil {
				t.Fatalf("%d of %d messages came: %v", len(all), n, err)
			}
			all, next[q], got, pause = append(all, r.Messages...), max(r.Next, next[q]), got+len(r.Messages), 0
		}
		if got > 0 {
			continue
		}
		if len(all) >= n {
			return all
		}
		pause = 100 * time.Millisecond // of the next pull, if it finds nothing either
	}
}

// Y08, S03: what the limits are on a real broker: our own checks let pass what it
// takes, and what it refuses is named though it shared a request with others.
func TestRealLimits(t *testing.T) {
	mq := realmqtest.Shared(t)
	topic, _, client := realTopic(t, mq, 0)
	cfg := writeConfigOf(t, mq.NameServer(), WriteTopic(topic), WriteBatch(64, 4<<20), WriteLinger(time.Second), WriteSendTimeout(20*time.Second))
	largest := OutgoingMessage{Body: make([]byte, 4<<20), UniqueKey: "A7F00001000000000000000000000000"}
	largest.Properties = map[string]string{"p": strings.Repeat("x", maxPropertiesSize-len("UNIQ_KEY")-34-3)}
	messages := append(many(10, func(i int) OutgoingMessage {
		return OutgoingMessage{Body: make([]byte, 4<<20/10-entryOverhead-len("UNIQ_KEY")-34), Keys: nil}
	}), largest)
	results, err := bundleOf(t, cfg, messages)
	if err != nil || len(results) != 11 {
		t.Fatalf("%d results, %v, want 11", len(results), err)
	}
	if st := sentBy(t, cfg); st.Requests != 2 {
		t.Errorf("%d requests, want one for the ten together and one for the largest", st.Requests)
	}
	if got := pullAll(t, client, topic, 11); len(got) != 11 {
		t.Errorf("%d messages are there, want 11", len(got))
	}
	cfg = writeConfigOf(t, mq.NameServer(), WriteTopic(topic), WriteMaxBody(8<<20), WriteBatch(64, 8<<20), WriteSendTimeout(20*time.Second))
	messages = many(10, numbered)
	messages[5] = OutgoingMessage{Body: make([]byte, 4<<20+1), Keys: []string{"the-bad-one"}}
	_, err = bundleOf(t, cfg, messages)
	if e, ok := errors.AsType[*WriteError](err); !ok || !slices.Contains(e.Keys, "the-bad-one") || e.MaybeStored || e.Stored+e.NotSent+e.Failed != 9 {
		t.Errorf("got %v, want the one that the broker refused", err)
	}
}

// Messages with delays come when they are due, and not before.
func TestRealDelays(t *testing.T) {
	mq := realmqtest.Shared(t)
	topic, _, client := realTopic(t, mq, 0)
	due := time.Now().Add(3 * time.Second)
	results, err := bundleOf(t, writeConfigOf(t, mq.NameServer(), WriteTopic(topic)), []OutgoingMessage{
		{Body: []byte("level"), DelayLevel: 2}, {Body: []byte("instant"), DeliverAt: due}, {Body: []byte("past"), DeliverAt: due.Add(-time.Hour)},
	})
	if err != nil || len(results) != 3 {
		t.Fatalf("%d results, %v, want 3", len(results), err)
	}
	for _, m := range pullAll(t, client, topic, 3) {
		waited := m.Stored.Sub(m.Born)
		want := map[string]time.Duration{"level": 4900 * time.Millisecond, "instant": due.Sub(m.Born) - 1100*time.Millisecond}[string(m.Body)]
		if waited < want || waited > want+5*time.Second {
			t.Errorf("%s was there after %v, want %v or a little more", m.Body, waited, want)
		}
	}
}

// W10, and the same as on the embedded broker: a real one is restarted while
// messages with keys, and then others, are written. All of them are there; keys
// have their order; what is there twice is known to have been repeated.
func TestRealWritesGoOnThroughARestartOfTheBroker(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts and restarts a broker of its own")
	}
	mq := realmqtest.Start(t)
	const keys, each = 64, 1000
	restarting := func(t *testing.T, n int, message func(int) OutgoingMessage) (*remoting.Client, string, map[string]bool) {
		topic, _, client := realTopic(t, mq, 0)
		fn := &writeFn{bundleWriter{Config: writeConfigOf(t, mq.NameServer(), WriteTopic(topic))}}
		if err := fn.Setup(); err != nil {
			t.Fatal(err)
		}
		restarted := make(chan error, 1)
		repeated, results := map[string]bool{}, 0
		emit := func(r WriteResult) {
			if results++; results == n/3 {
				go func() { restarted <- mq.RestartBroker(context.WithoutCancel(t.Context())) }()
			}
			if r.Repeated {
				repeated[r.UniqueKey] = true
			}
		}
		begin := time.Now()
		fn.StartBundle(t.Context(), emit)
		for i := range n {
			if err := processOne(t, fn, message(i), emit); err != nil {
				t.Fatal(err)
			}
		}
		if err := fn.FinishBundle(t.Context(), emit); err != nil {
			t.Fatal(err)
		}
		if err := <-restarted; err != nil {
			t.Fatal(err)
		}
		t.Logf("%d messages in %v, the restart included; %+v", results, time.Since(begin), sentBy(t, fn.Config))
		return client, topic, repeated
	}
	t.Run("ordered", func(t *testing.T) {
		client, topic, _ := restarting(t, keys*each, func(i int) OutgoingMessage {
			return OutgoingMessage{Body: []byte(fmt.Sprint(i / keys)), ShardingKey: fmt.Sprint("key-", i%keys)}
		})
		checkOrder(t, keys, each, func(yield func(key, body string, queue int)) {
			for _, m := range pullAll(t, client, topic, keys*each) {
				yield(m.Properties.Get(remoting.PropertyShardingKey), string(m.Body), m.QueueID)
			}
		})
	})
	t.Run("plain", func(t *testing.T) {
		const n = 100_000
		client, topic, repeated := restarting(t, n, numbered)
		copies, stored := map[string]int{}, map[string]bool{}
		for _, m := range pullAll(t, client, topic, n) {
			stored[string(m.Body)] = true
			if copies[m.UniqueKey()]++; copies[m.UniqueKey()] > 1 && !repeated[m.UniqueKey()] {
				t.Fatalf("message %s is there twice, and its result does not say so", m.Body)
			}
		}
		if len(stored) != n || len(copies) != n {
			t.Errorf("%d messages with %d bodies are there, want %d", len(copies), len(stored), n)
		}
	})
}

// A message that was read is written to another topic, as mirrors do.
func TestRealReadMessagesAreWrittenAgain(t *testing.T) {
	mq := realmqtest.Shared(t)
	from, group, client := realTopic(t, mq, 50)
	pullAll(t, client, from, 50) // a real broker shows them a moment after they were sent
	to := from + "-copy"
	if err := mq.CreateTopic(t.Context(), to, realmq.Normal); err != nil {
		t.Fatal(err)
	}
	out := &results{}
	resultsOf.Store(t.Name(), out)
	t.Cleanup(func() { resultsOf.Delete(t.Name()); writeSessions.CloseIdle() })
	p, s := beam.NewPipelineWithRoot()
	read := ReadBounded(s, mq.NameServer(), group, []string{from}, ReadFrom(Earliest()), ReadTo(AtLatest()))
	beam.ParDo0(s, &resultsFn{Test: t.Name()}, Write(s, mq.NameServer(), read, WriteTopic(to), WriteTag("copied")))
	if err := start(t, p).wait(t); err != nil {
		t.Fatal(err)
	}
	copied := readAll(t, mq.NameServer(), to, out.all)
	if got := bodies(copied); len(got) != len(out.all) || len(out.all) < 50 {
		t.Errorf("%d bodies, %d results, want 50 each", len(got), len(out.all))
	}
	for _, m := range copied {
		if m.Tag != "copied" {
			t.Errorf("got tag %q", m.Tag)
		}
	}
}

// A real broker stores tags and keys of any form. What it stored is copied, also in
// batches.
func TestRealMessagesThatNoConsumerCouldSelectAreWrittenAgain(t *testing.T) {
	mq := realmqtest.Shared(t)
	from, group, client := realTopic(t, mq, 0)
	to := from + "-copy"
	if err := mq.CreateTopic(t.Context(), to, realmq.Normal); err != nil {
		t.Fatal(err)
	}
	route, err := client.Route(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	odd := []map[string]string{{"TAGS": "a|b"}, {"TAGS": " x"}, {"TAGS": "*"}, {"TAGS": "a\tb"}, {"KEYS": "tab\tkey"}, {"UNIQ_KEY": "a, b"}, {"__RMQ.TRANSIENT.x": "1"}}
	for i, p := range odd {
		m := &remoting.OutMessage{Body: []byte(fmt.Sprint(i)), UniqueKey: p["UNIQ_KEY"]}
		delete(p, "UNIQ_KEY")
		if m.Properties, err = remoting.NewProperties(p); err != nil {
			t.Fatal(err)
		}
		if r, err := client.SendV2(t.Context(), route.Writable()[0], "producers", m); err != nil || r.Status != remoting.SendOK {
			t.Fatalf("%v: %v", p, err)
		}
	}
	pullAll(t, client, from, len(odd))
	out := &results{}
	resultsOf.Store(t.Name(), out)
	t.Cleanup(func() { resultsOf.Delete(t.Name()); writeSessions.CloseIdle() })
	p, s := beam.NewPipelineWithRoot()
	read := ReadBounded(s, mq.NameServer(), group, []string{from}, ReadFrom(Earliest()), ReadTo(AtLatest()))
	beam.ParDo0(s, &resultsFn{Test: t.Name()}, Write(s, mq.NameServer(), read, WriteTopic(to)))
	if err := start(t, p).wait(t); err != nil {
		t.Fatal(err)
	}
	copied := map[string]coders.Message{}
	for _, m := range readAll(t, mq.NameServer(), to, out.all) {
		copied[string(m.Body)] = m
	}
	for i, want := range map[string]string{"0": "a|b", "1": " x", "2": "*", "3": "a\tb"} {
		if got := copied[i].Tag; got != want {
			t.Errorf("the copy of %s has tag %q, want %q", i, got, want)
		}
	}
	if len(copied) != len(odd) || !slices.Equal(copied["4"].Keys, []string{"tab\tkey"}) || copied["5"].UniqueKey != "a, b" {
		t.Errorf("%d copies, keys %q, unique key %q", len(copied), copied["4"].Keys, copied["5"].UniqueKey)
	}
}

// A real broker answers SEND_OK, and no consumer of lite topics gets the message.
func TestRealTopicsOfLiteTopicsAreNotWrittenTo(t *testing.T) {
	mq := realmqtest.Shared(t)
	if err := mq.CreateTopic(t.Context(), "write-to-lite", realmq.Lite); err != nil {
		t.Fatal(err)
	}
	_, err := write(t, mq.NameServer(), 3, numbered, WriteTopic("write-to-lite"))
	if err == nil || !strings.Contains(err.Error(), "topic write-to-lite is of type LITE") {
		t.Errorf("got %v", err)
	}
}
