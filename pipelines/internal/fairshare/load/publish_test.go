// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPublishSendsEachEventWhenItIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		events := []Event{{At: 0}, {At: time.Second}, {At: time.Second}, {At: time.Minute}}
		var mu sync.Mutex
		var late []time.Duration
		err := Publish(t.Context(), events, 2, func(_ context.Context, e Event) error {
			mu.Lock()
			defer mu.Unlock()
			late = append(late, time.Since(start)-e.At)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(late) != len(events) {
			t.Fatalf("%d of %d events were sent", len(late), len(events))
		}
		for i, d := range late {
			if d != 0 {
				t.Errorf("event %d was sent %v late", i, d)
			}
		}
	})
}

func TestPublishLeavesOutNothingWhenSendingIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := make([]Event, 10) // all due at once
		sent := 0
		err := Publish(t.Context(), events, 1, func(context.Context, Event) error {
			time.Sleep(time.Second) // the bubble's clock
			sent++
			return nil
		})
		if err != nil || sent != len(events) {
			t.Errorf("sent %d of %d, error %v", sent, len(events), err)
		}
	})
}

func TestPublishEndsWithTheFirstError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("boom")
		events := []Event{{At: 0}, {At: time.Second}, {At: time.Hour}}
		start := time.Now()
		err := Publish(t.Context(), events, 3, func(_ context.Context, e Event) error {
			if e.At == time.Second {
				return boom
			}
			return nil
		})
		if !errors.Is(err, boom) {
			t.Errorf("got error %v, want %v", err, boom)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("took %v, want 1s", took)
		}
	})
}

func TestPublishEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		err := Publish(ctx, []Event{{At: 0}, {At: time.Hour}}, 1, func(context.Context, Event) error {
			cancel(reason)
			return nil
		})
		if !errors.Is(err, reason) {
			t.Errorf("got error %v, want %v", err, reason)
		}
	})
}
