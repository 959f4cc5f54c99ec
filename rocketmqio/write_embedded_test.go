// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// storedBodies counts how often each body is stored in a topic.
func storedBodies(b *embedded.Broker, topic string) map[string]int {
	out := map[string]int{}
	for _, m := range b.Messages(topic) {
		out[string(m.Body)]++
	}
	return out
}

// once checks that n numbered messages are stored once each.
func once(t *testing.T, b *embedded.Broker, n int) {
	t.Helper()
	stored := storedBodies(b, testTopic)
	for i := range n {
		if stored[fmt.Sprint(i)] != 1 {
			t.Fatalf("message %d is stored %d times, %d of %d are there", i, stored[fmt.Sprint(i)], len(stored), n)
		}
	}
}

// both sets a control on single sends and on batches.
func both(b *embedded.Broker, fn embedded.ControlFunc) (remove func()) {
	one, two := b.ControlAlways(embedded.RemotingSend, fn), b.ControlAlways(embedded.RemotingSendBatch, fn)
	return func() { one(); two() }
}

// firstSends reacts to the first n sends, and lets the others pass.
func firstSends(b *embedded.Broker, n int, reaction embedded.Reaction) {
	var mu sync.Mutex
	both(b, func(context.Context, *embedded.Request) embedded.Reaction {
		mu.Lock()
		defer mu.Unlock()
		if n--; n >= 0 {
			return reaction
		}
		return embedded.Pass()
	})
}

var busy = embedded.AnswerRemoting(remoting.CodeSystemBusy, "[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 208ms, size of queue: 8", nil, nil)

func TestAPipelineWritesAllAndHasAResultForEach(t *testing.T) {
	b := startBroker(t, 4)
	results, err := write(t, b.NameServer(), 1000, numbered, WriteTopic(testTopic))
	if err != nil {
		t.Fatal(err)
	}
	once(t, b, 1000)
	if len(results) != 1000 {
		t.Errorf("%d results, want 1000", len(results))
	}
	if batches := b.Requests(embedded.RemotingSendBatch); batches == 0 || batches > 200 {
		t.Errorf("%d requests for batches, want them to be full mostly", batches)
	}
	for id := range 4 {
		if len(b.MessagesIn(queueNo(id))) == 0 {
			t.Errorf("queue %d got nothing", id)
		}
	}
}

// W01 and the fact that an asynchronous send of the Go client does not repeat what
// the broker's flow control sends back: here it is sent again until it is stored,
// without counting as an attempt, and once each.
func TestWhatFlowControlSendsBackIsSentAgain(t *testing.T) {
	b := startBroker(t, 4)
	firstSends(b, 20, busy)
	cfg := writeConfigOf(t, b.NameServer(), WriteRetries(0), WriteBatch(1, 1<<20))
	results, err := bundleOf(t, cfg, many(100, numbered))
	if err != nil {
		t.Fatal(err)
	}
	once(t, b, 100)
	if st := sentBy(t, cfg); st.Congested != 20 || st.Retried != 20 || st.Uncertain != 0 {
		t.Errorf("got %+v, want 20 sent back and sent again, none of them in doubt", st)
	}
	if slices.ContainsFunc(results, func(r WriteResult) bool { return r.Repeated }) {
		t.Error("a result says that its message may be stored twice")
	}
}

// X27: after its patience is over the bundle fails; nothing is dropped silently.
func TestABrokerThatStaysBusyFailsTheBundle(t *testing.T) {
	b := startBroker(t, 1)
	both(b, func(context.Context, *embedded.Request) embedded.Reaction { return busy })
	_, err := bundleOf(t, writeConfigOf(t, b.NameServer(), WritePatience(time.Second)), many(3, numbered))
	if e, ok := errors.AsType[*WriteError](err); !ok || e.MaybeStored || remoting.ClassOf(err) != remoting.Throttled {
		t.Errorf("got %v, want the broker's answer", err)
	}
}

// X13: the option counts, on the way to success and on the way to failure.
func TestRetriesAreAsManyAsTheOptionSays(t *testing.T) {
	fault := embedded.AnswerRemoting(remoting.CodeSystemError, "UNKNOWN_ERROR", nil, nil)
	for name, c := range map[string]struct {
		faults, want int
		fails        bool
	}{
		"the last attempt succeeds": {2, 3, false},
		"the last attempt fails":    {3, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t, 1)
			firstSends(b, c.faults, fault)
			_, err := bundleOf(t, writeConfigOf(t, b.NameServer(), WriteRetries(2)), many(1, numbered))
			if (err != nil) != c.fails {
				t.Errorf("got %v, want failure: %v", err, c.fails)
			}
			if e, ok := errors.AsType[*WriteError](err); c.fails && (!ok || e.Attempts != 3 || !e.MaybeStored) {
				t.Errorf("got %+v, want three attempts, and doubt", e)
			}
			if got := b.Requests(embedded.RemotingSend); got != c.want {
				t.Errorf("%d requests, want %d", got, c.want)
			}
		})
	}
}

// A request whose answer is lost is sent again: the message is stored twice with
// the same unique key, and the result and the count say so.
func TestALostAnswerMakesACountedRepetition(t *testing.T) {
	b := startBroker(t, 1)
	firstSends(b, 1, embedded.LoseReply())
	cfg := writeConfigOf(t, b.NameServer(), WriteSendTimeout(300*time.Millisecond))
	results, err := bundleOf(t, cfg, many(1, numbered))
	if err != nil {
		t.Fatal(err)
	}
	stored := b.Messages(testTopic)
	if len(stored) != 2 || stored[0].ID != stored[1].ID || stored[0].ID != results[0].UniqueKey {
		t.Errorf("stored %v with result %+v, want two with one unique key", stored, results[0])
	}
	if st := sentBy(t, cfg); st.Uncertain != 1 || st.TimedOut != 1 || !results[0].Repeated || results[0].Attempts != 2 {
		t.Errorf("got %+v and %+v, want one repetition that is in doubt", st, results[0])
	}
	firstSends(b, 1, embedded.LoseReply())
	cfg = writeConfigOf(t, b.NameServer(), WriteSendTimeout(300*time.Millisecond), WriteFailOnTimeout())
	if _, err := bundleOf(t, cfg, many(1, numbered)); err == nil || !strings.Contains(err.Error(), "may be stored all the same") {
		t.Errorf("with WriteFailOnTimeout: %v", err)
	}
}

// S01, S03, Y07, Y08, Y09 and the fact that the connector for Flink finishes with
// 9 900 of 10 000: one message that can never be sent fails the bundle, which
// names it and says what became of the others.
func TestAMessageThatCanNeverBeSentIsNamed(t *testing.T) {
	for want, bad := range map[string]OutgoingMessage{
		"body has 4194305 bytes, 1 more than the 4194304": {Body: make([]byte, 4<<20+1)},
		"its body is empty":                                     {},
		"bytes, 17 more than":                                   {Body: []byte("x"), Properties: map[string]string{"p": strings.Repeat("x", maxPropertiesSize-len("UNIQ_KEY")-34-3)}, UniqueKey: "A7F00001000000000000000000000000"},
		`invalid UTF-8 in property "p"`:                         {Body: []byte("x"), Properties: map[string]string{"p": "\xa4"}},
		`invalid UTF-8 in tag`:                                  {Body: []byte("x"), Tag: "\xa4"},
		`property "KEYS" is RocketMQ's own: use the field Keys`: {Body: []byte("x"), Properties: map[string]string{"KEYS": "k"}},
		`property "MSG_REGION" is RocketMQ's own`:               {Body: []byte("x"), Properties: map[string]string{"MSG_REGION": "k"}},
		`the value of property "p" contains \x01 or \x02`:       {Body: []byte("x"), Properties: map[string]string{"p": "a\x01b"}},
		`tag "a|b"`:                             {Body: []byte("x"), Tag: "a|b"},
		`key "a b"`:                             {Body: []byte("x"), Keys: []string{"a b"}},
		`topic "no topic"`:                      {Body: []byte("x"), Topic: "no topic"},
		"has 128 characters, more than the 127": {Body: []byte("x"), Topic: strings.Repeat("t", 128)},
		"delay level 19":                        {Body: []byte("x"), DelayLevel: 19},
		"give one of them":                      {Body: []byte("x"), DelayLevel: 1, DeliverAt: time.Now()},
		"messages with delays have no order":    {Body: []byte("x"), DelayLevel: 1, ShardingKey: "k"},
	} {
		t.Run(want, func(t *testing.T) {
			b := startBroker(t, 2)
			bad.Keys = append(bad.Keys, "the-bad-one")
			messages := many(100, numbered)
			messages[50] = bad
			_, err := bundleOf(t, writeConfigOf(t, b.NameServer()), messages)
			e, ok := errors.AsType[*WriteError](err)
			if !ok || !strings.Contains(err.Error(), want) || !slices.Contains(e.Keys, "the-bad-one") || e.UniqueKey == "" {
				t.Fatalf("got %v, want an error with %q that names the message", err, want)
			}
			if e.Failed != 0 || e.Stored+e.NotSent != 50 || e.Attempts != 0 {
				t.Errorf("got %+v, want an outcome for each of the 50 before it", e)
			}
			if stored := len(storedBodies(b, testTopic)); stored != e.Stored {
				t.Errorf("the error says that %d were stored, the broker has %d", e.Stored, stored)
			}
		})
	}
}

// A body at the limit passes, and so do properties; only one byte more does not.
func TestSizesAtTheLimitPass(t *testing.T) {
	b := startBroker(t, 1)
	m := OutgoingMessage{Body: make([]byte, 4<<20), UniqueKey: "A7F00001000000000000000000000000"}
	m.Properties = map[string]string{"p": strings.Repeat("x", maxPropertiesSize-len("UNIQ_KEY")-34-3)}
	if _, err := bundleOf(t, writeConfigOf(t, b.NameServer()), []OutgoingMessage{m}); err != nil {
		t.Error(err)
	}
	m.Properties["p"] += "x"
	if _, err := bundleOf(t, writeConfigOf(t, b.NameServer()), []OutgoingMessage{m}); err == nil {
		t.Error("one byte of properties more was taken")
	}
}

// A broker that takes less than the option says refuses a batch as a whole: it is
// taken apart until the message is found.
func TestAMessageThatTheBrokerRefusesIsFoundInItsBatch(t *testing.T) {
	for name, guarantee := range map[string]Guarantee{"at least once": AtLeastOnce, "none": None} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t, 1, embedded.WithMaxBodySize(1000))
			messages := many(20, numbered)
			messages[7] = OutgoingMessage{Body: make([]byte, 1001), Keys: []string{"the-bad-one"}}
			results, err := bundleOf(t, writeConfigOf(t, b.NameServer(), WriteGuarantee(guarantee)), messages)
			if guarantee == None {
				if err != nil || len(results) != 20 {
					t.Fatalf("%d results, %v, want 20", len(results), err)
				}
				for _, r := range results {
					if bad := slices.Contains(r.Keys, "the-bad-one"); r.OK() == bad || bad && (r.Message == nil || len(r.Message.Body) != 1001) {
						t.Errorf("got %+v, want only the bad one to fail, with its message", r)
					}
				}
				if stored := storedBodies(b, testTopic); len(stored) != 19 {
					t.Errorf("%d are stored, want 19", len(stored))
				}
				return
			}
			if e, ok := errors.AsType[*WriteError](err); !ok || !slices.Contains(e.Keys, "the-bad-one") || e.BodySize != 1001 || e.MaybeStored {
				t.Errorf("got %v, want the one that was refused", err)
			}
		})
	}
}

// W09, W06: what the broker has stored, but not safely, is accepted, sent again or
// failed, as the option says.
func TestStatusesThatAreNotSafeFollowThePolicy(t *testing.T) {
	codes := map[WriteStatus]int{StatusFlushDiskTimeout: 10, StatusSlaveNotAvailable: 11, StatusFlushSlaveTimeout: 12}
	for status, code := range codes {
		for policy, want := range map[UnsafePolicy]struct {
			requests int
			fails    bool
		}{AcceptUnsafe: {1, false}, RetryUnsafe: {2, false}, FailUnsafe: {1, true}} {
			t.Run(fmt.Sprint(status, " ", policy), func(t *testing.T) {
				b := startBroker(t, 1)
				firstSends(b, 1, embedded.AnswerRemoting(code, "", map[string]string{"msgId": "7F", "queueId": "0", "queueOffset": "5"}, nil))
				results, err := bundleOf(t, writeConfigOf(t, b.NameServer(), WriteUnsafe(policy, status)), many(1, numbered))
				if (err != nil) != want.fails || b.Requests(embedded.RemotingSend) != want.requests {
					t.Errorf("%d requests and %v, want %d and failure: %v", b.Requests(embedded.RemotingSend), err, want.requests, want.fails)
				}
				if policy == AcceptUnsafe && (results[0].Status != status || results[0].QueueOffset != 5) {
					t.Errorf("got %+v, want the status and the offset", results[0])
				}
				if want.fails && !strings.Contains(err.Error(), string(status)) {
					t.Errorf("got %v, want it to name %s", err, status)
				}
			})
		}
	}
}

// W07: with one of two brokers down all goes to the other one, within the retries.
func TestABrokerThatIsDownIsLeftOut(t *testing.T) {
	b := startBroker(t, 4, embedded.WithBrokers("broker-a", "broker-b"))
	b.StopBroker("broker-a")
	begin := time.Now()
	if _, err := bundleOf(t, writeConfigOf(t, b.NameServer(), WriteBatch(1, 1<<20)), many(500, numbered)); err != nil {
		t.Fatal(err)
	}
	once(t, b, 500)
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

// W10: all messages of a key are in one queue, in order, though a broker restarts
// twice and answers get lost.
func TestKeysKeepTheirOrderThroughARestartOfTheBroker(t *testing.T) {
	const keys, each = 64, 1000
	b := startBroker(t, 8)
	var mu sync.Mutex
	sends := 0
	both(b, func(context.Context, *embedded.Request) embedded.Reaction {
		mu.Lock()
		sends++
		n := sends
		mu.Unlock()
		switch {
		case n == 300 || n == 600:
			b.RestartBroker()
		case n%50 == 0:
			return busy
		}
		return embedded.Pass()
	})
	messages := many(keys*each, func(i int) OutgoingMessage {
		return OutgoingMessage{Body: []byte(fmt.Sprint(i / keys)), ShardingKey: fmt.Sprint("key-", i%keys)}
	})
	cfg := writeConfigOf(t, b.NameServer())
	if _, err := bundleOf(t, cfg, messages); err != nil {
		t.Fatal(err)
	}
	checkOrder(t, keys, each, func(yield func(key, body string, queue int)) {
		for _, m := range b.Messages(testTopic) {
			yield(m.MessageGroup, string(m.Body), int(m.QueueID))
		}
	})
	t.Logf("%+v", sentBy(t, cfg))
}

// checkOrder checks that each key has all its numbers in one queue, their first
// copies in order.
func checkOrder(t *testing.T, keys, each int, all func(func(key, body string, queue int))) {
	t.Helper()
	next, queues := map[string]int{}, map[string]map[int]bool{}
	all(func(key, body string, queue int) {
		var n int
		fmt.Sscan(body, &n)
		if n > next[key] {
			t.Fatalf("%s: %d stands where %d was to come", key, n, next[key])
		}
		next[key] = max(next[key], n+1)
		if queues[key] == nil {
			queues[key] = map[int]bool{}
		}
		queues[key][queue] = true
	})
	if len(next) != keys {
		t.Fatalf("%d keys, want %d", len(next), keys)
	}
	for key, n := range next {
		if n != each || len(queues[key]) != 1 {
			t.Errorf("%s: %d messages in queues %v, want %d in one", key, n, slices.Collect(maps.Keys(queues[key])), each)
		}
	}
}

// A delay is not seen in a batch: such messages go alone, and are delayed.
func TestMessagesWithDelaysAreDelayed(t *testing.T) {
	clock := embedded.NewClock(time.Now())
	b := startBroker(t, 1, embedded.WithClock(clock))
	results, err := bundleOf(t, writeConfigOf(t, b.NameServer()), many(10, func(i int) OutgoingMessage {
		return OutgoingMessage{Body: []byte(fmt.Sprint(i)), DelayLevel: 3}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if stored := b.MessagesIn(queueNo(0)); len(stored) != 0 || len(results) != 10 || b.Requests(embedded.RemotingSendBatch) != 0 {
		t.Errorf("%d are there at once, in %d batches; want none", len(stored), b.Requests(embedded.RemotingSendBatch))
	}
	clock.Advance(10 * time.Second)
	if stored := b.MessagesIn(queueNo(0)); len(stored) != 10 {
		t.Errorf("%d are there after 10 s, want 10", len(stored))
	}
}

// N02, N04: a topic that nobody knows fails the bundle soon, with its name and the
// name server's word; one that is closed for writing is waited for.
func TestATopicThatIsMissingOrClosed(t *testing.T) {
	b := startBroker(t, 1)
	cfg := writeConfigOf(t, b.NameServer(), WriteTopic("nobody-knows-it"))
	begin := time.Now()
	_, err := bundleOf(t, cfg, many(1, numbered))
	if err == nil || !strings.Contains(err.Error(), "nobody-knows-it") || remoting.ClassOf(err) != remoting.NoRoute {
		t.Errorf("got %v, want no route", err)
	}
	if took := time.Since(begin); took < 9*time.Second || took > 20*time.Second {
		t.Errorf("failed after %v, want about 10 s", took)
	}
	b.SetPermission(testTopic, true, false)
	asked := b.Requests(embedded.RemotingRoute)
	ended := make(chan error, 1)
	cfg = writeConfigOf(t, b.NameServer())
	go func() { _, err := bundleOf(t, cfg, many(1, numbered)); ended <- err }()
	if err := b.Wait(t.Context(), func(s embedded.Snapshot) bool { return s.Requests(embedded.RemotingRoute) >= asked+2 }); err != nil {
		t.Fatal(err)
	}
	b.SetPermission(testTopic, true, true)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A topic of lite topics stores what is sent to it over remoting, and none of their
// consumers gets it: refused, in each way of writing, before anything is sent.
func TestATopicOfLiteTopicsIsNotWrittenTo(t *testing.T) {
	b := startBroker(t, 1, embedded.WithLiteTopic("bus"))
	for name, opts := range map[string][]WriteOption{"at least once": nil, "exactly once": {WriteExactlyOnce(bodyAsKey)}, "none": {WriteGuarantee(None)}} {
		_, err := write(t, b.NameServer(), 3, numbered, append(opts, WriteTopic("bus"))...)
		if name == "none" {
			if err != nil {
				t.Errorf("%s: %v, want results with errors", name, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), "topic bus is of type LITE") || !strings.Contains(err.Error(), "litegrpcio.Write") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if n := b.Requests(embedded.RemotingSend) + b.Requests(embedded.RemotingSendBatch); n != 0 {
		t.Errorf("%d requests to store messages, want none", n)
	}
}

// Brokers that do not tell the types of topics are written to.
func TestATopicOfUnknownTypeIsWrittenTo(t *testing.T) {
	for name, c := range map[string]struct {
		answer embedded.Reaction
		asked  int // 0: more than once
	}{
		"too old":  {embedded.AnswerRemoting(remoting.CodeRequestNotSupported, "request type 351 not supported", nil, nil), 1},
		"too busy": {embedded.AnswerRemoting(remoting.CodeSystemBusy, "[REJECTREQUEST]", nil, nil), 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t, 1)
			b.ControlAlways(embedded.RemotingTopicConfig, func(context.Context, *embedded.Request) embedded.Reaction { return c.answer })
			cfg := writeConfigOf(t, b.NameServer())
			if _, err := bundleOf(t, cfg, many(3, numbered)); err != nil {
				t.Fatal(err)
			}
			once(t, b, 3)
			if n := b.Requests(embedded.RemotingTopicConfig); n < 1 || c.asked > 0 && n != c.asked {
				t.Errorf("asked %d times, want %d", n, c.asked)
			}
		})
	}
}

// C09, N03: all requests are signed, and topics are those of the instance; wrong
// keys fail at once, and no secret is in the error.
func TestCredentialsAndNamespace(t *testing.T) {
	b := startBroker(t, 1, embedded.WithCredentials("AKTESTKEY", "SKTESTSECRET"))
	b.CreateTopic("MQ_INST_1%"+testTopic, 1)
	cfg := writeConfigOf(t, b.NameServer(), WriteStaticCredentials("AKTESTKEY", "SKTESTSECRET"), WriteNamespace("MQ_INST_1"))
	results, err := bundleOf(t, cfg, many(10, numbered))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(b.Messages("MQ_INST_1%" + testTopic)); n != 10 || results[0].Topic != testTopic {
		t.Errorf("%d messages, result %+v, want 10, and the topic without namespace", n, results[0])
	}
	cfg = writeConfigOf(t, b.NameServer(), WriteStaticCredentials("AKTESTKEY", "SKWRONGSECRET"), WriteNamespace("MQ_INST_1"))
	begin := time.Now()
	_, err = bundleOf(t, cfg, many(1, numbered))
	if err == nil || strings.Contains(err.Error(), "SKWRONGSECRET") || strings.Contains(err.Error(), "SKTESTSECRET") || time.Since(begin) > 5*time.Second {
		t.Errorf("with a wrong key: %v after %v", err, time.Since(begin))
	}
}

// C02: sinks that share a process and a group do not disturb each other.
func TestSeveralSinksOfOneProcess(t *testing.T) {
	b := startBroker(t, 4)
	var wg sync.WaitGroup
	for worker := range 8 {
		cfg := writeConfigOf(t, b.NameServer())
		cfg.SinkID = fmt.Sprint(worker % 2) // four bundles share a session
		wg.Go(func() {
			for bundle := range 5 {
				messages := many(100, func(i int) OutgoingMessage { return numbered(1000*worker + 100*bundle + i) })
				if results, err := bundleIn(context.Background(), cfg, messages); err != nil || len(results) != 100 {
					t.Errorf("worker %d: %d results, %v", worker, len(results), err)
				}
			}
		})
	}
	wg.Wait()
	if stored := storedBodies(b, testTopic); len(stored) != 8*500 {
		t.Errorf("%d of 4000 are stored", len(stored))
	}
	if n := writeSessions.Len(); n != 2 {
		t.Errorf("%d sessions, want 2", n)
	}
}

// The end of a bundle's context ends its sends at once; and the session, which
// nobody uses any more, leaves nothing.
func TestCancellingABundleEndsItAtOnce(t *testing.T) {
	b := startBroker(t, 1)
	sent := make(chan struct{}, 1000)
	both(b, func(context.Context, *embedded.Request) embedded.Reaction {
		sent <- struct{}{}
		return embedded.Drop()
	})
	ctx, cancel := context.WithCancel(t.Context())
	cfg := writeConfigOf(t, b.NameServer(), WriteSendTimeout(time.Minute))
	ended := make(chan error, 1)
	go func() { _, err := bundleIn(ctx, cfg, many(5000, numbered)); ended <- err }()
	<-sent
	begin := time.Now()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || time.Since(begin) > time.Second {
		t.Errorf("got %v after %v, want a cancelled context within a second", err, time.Since(begin))
	}
	writeSessions.CloseIdle()
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("the session was closed after %v", took)
	}
}

// W14: a bundle without messages opens nothing.
func TestAnEmptyBundleOpensNothing(t *testing.T) {
	cfg := writeConfigOf(t, "127.0.0.1:1")
	if results, err := bundleOf(t, cfg, nil); err != nil || len(results) != 0 || writeSessions.Len() != 0 {
		t.Errorf("%d results, %v, %d sessions; want nothing", len(results), err, writeSessions.Len())
	}
}

// Results are in the windows and at the times of their elements, though they
// become known at the end of the bundle.
func TestResultsAreWhereTheirElementsAre(t *testing.T) {
	b := startBroker(t, 2)
	fn := &writeFn{bundleWriter{Config: writeConfigOf(t, b.NameServer(), WriteLinger(time.Minute))}}
	if err := fn.Setup(); err != nil {
		t.Fatal(err)
	}
	places := map[string]beam.EventTime{}
	emit := func(r WriteResult) {
		if r.place == nil || r.place.Window.MaxTimestamp() != r.place.Time+9 {
			t.Errorf("got %+v", r.place)
			return
		}
		places[r.UniqueKey] = r.place.Time
	}
	fn.StartBundle(t.Context(), emit)
	for i := range 10 {
		at := beam.EventTime(1000 * i)
		w := window.IntervalWindow{Start: at, End: at + 10}
		m := OutgoingMessage{Body: []byte("x"), UniqueKey: fmt.Sprint("k", i)}
		if err := fn.ProcessElement(t.Context(), beam.PaneInfo{}, w, at, m, emit); err != nil {
			t.Fatal(err)
		}
	}
	if err := fn.FinishBundle(t.Context(), emit); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if at, ok := places[fmt.Sprint("k", i)]; !ok || at != beam.EventTime(1000*i) {
			t.Errorf("the result of message %d is at %v (%v)", i, at, ok)
		}
	}
}

// A bundle that pauses for longer than its session waits goes on with another.
func TestABundleOutlivesItsSession(t *testing.T) {
	b := startBroker(t, 2)
	fn := &writeFn{bundleWriter{Config: writeConfigOf(t, b.NameServer())}}
	if err := fn.Setup(); err != nil {
		t.Fatal(err)
	}
	n := 0
	emit := func(WriteResult) { n++ }
	fn.StartBundle(t.Context(), emit)
	for i := range 30 {
		if err := fn.ProcessElement(t.Context(), beam.PaneInfo{}, window.GlobalWindow{}, 0, numbered(i), emit); err != nil {
			t.Fatal(err)
		}
		if i%10 == 5 {
			writeSessions.CloseIdle()
		}
	}
	if err := fn.FinishBundle(t.Context(), emit); err != nil {
		t.Fatal(err)
	}
	once(t, b, 30)
	if n != 30 {
		t.Errorf("%d results, want 30", n)
	}
}

// A sink in front of a dead port fails with the likely cause when its patience is
// over, and what it held is given back (N09).
func TestNobodyThere(t *testing.T) {
	cfg := writeConfigOf(t, "127.0.0.1:1", WritePatience(time.Second))
	_, err := bundleOf(t, cfg, many(200, numbered))
	if err == nil || !strings.Contains(err.Error(), "check the address") {
		t.Errorf("got %v, want a hint", err)
	}
	if st := sentBy(t, cfg); st.Bytes != 0 || st.Buffered != 0 || st.InFlight != 0 {
		t.Errorf("%+v is left", st)
	}
}
