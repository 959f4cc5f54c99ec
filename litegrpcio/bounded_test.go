// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
)

// X29: the bounded source runs on the direct runner, which knows neither
// watermark estimators nor checkpoints.
func TestTheBoundedSourceRunsOnTheDirectRunner(t *testing.T) {
	b := startBroker(t)
	c := newCollector(t)
	for i := range 40 {
		b.Publish(testTopic, fmt.Sprintf("s-%d", i), []byte(fmt.Sprint(i)))
	}
	p, s := beam.NewPipelineWithRoot()
	msgs := ReadBounded(s, b.Endpoints(), testTopic, testGroup, ReadMaxRecords(40))
	beam.ParDo0(s, &discardFn{}, ackfn.Ack(s, beam.ParDo(s, &tapFn{Test: t.Name()}, msgs)))
	if _, err := direct.Execute(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if got := bodies(c.all()); len(got) != 40 || b.Pending(testTopic) != 0 {
		t.Errorf("%d bodies, %d not acked", len(got), b.Pending(testTopic))
	}
}

// The unbounded source would panic deep inside the direct runner; what it says
// must lead to ReadBounded.
func TestEachLimitEndsTheBoundedSource(t *testing.T) {
	for name, opts := range map[string][]ReadOption{
		"records":  {ReadMaxRecords(3)},
		"duration": {ReadMaxDuration(time.Second)},
		"idle":     {ReadIdleTimeout(time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t)
			c := newCollector(t)
			for i := range 3 {
				b.Publish(testTopic, fmt.Sprintf("s-%d", i), []byte(fmt.Sprint(i)))
			}
			p, s := beam.NewPipelineWithRoot()
			beam.ParDo0(s, &collectFn{Test: t.Name()}, ReadBounded(s, b.Endpoints(), testTopic, testGroup, opts...))
			start(t, p).succeed(t)
			if n := len(c.all()); n != 3 {
				t.Errorf("%d messages, want 3", n)
			}
		})
	}
}

// X09: a bounded reading whose broker is away fails; it does not end as if it
// had read all.
func TestABoundedReadingWithoutABrokerFails(t *testing.T) {
	b := startBroker(t)
	endpoints := b.Endpoints()
	b.Close()
	p, s := beam.NewPipelineWithRoot()
	ReadBounded(s, endpoints, testTopic, testGroup, ReadIdleTimeout(time.Second))
	_, err := direct.Execute(context.Background(), p)
	if err == nil || !strings.Contains(err.Error(), endpoints) {
		t.Errorf("got %v, want an error that names %s", err, endpoints)
	}
}
