// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// queueStates are what a queue can look like when a pipeline starts.
var queueStates = []struct {
	name     string
	min, max int64
	commit   int64 // what a group that is known has committed
	prepare  func(*embedded.Broker)
}{
	{"an empty queue", 0, 0, 0, func(*embedded.Broker) {}},
	{"a fresh queue", 0, 10, 4, func(b *embedded.Broker) { publish(b, 0, 10, "m") }},
	{"an expired head", 6, 10, 8, func(b *embedded.Broker) { publish(b, 0, 10, "m"); b.ExpireMessages(queueNo(0), 6) }},
	{"trimmed below what was committed", 6, 10, 4, func(b *embedded.Broker) { publish(b, 0, 10, "m"); b.ExpireMessages(queueNo(0), 6) }},
	{"committed ahead of the end", 0, 10, 25, func(b *embedded.Broker) { publish(b, 0, 10, "m") }},
}

// groupStates are what the broker can say about the group's offset.
var groupStates = []struct {
	name    string
	prepare func(*embedded.Broker, int64)
	known   bool
	broken  bool // for ever
}{
	{"a new group", func(*embedded.Broker, int64) {}, false, false},
	{"a known group", func(b *embedded.Broker, at int64) { b.SetCommitted(testGroup, queueNo(0), at) }, true, false},
	{"a broker error once", func(b *embedded.Broker, at int64) {
		b.SetCommitted(testGroup, queueNo(0), at)
		b.Control(embedded.RemotingCommitted, busyOnce)
	}, true, false},
	{"a broker error for ever", func(b *embedded.Broker, at int64) {
		b.SetCommitted(testGroup, queueNo(0), at)
		b.ControlAlways(embedded.RemotingCommitted, busyOnce)
	}, true, true},
}

func busyOnce(context.Context, *embedded.Request) embedded.Reaction {
	return embedded.AnswerRemoting(1, "system error", nil, nil)
}

// wantStart is the first offset, or the beginning of an error, of one cell.
func wantStart(mode string, min, max, commit int64, known, broken bool) (int64, string) {
	switch mode {
	case "earliest":
		return min, ""
	case "latest", "timestamp in the future":
		return max, ""
	case "timestamp at the epoch":
		return min, ""
	case "specific 5", "offset 5":
		if 5 < min || 5 > max {
			return 0, "holds offsets"
		}
		return 5, ""
	}
	switch { // committed, else earliest
	case broken:
		return 0, testGroup
	case !known:
		return min, ""
	case commit < min || commit > max:
		return 0, "holds offsets"
	}
	return commit, ""
}

// The first offset of each start in each state of queue and group (O01, O05, O11,
// O15, O19, O20, O21, O31, X11a, X14a, X14b, Y20). The policy is to fail, so
// that an offset out of range shows.
func TestTheFirstOffsetOfEachStartInEachState(t *testing.T) {
	starts := map[string]Start{
		"earliest": Earliest(), "latest": Latest(), "committed": Committed(Earliest()),
		"timestamp at the epoch": Timestamp(time.UnixMilli(1)), "timestamp in the future": Timestamp(time.Now().Add(time.Hour)),
		"specific 5": Specific(map[Queue]int64{{testTopic, "broker-a", 0}: 5}, Earliest()), "offset 5": Offset(5),
	}
	for mode, from := range starts {
		for _, q := range queueStates {
			for _, g := range groupStates {
				t.Run(fmt.Sprintf("%s/%s/%s", mode, q.name, g.name), func(t *testing.T) {
					t.Parallel()
					b := embedded.Start(context.Background())
					t.Cleanup(b.Close)
					b.CreateTopic(testTopic, 1)
					q.prepare(b)
					g.prepare(b, q.commit)
					cfg, err := newReadConfig(b.NameServer(), testGroup, []string{testTopic}, quick(ReadFrom(from)))
					if err != nil {
						t.Fatal(err)
					}
					s, err := openSession(t.Context(), cfg)
					if err != nil {
						t.Fatal(err)
					}
					defer s.close()
					got, err := s.discover(t.Context(), discovery{First: true})
					want, fault := wantStart(mode, q.min, q.max, q.commit, g.known, g.broken)
					if fault != "" {
						if err == nil || !strings.Contains(err.Error(), fault) {
							t.Errorf("got %v and error %v, want an error with %q", got, err, fault)
						}
						return
					}
					if err != nil || len(got) != 1 || got[0].Start != want || got[0].End != endless {
						t.Errorf("got %+v, %v, want a start of %d", got, err, want)
					}
				})
			}
		}
	}
}
