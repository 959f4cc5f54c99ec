// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// B23, P04: messages are acked by the pipeline's own last step, and only there.
func TestReadAndAckOnPrism(t *testing.T) {
	b := startBroker(t)
	c := newCollector(t)
	for i := range 100 {
		b.Publish(testTopic, fmt.Sprintf("s-%d", i%20), []byte(fmt.Sprint(i)))
	}
	r := start(t, readAndAck(t, b, ReadMaxRecords(100), ReadMaxDuration(30*time.Second), ReadFetchConcurrency(4)))
	r.succeed(t)
	if got := bodies(c.all()); len(got) != 100 || len(c.all()) != 100 {
		t.Errorf("%d messages with %d bodies, want 100 and 100", len(c.all()), len(got))
	}
	if n := b.Pending(testTopic); n != 0 {
		t.Errorf("%d messages are not acked", n)
	}
	if n := r.counter("emitted"); n != 100 {
		t.Errorf("counter emitted: %d, want 100", n)
	}
}

// L42: a proxy takes a hundred polls of a client at once. Two hundred shards of one
// process share a client, and poll no more than one shard does.
func TestManyShardsPollAsOne(t *testing.T) {
	const shards, polls, messages = 200, 3, 400
	b := startBroker(t)
	c := newCollector(t)
	r := start(t, readAndAck(t, b, ReadShards(shards), ReadFetchConcurrency(polls), ReadMaxRecords(messages), ReadMaxDuration(40*time.Second)))
	most := 0
	err := b.Wait(t.Context(), func(s embedded.Snapshot) bool {
		most = max(most, s.LongPolls(testGroup))
		return most >= polls
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range messages {
		b.Publish(testTopic, fmt.Sprintf("s-%d", i%50), []byte(fmt.Sprint(i)))
	}
	err = b.Wait(t.Context(), func(s embedded.Snapshot) bool {
		most = max(most, s.LongPolls(testGroup))
		return len(bodies(c.all())) == messages && b.Pending(testTopic) == 0
	})
	if err != nil {
		t.Fatal(err)
	}
	subscribed := 0
	for _, s := range b.Sessions() {
		if s.Subscribed {
			subscribed++
		}
	}
	if most != polls || subscribed != 1 {
		t.Errorf("%d polls at once by %d subscribed clients, want %d by one", most, subscribed, polls)
	}
	r.succeed(t)
}

// B01: a source that is empty at first must not hold the pipeline's watermark,
// and L01: a lite topic made after the start must be seen.
func TestMessagesOfLiteTopicsMadeLaterArrive(t *testing.T) {
	b := startBroker(t)
	c := newCollector(t)
	r := start(t, readAndAck(t, b, ReadMaxRecords(5), ReadMaxDuration(30*time.Second)))
	if err := b.Wait(t.Context(), func(embedded.Snapshot) bool { return b.LongPolls(testGroup) > 0 }); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		b.Publish(testTopic, fmt.Sprintf("new-%d", i), []byte(fmt.Sprint(i)))
	}
	r.succeed(t)
	if got := bodies(c.all()); len(got) != 5 {
		t.Errorf("got %v", got)
	}
}

// L45: what a lite topic holds is emitted in its order. L02: acking at once,
// while more is being received, loses nothing.
func TestTheOrderOfALiteTopicIsKept(t *testing.T) {
	b := startBroker(t)
	c := newCollector(t)
	for i := range 60 {
		b.Publish(testTopic, fmt.Sprintf("s-%d", i%2), []byte(fmt.Sprintf("%03d", i/2)))
	}
	start(t, readAndAck(t, b, ReadMaxRecords(60), ReadMaxMessageNum(4), ReadFetchConcurrency(3), ReadMaxDuration(30*time.Second))).succeed(t)
	last := map[string]string{}
	for _, m := range c.all() {
		if got := string(m.Body); got <= last[m.LiteTopic()] && last[m.LiteTopic()] != "" {
			t.Errorf("%s: %s after %s", m.LiteTopic(), got, last[m.LiteTopic()])
		}
		last[m.LiteTopic()] = string(m.Body)
	}
	if len(c.all()) != 60 {
		t.Errorf("%d messages, want 60", len(c.all()))
	}
}

// L22: what is not acked comes again, with a higher attempt.
func TestAnUnackedMessageComesAgain(t *testing.T) {
	b := startBroker(t)
	c := newCollector(t)
	id := b.Publish(testTopic, "s", []byte("x"))
	b.Control(embedded.AckMessage, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		return embedded.Answer(&v2.AckMessageResponse{Status: &v2.Status{Code: v2.Code_OK}, Entries: []*v2.AckMessageResultEntry{{
			MessageId: id, ReceiptHandle: r.Message.(*v2.AckMessageRequest).GetEntries()[0].GetReceiptHandle(), Status: &v2.Status{Code: v2.Code_OK},
		}}}) // a broker that forgets an ack
	})
	r := start(t, readAndAck(t, b, ReadMaxRecords(2), ReadMaxDuration(30*time.Second)))
	c.await(t, 1)
	b.ExpireLeases()
	r.succeed(t)
	got := c.all()
	if len(got) != 2 || got[0].Handle.DeliveryAttempt != 1 || got[1].Handle.DeliveryAttempt < 2 || got[0].Handle.MessageID != got[1].Handle.MessageID {
		t.Errorf("got %v", got)
	}
	if n := r.counter("redelivered"); n != 1 {
		t.Errorf("counter redelivered: %d, want 1", n)
	}
}

// L31, L32: the source goes on after a proxy has restarted, also when it was
// busy, and loses nothing.
func TestTheSourceGoesOnAfterAProxyRestart(t *testing.T) {
	b := startBroker(t)
	c := newCollector(t)
	r := start(t, readAndAck(t, b, ReadMaxDuration(40*time.Second), ReadIdleTimeout(6*time.Second)))
	for round := range 3 {
		for i := range 20 {
			b.Publish(testTopic, fmt.Sprintf("s-%d", i), []byte(fmt.Sprintf("%d/%d", round, i)))
		}
		c.await(t, 20*round+10)
		b.Restart()
	}
	c.await(t, 60)
	r.succeed(t)
	if got := bodies(c.all()); len(got) != 60 {
		t.Errorf("%d bodies, want 60", len(got))
	}
	if n := b.Pending(testTopic); n != 0 {
		t.Errorf("%d messages are not acked", n)
	}
	if r.counter("reconnects") == 0 {
		t.Error("no reconnect was counted")
	}
}

// L46: an answer that got lost only delays its messages.
func TestALostAnswerOnlyDelaysItsMessages(t *testing.T) {
	b := startBroker(t)
	c := newCollector(t)
	b.Control(embedded.ReceiveMessage, func(context.Context, *embedded.Request) embedded.Reaction { return embedded.LoseReply() })
	b.Publish(testTopic, "s", []byte("x"))
	r := start(t, readAndAck(t, b, ReadMaxRecords(1), ReadMaxDuration(40*time.Second)))
	if err := b.Wait(t.Context(), func(embedded.Snapshot) bool { return len(b.Messages(testTopic)[0].Deliveries) > 0 }); err != nil {
		t.Fatal(err)
	}
	b.ExpireLeases()
	r.succeed(t)
	if got := c.all(); len(got) != 1 || string(got[0].Body) != "x" {
		t.Errorf("got %v", got)
	}
}

// X02, X06b, X09: a failure that cannot pass fails the pipeline soon, with the
// name of what is wrong, and the proxy is not stormed meanwhile.
func TestAPermanentFailureWhileRunningFailsThePipeline(t *testing.T) {
	b := startBroker(t)
	b.ControlAlways(embedded.ReceiveMessage, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.Answer(&v2.ReceiveMessageResponse{Content: &v2.ReceiveMessageResponse_Status{
			Status: &v2.Status{Code: v2.Code_ILLEGAL_CONSUMER_GROUP, Message: "no longer"}}})
	})
	begin := time.Now()
	err := start(t, readAndAck(t, b, ReadMaxDuration(50*time.Second))).wait(t)
	if err == nil || !strings.Contains(err.Error(), testGroup) || !strings.Contains(err.Error(), "lite.sub.wildcard") {
		t.Errorf("got %v", err)
	}
	if d, n := time.Since(begin), b.Requests(embedded.ReceiveMessage); d > 20*time.Second || n > 10 {
		t.Errorf("it took %v and %d polls", d, n)
	}
}

// Each is an error within ten seconds of the start, not a hang.
func TestAStartThatCannotSucceedFailsThePipelineSoon(t *testing.T) {
	b := startBroker(t, embedded.WithLiteGroup("plain", testTopic))
	for name, c := range map[string]struct{ endpoints, topic, group, want string }{
		"nobody listens":        {"127.0.0.1:1", testTopic, testGroup, "check the endpoints"},
		"no such topic":         {b.Endpoints(), "nowhere", testGroup, "nowhere"},
		"no wildcard attribute": {b.Endpoints(), testTopic, "plain", "lite.sub.wildcard=true"}, // X01
	} {
		t.Run(name, func(t *testing.T) {
			p, s := beam.NewPipelineWithRoot()
			Read(s, c.endpoints, c.topic, c.group)
			begin := time.Now()
			err := start(t, p).wait(t)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			if d := time.Since(begin); d > 10*time.Second {
				t.Errorf("it took %v", d)
			}
		})
	}
}

// L25: a compressed body arrives as it was; a damaged one is not emitted, is
// counted, and holds up nobody else.
func TestCompressedAndDamagedBodies(t *testing.T) {
	b := startBroker(t)
	c := newCollector(t)
	body := bytes.Repeat([]byte("a"), 5<<20)
	b.Publish(testTopic, "big", body, embedded.PublishCompressed(embedded.Zlib))
	b.Publish(testTopic, "bad", []byte("damaged"), embedded.PublishWrongDigest(embedded.DigestCRC32))
	b.Publish(testTopic, "good", []byte("good"))
	r := start(t, readAndAck(t, b, ReadMaxRecords(2), ReadMaxDuration(30*time.Second)))
	r.succeed(t)
	for _, m := range c.all() {
		if m.LiteTopic() == "bad" || m.LiteTopic() == "big" && !bytes.Equal(m.Body, body) {
			t.Errorf("%s arrived with %d bytes", m.LiteTopic(), len(m.Body))
		}
	}
	if r.counter("dropped_corrupt") == 0 {
		t.Error("the damaged body was not counted")
	}
}

// A delivery that nobody could settle is counted and not emitted: the others,
// also those that came with it, are worked on and acked. One whose times are
// far from ours is like any other.
func TestADeliveryWithoutAHandleHoldsUpNobody(t *testing.T) {
	b := startBroker(t)
	c := newCollector(t)
	deliver := func(id string, handle *string, at time.Time) *v2.ReceiveMessageResponse {
		m := &v2.Message{
			Topic: &v2.Resource{Name: testTopic}, Body: []byte(id),
			SystemProperties: &v2.SystemProperties{
				MessageId: id, ReceiptHandle: handle, LiteTopic: new("lite"), DeliveryAttempt: new(int32(1)),
				BornTimestamp: timestamppb.New(at), StoreTimestamp: timestamppb.New(at), InvisibleDuration: &durationpb.Duration{Seconds: 1 << 60},
			},
		}
		return &v2.ReceiveMessageResponse{Content: &v2.ReceiveMessageResponse_Message{Message: m}}
	}
	b.Control(embedded.ReceiveMessage, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.Answer(
			deliver("far", new("handle"), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)),
			deliver("odd", nil, time.Now()), deliver("old", new("handle"), time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC)))
	})
	p, s := beam.NewPipelineWithRoot()
	msgs := Read(s, b.Endpoints(), testTopic, testGroup, ReadRequestTimeout(time.Second), ReadMaxRecords(2), ReadMaxDuration(30*time.Second))
	beam.ParDo0(s, &discardFn{}, ackfn.Ack(s, beam.Reshuffle(s, beam.ParDo(s, &tapFn{Test: t.Name()}, msgs))))
	r := start(t, p)
	r.succeed(t)
	for _, m := range c.all() {
		if id := m.Handle.MessageID; id != "far" && id != "old" {
			t.Errorf("%q was emitted", id)
		}
	}
	if len(c.all()) != 2 || r.counter("dropped_corrupt") != 1 {
		t.Errorf("%d messages emitted, %d counted as corrupt; want 2 and 1", len(c.all()), r.counter("dropped_corrupt"))
	}
}

// What was received and not emitted is handed back when the source ends, so
// that others need not wait for the end of its lease; X22e: the proxy is told.
func TestWhatWasNotEmittedIsHandedBack(t *testing.T) {
	b := startBroker(t)
	for i := range 20 {
		b.Publish(testTopic, fmt.Sprintf("s-%d", i), []byte(fmt.Sprint(i)))
	}
	newCollector(t)
	start(t, readAndAck(t, b, ReadMaxRecords(5), ReadMaxDuration(30*time.Second))).succeed(t)
	Shutdown()
	c := newCollector(t)
	start(t, readAndAck(t, b, ReadMaxRecords(15), ReadMaxDuration(8*time.Second))).succeed(t) // the lease is 60 s
	if got := len(c.all()); got != 15 {
		t.Errorf("%d of 15 came again in time", got)
	}
	for _, m := range c.all() {
		if m.Handle.DeliveryAttempt > 2 {
			t.Errorf("attempt %d of %s", m.Handle.DeliveryAttempt, m.Handle)
		}
	}
	if n := b.Requests(embedded.NotifyClientTermination); n == 0 {
		t.Error("no client said goodbye")
	}
}

// With a renewal policy a message is kept while it waits, and travels with the
// handle that counts (L28: renewing names the lite topic, or the broker would
// refuse it).
func TestRenewalKeepsWhatWaitsInTheQueue(t *testing.T) {
	b := startBroker(t)
	cfg, err := newReadConfig(b.Endpoints(), testTopic, testGroup, []ReadOption{
		ReadInvisibleDuration(10 * time.Second), ReadRenewal(RenewWhileQueued), ReadRenewalAhead(9500 * time.Millisecond),
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := openFetcher(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	for i := range 3 {
		b.Publish(testTopic, fmt.Sprintf("s-%d", i), []byte("x"))
	}
	allRenewed := func() bool {
		return f.stats.renewed.Load() >= 3 && !slices.ContainsFunc(f.queue.waiting, func(w waiting) bool { return w.renewing })
	}
	if !f.queue.await(deadline(t, 15*time.Second), allRenewed) {
		t.Fatal("nothing was renewed")
	}
	got, _ := f.queue.takeAll(time.Now(), 9)
	if len(got) != 3 {
		t.Errorf("%d messages left the queue, want 3", len(got))
	}
	for _, w := range got {
		m, _ := b.Message(w.Handle.MessageID)
		if w.renewed == 0 || m.Deferrals[len(m.Deferrals)-1].Handle != w.Handle.Handle {
			t.Errorf("%s left with an old handle", w.Handle)
		}
	}
}

func deadline(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
