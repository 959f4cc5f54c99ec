// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package runners

import (
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"

	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

// X29: the direct runner, which knows no unbounded sources, refuses them with a
// sentence that says what to use, and not with a panic.
func TestTheDirectRunnerRefusesUnboundedSources(t *testing.T) {
	b := startBus(t)
	for name, read := range map[string]func(beam.Scope) beam.PCollection{
		"litegrpcio.Read": func(s beam.Scope) beam.PCollection {
			return litegrpcio.Read(s, b.Endpoints(), busTopic, busGroup, litegrpcio.ReadMaxRecords(1))
		},
		"rocketmqio.Read": func(s beam.Scope) beam.PCollection {
			return rocketmqio.Read(s, b.NameServer(), ordersGroup, []string{ordersTopic})
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, s := beam.NewPipelineWithRoot()
			read(s)
			_, err := direct.Execute(t.Context(), p)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range []string{name + " is unbounded", "direct runner", name + "Bounded", "--runner=prism"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it to name %q", err, want)
				}
			}
		})
	}
}

// X29: bounded sources run on it, with all that follows them.
func TestTheDirectRunnerRunsBoundedPipelines(t *testing.T) {
	t.Run("normal topics", func(t *testing.T) {
		b := startBroker(t)
		tp := newTap(t)
		const n = 40
		publishOrders(b, 0, n)
		p, s := beam.NewPipelineWithRoot()
		countBounded(t, s, b)
		if _, err := direct.Execute(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if got := total(tp.snapshot()); got != n {
			t.Errorf("%d messages are counted in windows, want %d", got, n)
		}
	})
	t.Run("lite topics", func(t *testing.T) {
		b := startBus(t)
		publishTenants(b)
		p, s := beam.NewPipelineWithRoot()
		throttleBounded(t, s, b, noisy+calm)
		if _, err := direct.Execute(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if n := b.Pending(busTopic); n != 0 {
			t.Errorf("%d messages are not acked", n)
		}
	})
}
