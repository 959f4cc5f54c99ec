// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litebench

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func TestMain(m *testing.M) { ptest.MainWithDefault(m, "prism") }

var small = Load{Messages: 200, LiteTopics: 20, Body: 16, Concurrency: 2}

func broker(t *testing.T, legs ...string) *embedded.Broker {
	t.Helper()
	var opts []embedded.Option
	for _, leg := range legs {
		opts = append(opts, embedded.WithLiteTopic(Topic(leg)), embedded.WithWildcardGroup(Group(leg), Topic(leg)))
	}
	b := embedded.Start(context.Background(), opts...)
	t.Cleanup(b.Close)
	return b
}

func TestBothSidesAcknowledgeAllMessages(t *testing.T) {
	around := 0
	c := &Comparison{Load: small, Pairs: 1, Log: slog.New(slog.DiscardHandler), Around: func(leg func() error) error {
		around++
		return leg()
	}}
	legs := append(c.Legs(), WarmUp)
	b := broker(t, legs...)
	c.Endpoints = b.Endpoints()
	if err := c.WarmUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	pairs, err := c.Compare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, leg := range legs {
		if n := b.PendingIn(Topic(leg), Group(leg)); n != 0 {
			t.Errorf("leg %s: the broker waits for %d acks", leg, n)
		}
	}
	for _, r := range []comparison.Run{pairs[0].Raw, pairs[0].Pipeline} {
		if r.Messages != small.Messages || r.Elapsed <= 0 || r.FirstAck <= 0 || r.FirstAck > r.Elapsed || r.Calls < 1 || r.LargestCall < 1 {
			t.Errorf("got %+v", r)
		}
	}
	if around != 1 {
		t.Errorf("profiles were taken of %d legs, want the one of the pipeline", around)
	}
}

// Of a backlog that takes too long only the beginning is measured.
func TestBothSidesStopAtThePartThatIsMeasured(t *testing.T) {
	load := small
	load.Measured = 50
	for _, side := range comparison.Order(0) {
		t.Run(side.String(), func(t *testing.T) {
			b := broker(t, "a")
			l := NewLeg(load, b.Endpoints(), "a")
			if err := l.Preload(t.Context()); err != nil {
				t.Fatal(err)
			}
			run, err := l.Run(t.Context(), side)
			if err != nil {
				t.Fatal(err)
			}
			if run.Messages != load.Measured || run.Elapsed <= 0 {
				t.Errorf("got %+v, want %d messages", run, load.Measured)
			}
		})
	}
}

func TestALegFailsIfAnAckIsRefused(t *testing.T) {
	for _, side := range comparison.Order(0) {
		t.Run(side.String(), func(t *testing.T) {
			b := broker(t, "a")
			l := NewLeg(small, b.Endpoints(), "a")
			if err := l.Preload(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.FailAckEntry(3, v2.Code_INVALID_RECEIPT_HANDLE)
			_, err := l.Run(t.Context(), side)
			if err == nil || !strings.Contains(err.Error(), "ack") || !strings.Contains(err.Error(), Topic("a")) {
				t.Errorf("got %v, want an error that tells of the ack and names the topic", err)
			}
		})
	}
}
