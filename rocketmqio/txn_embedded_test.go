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
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/connector"
	"github.com/rocketmq-beam/rocketmq-beam/internal/table"
)

func init() { register.Function1x1(bodyAsKey) }

// bodyAsKey is a key function of tests.
func bodyAsKey(m OutgoingMessage) string { return "key-" + string(m.Body) }

const testSettle = 50 * time.Millisecond

// settleSoon is for an embedded broker, which indexes at once.
var settleSoon = WriteCommitSettle(testSettle)

// txnConfig are the settings of a test.
func txnConfig(t *testing.T, nameServers string, opts ...WriteOption) writeConfig {
	t.Helper()
	cfg := writeConfigOf(t, nameServers, append([]WriteOption{WriteGuarantee(ExactlyOnce), settleSoon}, opts...)...)
	cfg.nameGroup(t.Name())
	t.Cleanup(txnSessions.CloseIdle)
	return cfg
}

func startTxn(t *testing.T, opts ...embedded.Option) *embedded.Broker {
	t.Helper()
	mq := embedded.Start(t.Context(), append([]embedded.Option{embedded.WithNormalTopic(testTopic), embedded.WithQueues(2)}, opts...)...)
	t.Cleanup(mq.Close)
	return mq
}

// prepareAll runs a bundle of the first step without a runner.
func prepareAll(ctx context.Context, cfg writeConfig, messages []OutgoingMessage) (out []prepared, err error) {
	fn := &prepareFn{bundleWriter: bundleWriter{Config: cfg}}
	if err := fn.Setup(); err != nil {
		return nil, err
	}
	emit := func(p prepared) { p.place = nil; out = append(out, p) }
	fn.StartBundle(ctx, emit)
	for _, m := range messages {
		if err := fn.ProcessElement(ctx, beam.PaneInfo{}, window.GlobalWindow{}, 0, m, emit); err != nil {
			return out, err
		}
	}
	return out, fn.FinishBundle(ctx, emit)
}

// commitAll runs a bundle of the commit step.
func commitAll(ctx context.Context, cfg writeConfig, halves []prepared) (out []WriteResult, err error) {
	fn := &commitHalfFn{Config: cfg}
	if err := fn.Setup(); err != nil {
		return nil, err
	}
	emit := func(r WriteResult) { out = append(out, r) }
	fn.StartBundle(ctx, emit)
	for _, h := range halves {
		if err := fn.ProcessElement(ctx, beam.PaneInfo{}, window.GlobalWindow{}, 0, h, emit); err != nil {
			return out, err
		}
	}
	return out, fn.FinishBundle(ctx, emit)
}

func mustPrepare(t *testing.T, cfg writeConfig, messages ...OutgoingMessage) []prepared {
	t.Helper()
	halves, err := prepareAll(t.Context(), cfg, messages)
	if err != nil || len(halves) != len(messages) {
		t.Fatalf("prepared %d of %d: %v", len(halves), len(messages), err)
	}
	slices.SortFunc(halves, func(a, b prepared) int { return strings.Compare(a.half.UniqueKey, b.half.UniqueKey) })
	return halves
}

func mustCommit(t *testing.T, cfg writeConfig, halves ...prepared) []WriteResult {
	t.Helper()
	results, err := commitAll(t.Context(), cfg, halves)
	if err != nil || len(results) != len(halves) {
		t.Fatalf("committed %d of %d: %v", len(results), len(halves), err)
	}
	return results
}

// visible counts how often each body is there for consumers.
func visible(mq *embedded.Broker) map[string]int {
	out := map[string]int{}
	for _, m := range mq.Messages(testTopic) {
		out[string(m.Body)]++
	}
	return out
}

func wantVisible(t *testing.T, mq *embedded.Broker, n int) {
	t.Helper()
	got := visible(mq)
	for body, times := range got {
		if times != 1 {
			t.Errorf("%q is there %d times, want once", body, times)
		}
	}
	if len(got) != n {
		t.Errorf("%d different messages are there, want %d", len(got), n)
	}
}

func keyed10(i int) OutgoingMessage {
	return OutgoingMessage{Body: []byte(fmt.Sprint(i)), UniqueKey: fmt.Sprintf("k%d", i), Tag: "t", Keys: []string{"a"}}
}

func TestAPipelineWritesEachMessageOnce(t *testing.T) {
	mq := startTxn(t)
	for range 2 { // the second run has the same keys
		results, err := write(t, mq.NameServer(), 300, numbered, WriteTopic(testTopic), WriteExactlyOnce(bodyAsKey), settleSoon)
		if err != nil || len(results) != 300 {
			t.Fatalf("%d results, %v", len(results), err)
		}
		for _, r := range results {
			if !r.OK() || !strings.HasPrefix(r.UniqueKey, "key-") || r.Topic != testTopic {
				t.Fatalf("got result %+v", r)
			}
		}
		txnSessions.CloseIdle()
	}
	wantVisible(t, mq, 300)
	if n := len(mq.Halves("")); n != 600 {
		t.Errorf("%d half messages were sent, want 600", n)
	}
	commits, rollbacks := endsOf(mq)
	if commits != 300 || rollbacks != 300 {
		t.Errorf("%d commits and %d rollbacks, want 300 of each", commits, rollbacks)
	}
}

func endsOf(mq *embedded.Broker) (commits, rollbacks int) {
	for _, e := range mq.Ends() {
		if e.Commit {
			commits++
		} else {
			rollbacks++
		}
	}
	return commits, rollbacks
}

// A message is found behind any number of later ones that have its unique key as an
// ordinary key, as the items of an order have the order's number.
func TestAUniqueKeyThatOthersHaveAsAKeyIsFound(t *testing.T) {
	mq := startTxn(t)
	cfg := txnConfig(t, mq.NameServer())
	order := OutgoingMessage{Body: []byte("order"), UniqueKey: "order-1", Keys: []string{"order-1"}}
	mustCommit(t, cfg, mustPrepare(t, cfg, order)...)
	mustCommit(t, cfg, mustPrepare(t, cfg, many(100, func(i int) OutgoingMessage {
		return OutgoingMessage{Body: fmt.Append(nil, "item ", i), UniqueKey: fmt.Sprint("item-", i), Keys: []string{"order-1"}}
	})...)...)
	txnSessions.CloseIdle() // as another process
	mustCommit(t, cfg, mustPrepare(t, cfg, order)...)
	wantVisible(t, mq, 101)
}

// What a bundle has prepared is seen by nobody unless its handles reach the commit
// step.
func TestAnAbortedBundleLeavesNothingVisible(t *testing.T) {
	mq := startTxn(t)
	cfg := txnConfig(t, mq.NameServer())
	messages := many(20, keyed10)
	messages = append(messages, OutgoingMessage{Topic: testTopic}) // has no body: the bundle fails
	if _, err := prepareAll(t.Context(), cfg, messages); err == nil {
		t.Fatal("the bundle ended well")
	}
	if n := len(mq.Messages(testTopic)); n != 0 {
		t.Errorf("%d messages are visible", n)
	}
	mustCommit(t, cfg, mustPrepare(t, cfg, messages[:20]...)...)
	wantVisible(t, mq, 20)
}

// (W14)
func TestAnEmptyBundleDoesNothing(t *testing.T) {
	mq := startTxn(t)
	cfg := txnConfig(t, mq.NameServer())
	mustPrepare(t, cfg)
	mustCommit(t, cfg)
	if n := mq.Requests(embedded.AnyMethod); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
}

func TestAHandleThatComesAgainIsNotCommittedAgain(t *testing.T) {
	mq := startTxn(t)
	cfg := txnConfig(t, mq.NameServer())
	halves := mustPrepare(t, cfg, many(10, keyed10)...)
	mustCommit(t, cfg, halves...)
	for _, r := range mustCommit(t, cfg, halves...) {
		if !r.Repeated || r.QueueOffset < 0 || r.UniqueKey == "" {
			t.Errorf("got result %+v, want the message that was there", r)
		}
	}
	txnSessions.CloseIdle() // as in another process
	mustCommit(t, cfg, halves...)
	wantVisible(t, mq, 10)
	if commits, rollbacks := endsOf(mq); commits != 10 || rollbacks != 0 {
		t.Errorf("%d commits and %d rollbacks, want 10 and none, for they are the same half messages", commits, rollbacks)
	}
}

// The step is repeated in another process, with the same keys: whatever was
// committed stays alone, and its second half message is rolled back.
func TestTheSameKeysPreparedAgainAreRolledBack(t *testing.T) {
	mq := startTxn(t, embedded.WithBrokers("broker-a", "broker-b", "broker-c"))
	cfg := txnConfig(t, mq.NameServer())
	first := mustPrepare(t, cfg, many(12, keyed10)...)
	mustCommit(t, cfg, first[:7]...)
	txnSessions.CloseIdle()
	mustCommit(t, cfg, mustPrepare(t, cfg, many(12, keyed10)...)...)
	wantVisible(t, mq, 12)
	if commits, rollbacks := endsOf(mq); commits != 12 || rollbacks != 7 {
		t.Errorf("%d commits and %d rollbacks, want 12 and 7", commits, rollbacks)
	}
}

// Two elements with one key are one message, also in one bundle and at one moment.
func TestTwoElementsWithOneKeyAreOneMessage(t *testing.T) {
	mq := startTxn(t)
	cfg := txnConfig(t, mq.NameServer())
	in := append(many(20, keyed10), many(20, keyed10)...)
	results := mustCommit(t, cfg, mustPrepare(t, cfg, in...)...)
	wantVisible(t, mq, 20)
	found := 0
	for _, r := range results {
		if r.Repeated {
			found++
		}
	}
	if _, rollbacks := endsOf(mq); found != 20 || rollbacks != 20 {
		t.Errorf("%d were found to be there and %d rolled back, want 20", found, rollbacks)
	}
}

// (X22a, Y13)
func TestALostReplyOfACommitDoesNotRepeatIt(t *testing.T) {
	for name, reaction := range map[string]embedded.Reaction{
		"carried out":     embedded.LoseReply(),
		"not carried out": embedded.Drop(),
		"refused":         embedded.Fail(errors.New("UNKNOWN_ERROR")),
		"connection cut":  embedded.Fail(embedded.ErrConnectionCut),
	} {
		t.Run(name, func(t *testing.T) {
			mq := startTxn(t)
			cfg := txnConfig(t, mq.NameServer(), WriteSendTimeout(200*time.Millisecond))
			halves := mustPrepare(t, cfg, many(6, keyed10)...)
			for range 4 {
				mq.Control(embedded.RemotingEndTransaction, func(context.Context, *embedded.Request) embedded.Reaction { return reaction })
			}
			mustCommit(t, cfg, halves...)
			wantVisible(t, mq, 6)
		})
	}
}

// (X22a) The failure names the message, and the bundle's others are done.
func TestACommitThatIsRefusedFailsTheBundleByName(t *testing.T) {
	mq := startTxn(t)
	cfg := txnConfig(t, mq.NameServer())
	halves := mustPrepare(t, cfg, many(3, keyed10)...)
	halves[1].half.Group = "another"
	_, err := commitAll(t.Context(), cfg, halves)
	if err == nil || !strings.Contains(err.Error(), "message k1 ") || !strings.Contains(err.Error(), "group wrong") {
		t.Errorf("got error %v", err)
	}
}

func TestACommitBehindTheFenceIsAnErrorWithBothNumbers(t *testing.T) {
	clock := embedded.NewClock(time.Now())
	mq := startTxn(t, embedded.WithClock(clock))
	cfg := txnConfig(t, mq.NameServer(), WriteTransactionTimeout(10*time.Second))
	halves := mustPrepare(t, cfg, many(2, keyed10)...)
	mustCommit(t, cfg, halves[0])
	clock.Advance(11 * time.Second)
	halves[1].born = halves[1].born.Add(-11 * time.Second)
	_, err := commitAll(t.Context(), cfg, halves)
	lost, ok := errors.AsType[*TransactionError](err)
	if !ok || !lost.Late || lost.UniqueKey != "k1" || lost.Timeout != 10*time.Second || lost.Age < 11*time.Second {
		t.Fatalf("got %+v, %v", lost, err)
	}
	for _, part := range []string{"10s", "11s", "WriteTransactionTimeout", "checkpoint"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
	// (W16) Or it is a result, and the rest goes on.
	cfg.Transaction.Lost = ReportLost
	for _, r := range mustCommit(t, cfg, halves...) {
		if r.OK() != (r.UniqueKey == "k0") {
			t.Errorf("got result %+v", r)
		}
	}
	wantVisible(t, mq, 1)
}

// (T01) The pipeline starts again and there is nothing to write: what a former run
// left behind is answered for.
func TestAPipelineWithoutInputIsAskedAboutHalves(t *testing.T) {
	mq := startTxn(t)
	p, _ := writePipeline(t, mq.NameServer(), 0, numbered, WriteTopic(testTopic), WriteExactlyOnce(bodyAsKey), settleSoon, WriteGroup("txn-group"))
	t.Cleanup(txnSessions.CloseIdle)
	if err := start(t, p).wait(t); err != nil {
		t.Fatal(err)
	}
	await(t, mq, "the producer is known", func(s embedded.Snapshot) bool { return len(s.Producers("txn-group")) == 1 })
}

func await(t *testing.T, mq *embedded.Broker, what string, cond func(embedded.Snapshot) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := mq.Wait(ctx, cond); err != nil {
		t.Fatalf("waiting until %s: %v", what, err)
	}
}

// (T04, T06, W13, X22b, Y12, Y14) What is there is rolled back, as often as the
// broker asks; all else is undecided.
func TestChecksAreAnsweredByWhatIsThere(t *testing.T) {
	clock := embedded.NewClock(time.Now())
	mq := startTxn(t, embedded.WithClock(clock))
	cfg := txnConfig(t, mq.NameServer(), WriteTransactionTimeout(10*time.Second))
	first := mustPrepare(t, cfg, many(2, keyed10)...)
	await(t, mq, "the producer is known", func(s embedded.Snapshot) bool { return len(s.Producers(cfg.Group)) == 1 })
	mustPrepare(t, cfg, keyed10(0)) // nobody commits this one
	mustCommit(t, cfg, first[0])
	for round := range 3 {
		clock.Advance(30 * time.Second)
		// The half message of k1 is never answered for but with "unknown", and that
		// of k0 which nobody committed is ended at the first question.
		await(t, mq, "the rollback comes", func(s embedded.Snapshot) bool {
			for _, e := range s.Ends() {
				if e.FromCheck && !e.Commit && e.UniqueKey == "k0" {
					return true
				}
			}
			return false
		})
		for _, e := range mq.Ends() {
			if e.FromCheck && e.UniqueKey != "k0" {
				t.Fatalf("round %d: got end %+v", round, e)
			}
		}
	}
	wantVisible(t, mq, 1)
}

func TestAHalfMessageThatWasSentTwiceIsCommittedOnce(t *testing.T) {
	mq := startTxn(t)
	cfg := txnConfig(t, mq.NameServer(), WriteSendTimeout(200*time.Millisecond))
	for range 3 {
		mq.Control(embedded.RemotingSend, func(context.Context, *embedded.Request) embedded.Reaction { return embedded.LoseReply() })
	}
	mustCommit(t, cfg, mustPrepare(t, cfg, many(5, keyed10)...)...)
	wantVisible(t, mq, 5)
	if n := len(mq.Halves(cfg.Group)); n != 8 {
		t.Errorf("%d half messages, want 5 and 3 repetitions", n)
	}
}

// (C05) Each transform has a group of its own, the same in each run.
func TestProducerGroupsAreUniqueAndStable(t *testing.T) {
	name := func(topic, scope string, opts ...WriteOption) string {
		c, err := newWriteConfig("ns:9876", append([]WriteOption{WriteTopic(topic), WriteGuarantee(ExactlyOnce)}, opts...))
		if err != nil {
			t.Fatal(err)
		}
		c.nameGroup(scope)
		return c.Group
	}
	if a, b := name("t", "root/a"), name("t", "root/a"); a != b || a == DefaultProducerGroup {
		t.Errorf("got %s and %s, want the same", a, b)
	}
	if name("t", "root/a") == name("t", "root/b") || name("t", "root/a") == name("u", "root/a") {
		t.Error("two transforms share a group")
	}
	if got := name("t", "x", WriteGroup("mine")); got != "mine" {
		t.Errorf("got %s, want mine", got)
	}
}

// The default of tables, that of the connectors for Flink, is shared by all of them,
// whether the table or a Go option asks for exactly once.
func TestATableThatWritesExactlyOnceHasAGroupOfItsOwn(t *testing.T) {
	for _, tt := range []struct{ name, with, want string }{
		{"by a Go option", "", producerGroupPrefix},
		{"by the table", ", 'rocketmq.sink.delivery.guarantee' = 'EXACTLY_ONCE'", producerGroupPrefix},
		{"with a group", ", 'rocketmq.sink.group' = 'mine'", "mine"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := table.Declare("CREATE TABLE s (x STRING) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'ns:9876', 'rocketmq.sink.topic' = 't'"+tt.with+")", connector.Write, connectors...)
			if err != nil {
				t.Fatal(err)
			}
			c, err := newWriteConfig("ns:9876", append(writeOptionsOf(d.Config), WriteGuarantee(ExactlyOnce)))
			if err != nil {
				t.Fatal(err)
			}
			c.nameGroup("root/a")
			if !strings.HasPrefix(c.Group, tt.want) {
				t.Errorf("group %q, want %q", c.Group, tt.want)
			}
		})
	}
}

func TestOptionsOfTransactionsAreChecked(t *testing.T) {
	for _, c := range []struct {
		opts []WriteOption
		want string
	}{
		{[]WriteOption{WriteTransactionTimeout(time.Minute)}, "EXACTLY_ONCE only"},
		{[]WriteOption{WriteGuarantee(ExactlyOnce), WriteTransactionTimeout(time.Millisecond)}, "WriteTransactionTimeout: 1ms"},
		{[]WriteOption{WriteGuarantee(ExactlyOnce), WriteCommitCheck("never")}, `"never"`},
		{[]WriteOption{WriteGuarantee(ExactlyOnce), WriteFailOnTimeout()}, "WriteFailOnTimeout"},
		{[]WriteOption{WriteGuarantee(ExactlyOnce), WriteUnsafe(RetryUnsafe)}, "WriteUnsafe"},
		{[]WriteOption{WriteGuarantee(ExactlyOnce), WriteCommitConcurrency(0)}, "WriteCommitConcurrency: 0"},
		{[]WriteOption{WriteGuarantee(ExactlyOnce), WriteLostTransactions("ignore")}, `"ignore"`},
		{[]WriteOption{WriteExactlyOnce[OutgoingMessage](nil)}, "is nil"},
		{[]WriteOption{WriteExactlyOnce(bodyAsKey)}, ""},
	} {
		_, err := newWriteConfig("ns:9876", append([]WriteOption{WriteTopic("t")}, c.opts...))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

func TestShardingKeysAndDelaysAreRefusedInTransactions(t *testing.T) {
	mq := startTxn(t)
	cfg := txnConfig(t, mq.NameServer())
	for want, m := range map[string]OutgoingMessage{
		"no order":   {Body: []byte("x"), ShardingKey: "s"},
		"delay":      {Body: []byte("x"), DelayLevel: 3},
		"properties": {Body: []byte("x"), Properties: map[string]string{"p": strings.Repeat("x", maxPropertiesSize-20)}},
	} {
		if _, err := prepareAll(t.Context(), cfg, []OutgoingMessage{m}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}
