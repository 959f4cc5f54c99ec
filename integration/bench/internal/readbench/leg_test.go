// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package readbench

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func TestMain(m *testing.M) { ptest.MainWithDefault(m, "prism") }

const topic = "backlog"

var small = Load{Messages: 402, Body: 64}

func filled(t *testing.T) (*embedded.Broker, *Backlog) {
	t.Helper()
	mq := embedded.Start(t.Context(), embedded.WithNormalTopic(topic), embedded.WithQueues(4))
	t.Cleanup(mq.Close)
	b, err := Fill(t.Context(), mq.NameServer(), topic, small)
	if err != nil {
		t.Fatal(err)
	}
	return mq, b
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestFillingSharesMessagesOutEvenly(t *testing.T) {
	_, b := filled(t)
	for i, end := range b.Ends {
		if end != 101 {
			t.Errorf("queue %d has %d messages, want 101", i, end)
		}
	}
	found, err := Open(t.Context(), b.NameServers, topic)
	if err != nil {
		t.Fatal(err)
	}
	if found.Messages() != b.Messages() || len(found.Queues) != 4 {
		t.Errorf("found again are %d messages in %d queues, want %d in 4", found.Messages(), len(found.Queues), b.Messages())
	}
}

func TestAllProgramsReadAllMessages(t *testing.T) {
	_, b := filled(t)
	around := 0
	c := &Comparison{Rounds: 2, Log: quiet(), Around: func(leg func() error) error {
		around++
		return leg()
	}}
	rounds, err := c.Compare(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rounds {
		for _, side := range []Side{Raw, Pipeline, Limit} {
			l := r.Legs[side]
			if l.Messages != b.Messages() || l.Elapsed <= 0 || l.Calls < 1 || l.LargestCall < 1 || l.Start < 0 || l.Allocations == 0 {
				t.Errorf("round %d, %s: got %+v", i, side, l)
			}
		}
	}
	if around != 2 {
		t.Errorf("profiles were taken of %d legs, want the two of the pipeline", around)
	}
}

func TestALegFailsIfMessagesAreMissing(t *testing.T) {
	for _, side := range []Side{Raw, Pipeline} {
		t.Run(string(side), func(t *testing.T) {
			mq, b := filled(t)
			mq.ExpireMessages(embedded.Queue{Topic: topic, ID: 2}, 7)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			_, err := (&Comparison{Log: quiet()}).Run(ctx, b, side)
			if err == nil || !strings.Contains(err.Error(), topic) {
				t.Errorf("got %v, want an error that names the topic", err)
			}
		})
	}
}

func TestASlowConsumerReadsAllInTheEnd(t *testing.T) {
	_, b := filled(t)
	slow := Slow{For: 50 * time.Millisecond, Pause: time.Millisecond, QueueThreshold: 10, TotalThreshold: 20}
	got, err := ReadSlowly(t.Context(), b, slow)
	if err != nil {
		t.Fatal(err)
	}
	if got.Messages != b.Messages() || got.ReadWhileSlow < 1 || got.ReadWhileSlow > 60 {
		t.Errorf("got %+v, want all messages, few of them in the slow time", got)
	}
	// Each queue may go over its limit by a pull.
	if most := int64((20 + 4*pullSize) * small.Body); got.PeakReady < 1 || got.PeakReady > most {
		t.Errorf("the source kept %d bytes ready, want 1 to %d", got.PeakReady, most)
	}
}

func TestTheTallyTellsWhatWasWrong(t *testing.T) {
	for _, c := range []struct {
		name  string
		marks [][2]int64 // queue and offset
		want  string
	}{
		{"all came once", [][2]int64{{0, 0}, {0, 1}, {1, 0}}, ""},
		{"one is missing", [][2]int64{{0, 0}, {1, 0}}, "2 of 3 messages came, 0 came again"},
		{"one came again", [][2]int64{{0, 0}, {0, 1}, {1, 0}, {0, 1}}, "3 of 3 messages came, 1 came again"},
		{"one lies behind the end", [][2]int64{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, "1 are not of the backlog"},
		{"one is of another queue", [][2]int64{{0, 0}, {0, 1}, {1, 0}, {2, 0}}, "1 are not of the backlog"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tally := newTally([]int64{2, 1})
			tally.begin()
			for _, m := range c.marks {
				if tally.mark(int(m[0]), m[1]) {
					tally.call(1)
				}
			}
			err := tally.verdict()
			if got := ""; err != nil {
				got = err.Error()
				if c.want == "" || !strings.Contains(got, c.want) {
					t.Errorf("got %q, want %q", got, c.want)
				}
			} else if c.want != "" {
				t.Errorf("got no error, want %q", c.want)
			}
			if err == nil && tally.elapsed() <= 0 {
				t.Errorf("got %v for the time it took", tally.elapsed())
			}
		})
	}
}

func TestTheTableHasALineForEachLegInTheOrderOfRunning(t *testing.T) {
	var out bytes.Buffer
	if err := WriteTable(&out, "real, 1000", []Round{round(0, 100, 200, 50), round(1, 100, 100, 50)}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[1:] {
		got = append(got, strings.Join(strings.Fields(line)[:2], " "))
	}
	if want := "1 raw,1 pipeline,1 prism,2 prism,2 pipeline,2 raw"; strings.Join(got, ",") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
