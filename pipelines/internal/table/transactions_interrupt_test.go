// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race || plainbeam

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

// Not with Beam under the race detector, see [TestAScriptWithoutEnd].

// A script that is interrupted while transactions wait for their commits, and
// started again where its group has committed, loses no row and writes none twice.
func TestAnInterruptedScriptWithTransactionsLosesNothing(t *testing.T) {
	const calm, messages = 40, 400
	b := embedded.Start(context.Background(), embedded.WithNormalTopic("in", "out"), embedded.WithQueues(2))
	t.Cleanup(b.Close)
	c := &cluster{nameServer: b.NameServer()}
	if f := runToEnd(t, transactional(c, "earliest", "in", "out"), bounded()); f.MessagesRead != 0 {
		t.Fatalf("figures %+v of an empty topic", f)
	}
	publish := func(from, to int) {
		for i, m := range numbered(from, to) {
			b.PublishTo(embedded.Queue{Topic: "in", ID: i % 2}, m.Body)
		}
	}
	var slow atomic.Bool
	b.ControlAlways(embedded.RemotingEndTransaction, func(context.Context, *embedded.Request) embedded.Reaction {
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
	script := transactional(c, "group", "in", "out")
	var report bytes.Buffer
	if err := Run(ctx, "test.sql", script, Defaults(), &report); !errors.Is(err, ErrInterrupted) {
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
	runToEnd(t, script, bounded())
	clear(there)
	for _, m := range b.Messages("out") {
		if there[string(m.Body)]++; there[string(m.Body)] > 1 {
			t.Errorf("%q is there %d times", m.Body, there[string(m.Body)])
		}
	}
	if len(there) != 2*messages {
		t.Errorf("%d rows are there, want %d", len(there), 2*messages)
	}
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
