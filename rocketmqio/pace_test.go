// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/health"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// X31: a rate limit holds, and nobody turns round and round while it holds
// something back.
func TestARateLimitHoldsWithoutSpinning(t *testing.T) {
	b := startBroker(t, 2)
	publish(b, 0, 100, "m")
	publish(b, 1, 100, "m")
	s := testSession(t, b, ReadFrom(Earliest()), ReadRateLimit(40))
	r := s.readerAt(queueZero, 0, endless)
	other := s.readerAt(Queue{testTopic, "broker-a", 1}, 0, endless)
	for name, wait := range map[string]func(){
		"a bundle that stays with its queue":     func() { s.awaitQueue(t.Context(), r, time.Second) },
		"a bundle that goes from queue to queue": func() { s.awaitArrival(t.Context(), r, time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			drain := func(r *reader) (n int) {
				for {
					messages, _ := r.take(100)
					if len(messages) == 0 {
						return n
					}
					n += len(messages)
				}
			}
			eventually(t, s, "what may come at once has come", func() bool { drain(r); return r.limiter.Tokens() < 1 })
			eventually(t, s, "messages wait", func() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.waiting.count > 0 })
			drain(r)
			drain(other)
			began, got, looks := time.Now(), 0, 0
			for ; got < 10; looks++ {
				wait()
				got += drain(r)
				drain(other)
			}
			if d := time.Since(began); d < 200*time.Millisecond {
				t.Errorf("10 messages took %v at 40 a second", d)
			}
			if looks > 60 {
				t.Errorf("%d looks for 10 messages", looks)
			}
		})
	}
}

// X31: end to end, in both DoFns.
func TestARateLimitedPipeline(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 60, "m")
	c := newCollector(t)
	began := time.Now()
	if err := start(t, readPipeline(t, b, ReadFrom(Earliest()), ReadTo(AtLatest()), ReadRateLimit(40))).wait(t); err != nil {
		t.Fatal(err)
	}
	// As many as a second's at once, then one each 25 ms.
	if d := time.Since(began); d < 450*time.Millisecond || d > 20*time.Second {
		t.Errorf("60 messages at 40 a second took %v", d)
	}
	if n := len(c.all()); n != 60 {
		t.Errorf("%d messages, want 60", n)
	}
}

// damaged answers pulls of one queue from an offset on with n good messages and
// then something that is none.
func damaged(n int) embedded.ControlFunc {
	return func(_ context.Context, r *embedded.Request) embedded.Reaction {
		from, _ := strconv.ParseInt(r.Fields["queueOffset"], 10, 64)
		var body []byte
		for i := range n {
			body = remoting.AppendMessage(body, &remoting.Message{Topic: testTopic, QueueOffset: from + int64(i), Born: time.Now(), Stored: time.Now(), Body: []byte("good")})
		}
		body = append(body, 0, 0, 0, 90, 1, 2, 3, 4) // a length, no magic number, and the end
		return embedded.AnswerRemoting(0, "FOUND", map[string]string{"nextBeginOffset": strconv.FormatInt(from+32, 10),
			"minOffset": "0", "maxOffset": "100", "suggestWhichBrokerId": "0"}, body)
	}
}

// A pull that is damaged in the middle has brought what came before the damage,
// and is a failure all the same; the rest is pulled again.
func TestAPullThatIsDamagedInTheMiddle(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 10, "m")
	b.Control(embedded.RemotingPull, damaged(2))
	s := testSession(t, b, ReadFrom(Earliest()))
	r := s.readerAt(queueZero, 0, 10)
	eventually(t, s, "all is pulled", func() bool { return r.next() >= 10 })
	messages, _ := r.take(100)
	rest, reached := r.take(100) // of the next pull
	messages = append(messages, rest...)
	if len(messages) != 10 || reached != 10 || string(messages[1].Body) != "good" || string(messages[2].Body) != "m-0-2" {
		t.Errorf("%d messages up to %d, want 10 of which two are of the damaged answer", len(messages), reached)
	}
	if n := s.stats.pullFailed.Load(); n != 1 {
		t.Errorf("%d pulls failed, want 1", n)
	}
	if err := r.verdict(); err != nil {
		t.Errorf("a damage that passed fails the bundle: %v", err)
	}
}

// One that is damaged at the same place for ever brings nothing more, and
// silence is counted from the last message on: the bundle fails when the stall
// timeout is over.
func TestADamageForEverIsAStall(t *testing.T) {
	b := startBroker(t, 1)
	publish(b, 0, 10, "m")
	b.Control(embedded.RemotingPull, damaged(2))
	b.ControlAlways(embedded.RemotingPull, damaged(0))
	s := testSession(t, b, ReadFrom(Earliest()))
	r := s.readerAt(queueZero, 0, 10)
	eventually(t, s, "the first messages came", func() bool { return r.next() == 2 })
	last := time.Now()
	eventually(t, s, "more pulls failed", func() bool { return s.stats.pullFailed.Load() >= 6 })
	if err := r.health.Verdict(time.Now()); err != nil {
		t.Errorf("before the timeout: %v", err)
	}
	err := r.health.Verdict(last.Add(s.cfg.StallTimeout))
	if !errors.Is(err, health.ErrStalled) || !errors.Is(err, remoting.ErrMalformed) {
		t.Errorf("after the timeout: got %v, want a stall with its cause", err)
	}
	if r.isIdle() {
		t.Error("a queue that cannot be read counts as idle")
	}
}
