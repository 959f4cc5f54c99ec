// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

// P05: a pipeline that never acks is told so, once.
func TestAPipelineWithoutAcksIsWarnedOnce(t *testing.T) {
	var log bytes.Buffer
	h := &redeliveries{log: slog.New(slog.NewTextHandler(&log, nil))}
	attempts := make([]int32, 1000)
	for _, usual := range []int32{1, 2} { // 2: deferred
		for i := range attempts {
			attempts[i] = usual
		}
		h.count(attempts)
	}
	if log.Len() != 0 {
		t.Errorf("attempts 1 and 2: %s", log.String())
	}
	for i := range attempts {
		attempts[i] = 3
	}
	for range 3 {
		h.count(attempts)
	}
	if n := strings.Count(log.String(), "ackfn.Ack"); n != 1 {
		t.Errorf("%d warnings, want 1: %s", n, log.String())
	}
}

func stored(at time.Time) coders.AckableMessage { return coders.AckableMessage{StoreTime: at} }

func TestTheWatermarkOfArrivalIsThePresent(t *testing.T) {
	e := &eventTimes{}
	m := stored(epoch)
	now := epoch.Add(time.Hour)
	if got := e.of(&m, now); !got.Equal(now) {
		t.Errorf("event time %v", got)
	}
	if got := e.watermark(newQueue(1), now); !got.Equal(now) {
		t.Errorf("watermark %v", got)
	}
}

// B15, B29: with publish times the watermark stays behind what is queued, goes
// on when nothing waits, and never falls.
func TestTheWatermarkOfPublishTimes(t *testing.T) {
	e := &eventTimes{publish: true, maxDisorder: 10 * time.Second}
	q := newQueue(10)
	at := func(s int) time.Time { return epoch.Add(time.Duration(s) * time.Second) }
	check := func(what string, got, want time.Time) {
		t.Helper()
		if !got.Equal(want) {
			t.Errorf("%s: got %v, want %v", what, got.Sub(epoch), want.Sub(epoch))
		}
	}
	m := stored(at(100))
	check("event time", e.of(&m, at(500)), at(100))
	q.push(at(500), stored(at(105)))
	check("behind the newest", e.watermark(q, at(500)), at(90))
	q.push(at(500), stored(at(95)))
	m = stored(at(200))
	e.of(&m, at(500))
	check("behind the oldest that waits", e.watermark(q, at(500)), at(95))
	q.takeAll(at(500), 9)
	check("behind the clock when nothing waits", e.watermark(q, at(500)), at(490))
	q.push(at(501), stored(at(50)))
	check("never back", e.watermark(q, at(501)), at(490))
}
