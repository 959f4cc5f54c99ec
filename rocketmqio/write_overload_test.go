// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// overloaded is a broker that serves so many messages at a time, refuses more, is
// busy at random for some of the rest, and dies once.
type overloaded struct {
	broker *embedded.Broker
	bears  int
	serves time.Duration

	mu      sync.Mutex
	random  *rand.Rand
	now     int
	most    int
	done    int
	dieAt   int
	held    time.Duration // sum of the times that messages were held for
	refused int
	busy    int
	marks   map[int]time.Time // when so many messages were done
	resumed chan struct{}
}

func overload(b *embedded.Broker, bears int, serves time.Duration, dieAt int) *overloaded {
	o := &overloaded{broker: b, bears: bears, serves: serves, dieAt: dieAt, random: rand.New(rand.NewPCG(3, 4)), marks: map[int]time.Time{}, resumed: make(chan struct{})}
	both(b, o.control)
	return o
}

func (o *overloaded) control(ctx context.Context, r *embedded.Request) embedded.Reaction {
	n := 1
	if r.Method == embedded.RemotingSendBatch {
		entries, err := remoting.DecodeBatch(r.Body)
		if err != nil {
			return embedded.Fail(err)
		}
		n = len(entries)
	}
	if !o.admit(n) {
		return busy
	}
	begin := time.Now()
	select {
	case <-time.After(o.serves): // it is the broker's work
	case <-ctx.Done():
	}
	o.leave(n, time.Since(begin))
	return embedded.Pass()
}

func (o *overloaded) admit(n int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.now+n > o.bears:
		o.refused++
		return false
	case o.random.IntN(20) == 0:
		o.busy++
		return false
	}
	o.now += n
	o.most = max(o.most, o.now)
	return true
}

func (o *overloaded) leave(n int, took time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now -= n
	before := o.done
	o.done += n
	o.held += took * time.Duration(n)
	for at := before/1000 + 1; at <= o.done/1000; at++ {
		o.marks[1000*at] = time.Now()
	}
	if o.dieAt > 0 && o.done >= o.dieAt {
		o.dieAt = 0
		o.broker.StopBroker("")
		time.AfterFunc(10*time.Second, func() {
			o.broker.ResumeBroker("")
			close(o.resumed)
		})
	}
}

// W05, W17, X27: against a broker that bears 100 messages at a time, is busy for
// one request in twenty, and is dead for 10 s, all 100 000 messages are stored,
// none twice without a word, with bounded memory. How near the throughput comes to
// what the broker bears is printed.
func TestAnOverloadedAndDyingBrokerGetsAll(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: takes half a minute")
	}
	const n, batch = 100_000, 10
	b := startBroker(t, 4)
	o := overload(b, 100, 20*time.Millisecond, n*3/10)
	cfg := writeConfigOf(t, b.NameServer(), WriteBatch(batch, 1<<20), WriteCongestion(1, 0.95, 0.2), WriteSendTimeout(5*time.Second))
	fn := &writeFn{bundleWriter{Config: cfg}}
	if err := fn.Setup(); err != nil {
		t.Fatal(err)
	}
	repeated := map[string]bool{}
	results, buffered := 0, 0
	emit := func(r WriteResult) {
		results++
		if r.Repeated {
			repeated[r.UniqueKey] = true
		}
		if results%100 == 0 {
			writeSessions.Peek(fn.key, func(s *writeSession) { buffered = max(buffered, s.sink.Stats().Buffered) })
		}
	}
	for bundle := range 10 {
		fn.StartBundle(t.Context(), emit)
		for i := range n / 10 {
			if err := processOne(t, fn, numbered(bundle*n/10+i), emit); err != nil {
				t.Fatal(err)
			}
		}
		if err := fn.FinishBundle(t.Context(), emit); err != nil {
			t.Fatal(err)
		}
	}
	<-o.resumed
	if results != n {
		t.Errorf("%d results, want %d", results, n)
	}
	stats := sentBy(t, cfg)
	o.checkStored(t, n, repeated, stats.Uncertain)
	if most := 2*DefaultPendingMax + batch; buffered > most {
		t.Errorf("up to %d messages waited, want %d at most", buffered, most)
	}
	o.report(t, n, fmt.Sprintf("%+v", stats))
}

// checkStored checks that all are stored, and twice only those that are known to
// have been repeated.
func (o *overloaded) checkStored(t *testing.T, n int, repeated map[string]bool, uncertain int64) {
	t.Helper()
	copies, extra := map[string]int{}, int64(0)
	bodies := map[string]bool{}
	for _, m := range o.broker.Messages(testTopic) {
		copies[m.ID]++
		bodies[string(m.Body)] = true
		if copies[m.ID] > 1 {
			extra++
			if !repeated[m.ID] {
				t.Fatalf("message %s is stored %d times, and its result does not say so", m.Body, copies[m.ID])
			}
		}
	}
	if len(bodies) != n || len(copies) != n {
		t.Errorf("%d messages with %d bodies are stored, want %d", len(copies), len(bodies), n)
	}
	if extra > uncertain {
		t.Errorf("%d further copies are stored, only %d repetitions were counted", extra, uncertain)
	}
}

// report prints how it went in the second half, when all had settled.
func (o *overloaded) report(t *testing.T, n int, stats string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	from, to := o.marks[n/2], o.marks[n*95/100]
	rate := float64(n*45/100) / to.Sub(from).Seconds()
	cap := float64(o.bears) / (o.held.Seconds() / float64(o.done))
	t.Logf("settled: %.0f messages a second of the %.0f that the broker bears at most (%.0f %%); up to %d at a time, %d requests refused, %d busy at random; %s",
		rate, cap, 100*rate/cap, o.most, o.refused, o.busy, stats)
}
