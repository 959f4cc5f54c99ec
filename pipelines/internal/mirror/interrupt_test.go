// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package mirror

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// Not under the race detector: when a job is cancelled, the harness of Beam 2.77
// races with itself.

// A mirror that is interrupted again and again, in the middle of its work, loses
// nothing: each begins at what is committed, and that is never ahead of what is
// copied.
func TestAnInterruptedMirrorOfANormalTopicLosesNothing(t *testing.T) {
	from, to := clusters(t)
	const runs, calm, flood = 4, 400, 4000
	// Slow enough that an interruption comes in the middle of the flood.
	to.ControlAlways(embedded.RemotingSendBatch, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.Delay(250 * time.Millisecond)
	})
	o := normal(from.NameServer(), to.NameServer())
	o.Stop = toNever
	n := 0
	for i := range runs {
		ctx, interrupt := context.WithCancel(t.Context())
		go func() {
			defer interrupt()
			fill(from, n, n+calm)
			_ = from.Wait(ctx, func(embedded.Snapshot) bool { return committed(from) >= n+calm })
			fill(from, n+calm, n+calm+flood)
			_ = to.Wait(ctx, func(embedded.Snapshot) bool { return len(to.Messages(copied)) >= n+calm+flood/4 })
		}()
		got, err := run(ctx, t, o)
		if !errors.Is(err, ErrInterrupted) || !got.Interrupted || got.Aborted {
			t.Fatalf("%+v, %v", got, err)
		}
		n += calm + flood
		copies := bodiesOf(to, copied)
		checkCommitted(t, from, copies)
		t.Logf("run %d: of %d messages %d are copied, %d committed", i, n, len(copies), committed(from))
	}
	o.Stop = toLatest
	if _, err := run(t.Context(), t, o); err != nil {
		t.Fatal(err)
	}
	if got := len(bodiesOf(to, copied)); got != n || committed(from) != n {
		t.Errorf("%d of %d messages are copied, %d committed", got, n, committed(from))
	}
	t.Logf("%d copies of %d messages", len(to.Messages(copied)), n)
}

// committed is how many messages lie before what is committed.
func committed(b *embedded.Broker) (sum int) {
	for id := range 2 {
		at, _ := b.Committed(group, embedded.Queue{Topic: topic, ID: id})
		sum += int(at)
	}
	return sum
}

// checkCommitted fails if something is committed that is not copied.
func checkCommitted(t *testing.T, from *embedded.Broker, copies map[string]int) {
	t.Helper()
	for id := range 2 {
		q := embedded.Queue{Topic: topic, ID: id}
		at, _ := from.Committed(group, q)
		for _, m := range from.MessagesIn(q) {
			if m.Offset < at && copies[string(m.Body)] == 0 {
				t.Fatalf("offset %d of queue %d is committed, %s at %d is not copied", at, id, m.Body, m.Offset)
			}
		}
	}
}

func TestAnInterruptedMirrorOfLiteTopicsLosesNothing(t *testing.T) {
	from, to := clusters(t)
	const n = 600
	for i := range n {
		from.Publish("bus", fmt.Sprint("tenant-", i%50), fmt.Appendf(nil, "m-%d", i))
	}
	to.ControlAlways(embedded.SendMessage, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.Delay(5 * time.Millisecond)
	})
	o := lite(from.Endpoints(), to.Endpoints())
	o.InvisibleDuration = 10 * time.Second
	for range 2 {
		want := len(to.Messages("bus")) + n/5
		ctx, interrupt := context.WithCancel(t.Context())
		go func() {
			_ = to.Wait(ctx, func(embedded.Snapshot) bool { return len(to.Messages("bus")) >= want })
			interrupt()
		}()
		if _, err := run(ctx, t, o); err != nil && !errors.Is(err, ErrInterrupted) {
			t.Fatal(err)
		}
		interrupt()
		copies := bodiesOf(to, "bus")
		for _, m := range from.Messages("bus") {
			if m.Acked() && copies[string(m.Body)] == 0 {
				t.Fatalf("%s is acknowledged and not copied", m.Body)
			}
		}
	}
	o.IdleTimeout = 13 * time.Second // longer than the leases of the runs before
	if _, err := run(t.Context(), t, o); err != nil {
		t.Fatal(err)
	}
	if got := len(bodiesOf(to, "bus")); got != n || from.Pending("bus") != 0 {
		t.Errorf("%d of %d messages are copied, %d not acknowledged", got, n, from.Pending("bus"))
	}
}
