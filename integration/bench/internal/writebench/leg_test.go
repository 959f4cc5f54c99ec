// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package writebench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/google/go-cmp/cmp"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func TestMain(m *testing.M) { ptest.MainWithDefault(m, "prism") }

const topic = "written"

func target(t *testing.T) (*embedded.Broker, *Target) {
	t.Helper()
	mq := embedded.Start(t.Context(), embedded.WithNormalTopic(topic), embedded.WithQueues(4))
	t.Cleanup(mq.Close)
	at, err := Open(t.Context(), mq.NameServer(), topic)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { at.Close() })
	return mq, at
}

func TestAllProgramsWriteAllMessagesOnce(t *testing.T) {
	_, at := target(t)
	around := 0
	c := &Comparison{Rounds: 2, Settings: Settings{Load: Load{Messages: 403, Body: 64}, Pending: 100}, Log: slog.New(slog.DiscardHandler), Around: func(leg func() error) error {
		around++
		return leg()
	}}
	rounds, err := c.Compare(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rounds {
		for _, side := range []Side{Async, Batch, Pipeline} {
			if l := r.Legs[side]; l.Messages != 403 || l.Failed != 0 || l.Again != 0 || l.Elapsed <= 0 || l.Allocations == 0 {
				t.Errorf("round %d, %s: got %+v", i, side, l)
			}
		}
	}
	if around != 2 {
		t.Errorf("profiles were taken of %d legs, want the two of the pipeline", around)
	}
	if c.AsyncInFlight == 0 || c.BatchInFlight == 0 {
		t.Errorf("the sweep chose %d and %d in flight", c.AsyncInFlight, c.BatchInFlight)
	}
}

// program stands for the one with rocketmq-client-go.
type program func(args []string) (string, error)

func (p program) Output(_ context.Context, args ...string) ([]byte, error) {
	out, err := p(args)
	return []byte(out), err
}

func TestWhatTheProgramWithClientGoSaysIsChecked(t *testing.T) {
	_, at := target(t)
	for _, c := range []struct {
		name, says string
		err        error
		want       string
	}{
		{"more acknowledged than stored", `{"messages":100,"failed":3,"seconds":0.5}`, nil, "97 messages were acknowledged, but only 0 are stored"},
		{"another number of messages", `{"messages":99}`, nil, "want 100 messages"},
		{"something else than JSON", "hello", nil, "hello"},
		{"a failure", "", errors.New("exit status 3"), "exit status 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var args string
			p := program(func(a []string) (string, error) { args = strings.Join(a, " "); return c.says, c.err })
			s := &Settings{Load: Load{Messages: 100, Body: 8}, ClientGo: p, ClientGoInFlight: 7, Pending: 100}
			if _, err := at.Run(t.Context(), ClientGo, s); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			if want := fmt.Sprintf("write %s %s 100 8 7", at.NameServers, topic); args != want {
				t.Errorf("it was called with %q, want %q", args, want)
			}
		})
	}
}

// round has 1000 messages on each side, in the given milliseconds.
func round(async, batch, pipeline int) Round {
	leg := func(side Side, ms, failed int) Leg {
		return Leg{Side: side, Failed: failed, Run: comparison.Run{Messages: 1000 - failed, Elapsed: time.Duration(ms) * time.Millisecond, CPU: 20 * time.Millisecond, Allocations: 45_000}}
	}
	return Round{Order: []Side{Async, Batch, Pipeline}, Legs: map[Side]Leg{Async: leg(Async, async, 500), Batch: leg(Batch, batch, 0), Pipeline: leg(Pipeline, pipeline, 0)}}
}

// Others read the last line of the output; its shape must not change by accident.
func TestTheReportIsOneLineOfJSON(t *testing.T) {
	var out bytes.Buffer
	rounds := []Round{round(100, 200, 200), round(1000, 500, 1000), round(1000, 1000, 500)}
	s := &Settings{Load: Load{Messages: 1000}, AsyncInFlight: 64, BatchInFlight: 4, Pending: 100}
	if err := (Report{Embedded: Summarize(rounds, s)}).WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	want := `{"real":null,"embedded":{"raw_per_s":2000,"pipeline_per_s":2000,"ratio":1,"min_ratio":0.5,"max_ratio":2,` +
		`"raw_async_per_s":500,"raw_batches_per_s":2000,"client_go_per_s":null,"raw_failed":1500,"pipeline_failed":0,` +
		`"client_go_failed":null,"pipeline_stored_again":0,"pairs":3,"messages":1000,"raw_async_in_flight":64,` +
		`"raw_batches_in_flight":4,"pipeline_pending":100,"raw_cpu_s_per_million":20,"raw_async_cpu_s_per_million":40,"pipeline_cpu_s_per_million":20,` +
		`"client_go_cpu_s_per_million":null,"raw_allocs_per_message":45,"pipeline_allocs_per_message":45}}` + "\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("report (-want +got):\n%s", d)
	}
	if !json.Valid(out.Bytes()) {
		t.Error("it is no JSON")
	}
}
