// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package table

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// Not under the race detector, see [TestAScriptWithoutEnd].

// A script that is interrupted while transactions wait for their commits, and
// started again where its group has committed, loses no row and writes none twice.
func TestAnInterruptedScriptWithTransactionsLosesNothing(t *testing.T) {
	there := interrupted(t, embedded.RemotingEndTransaction, transactional)
	for row, n := range there {
		if n > 1 {
			t.Errorf("%q is there %d times", row, n)
		}
	}
}

// Two statements that read one table: the positions of neither run ahead of what
// the other has written.
func TestAnInterruptedScriptOfTwoStatementsLosesNothing(t *testing.T) {
	interrupted(t, embedded.RemotingSendBatch, func(c *cluster, start, in, out string) string {
		text := strings.Replace(transactional(c, start, in, out), "'rocketmq.sink.delivery.guarantee' = 'EXACTLY_ONCE'", "'rocketmq.sink.send.pending.max' = '10'", 1)
		one := strings.Replace(text, "id >= 0", "v = 'a'", 1)
		return one + text[strings.LastIndex(text, "INSERT"):len(text)-len("id >= 0;")] + "v = 'b';"
	})
}

// interrupted runs a script in the middle of which requests become slow, interrupts
// it, checks what is committed, and runs it again to its end. It returns how often
// each row is there.
func interrupted(t *testing.T, slowed embedded.Method, script func(c *cluster, start, in, out string) string) map[string]int {
	t.Helper()
	const calm, messages = 40, 400
	b := embedded.Start(context.Background(), embedded.WithNormalTopic("in", "out"), embedded.WithQueues(2))
	t.Cleanup(b.Close)
	c := &cluster{nameServer: b.NameServer()}
	if f := runToEnd(t, script(c, "earliest", "in", "out"), bounded()); f.MessagesRead != 0 {
		t.Fatalf("figures %+v of an empty topic", f)
	}
	publish := func(from, to int) {
		for i, m := range numbered(from, to) {
			b.PublishTo(embedded.Queue{Topic: "in", ID: i % 2}, m.Body)
		}
	}
	var slow atomic.Bool
	b.ControlAlways(slowed, func(context.Context, *embedded.Request) embedded.Reaction {
		if slow.Load() {
			return embedded.Delay(500 * time.Millisecond)
		}
		return embedded.Pass()
	})
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	go func() {
		publish(0, calm)
		_ = b.Wait(ctx, func(embedded.Snapshot) bool { return committed(b) == calm })
		slow.Store(true)
		publish(calm, messages)
		_ = b.Wait(ctx, func(s embedded.Snapshot) bool { return len(s.Messages("out")) >= messages/4 })
		interrupt()
	}()
	var report bytes.Buffer
	if err := Run(ctx, "test.sql", script(c, "group", "in", "out"), Defaults(), &report); !errors.Is(err, ErrInterrupted) {
		t.Fatalf("got %v, want ErrInterrupted\n%s", err, &report)
	}
	there := map[string]int{}
	for _, m := range b.Messages("out") {
		there[string(m.Body)]++
	}
	if len(there) >= 2*messages {
		t.Fatal("it was not interrupted in the middle")
	}
	checkCommitted(t, b, there)
	if committed(b) < calm {
		t.Errorf("%d messages are committed, want %d or more", committed(b), calm)
	}
	slow.Store(false)
	runToEnd(t, script(c, "group", "in", "out"), bounded())
	clear(there)
	for _, m := range b.Messages("out") {
		there[string(m.Body)]++
	}
	if len(there) != 2*messages {
		t.Errorf("%d rows are there, want %d", len(there), 2*messages)
	}
	return there
}

// committed is how many messages lie before what is committed.
func committed(b *embedded.Broker) (sum int) {
	for id := range 2 {
		at, _ := b.Committed("transactions", embedded.Queue{Topic: "in", ID: id})
		sum += int(at)
	}
	return sum
}

// checkCommitted fails if a message is committed of which a row is not there.
func checkCommitted(t *testing.T, b *embedded.Broker, there map[string]int) {
	t.Helper()
	for id := range 2 {
		q := embedded.Queue{Topic: "in", ID: id}
		at, ok := b.Committed("transactions", q)
		if !ok {
			t.Fatalf("queue %d has no committed offset", id)
		}
		for _, m := range b.MessagesIn(q) {
			n, _, _ := strings.Cut(string(m.Body), "\x01")
			if m.Offset < at && (there[n+"\x01A"] == 0 || there[n+"\x01B"] == 0) {
				t.Fatalf("offset %d of queue %d is committed, and a row of the message at %d is not there", at, id, m.Offset)
			}
		}
		t.Logf("queue %d: committed %d of %d", id, at, len(b.MessagesIn(q)))
	}
}
