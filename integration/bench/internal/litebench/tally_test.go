// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litebench

import (
	"sync"
	"testing"
	"time"
)

func TestIDsTellTheirNumberAndForeignOnesDoNot(t *testing.T) {
	x, other := newIDs(), newIDs()
	for _, c := range []struct {
		name, id string
		want     int
	}{
		{"the first", x.of(0), 0},
		{"a large one", x.of(1_234_567), 1_234_567},
		{"one of another leg", other.of(3), -1},
		{"one cut short", x.of(3)[:30], -1},
		{"none at all", "", -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := x.number(c.id); got != c.want {
				t.Errorf("number of %q: got %d, want %d", c.id, got, c.want)
			}
		})
	}
	if len(x.of(1)) != 34 {
		t.Errorf("got an id of %d characters, RocketMQ's have 34", len(x.of(1)))
	}
}

func TestTheTallyCountsEachMessageOnce(t *testing.T) {
	tally := newTally(4, 3)
	for _, i := range []int{0, 0, 1, -1, 4, 1} {
		tally.ack(i)
	}
	if got := tally.distinct(); got != 2 {
		t.Errorf("got %d, want 2", got)
	}
	select {
	case <-tally.done:
		t.Error("it is done with a message missing")
	default:
	}
	tally.ack(2)
	<-tally.done
}

func TestProcessorTimeCountsFromTheFirstMessage(t *testing.T) {
	s := &cpuSamples{samples: []cpuSample{{10, 100}, {20, 200}, {30, 300}}}
	for at, want := range map[int64]time.Duration{5: 100, 10: 100, 25: 200, 99: 300} {
		if got := s.usedAt(at); got != want {
			t.Errorf("used at %d: got %d, want %d", at, got, want)
		}
	}
}

func TestTheClockRunsFromTheEarliestMessage(t *testing.T) {
	tally := newTally(1, 1)
	now := time.Now()
	var wg sync.WaitGroup
	for _, ago := range []time.Duration{time.Second, time.Minute, time.Hour, time.Millisecond} {
		wg.Go(func() { tally.received(now.Add(-ago)) })
	}
	wg.Wait()
	tally.ack(0)
	if got := tally.elapsed(); got < time.Hour || got > time.Hour+time.Minute {
		t.Errorf("got %v, want an hour and a little", got)
	}
}
