// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package fairshare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/load"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/stats"
)

func TestMain(m *testing.M) {
	portable.Init(io.Discard, false)
	code := m.Run()
	if code == 0 {
		code = checkGoroutines()
	}
	os.Exit(code)
}

// checkGoroutines fails if one that runs this module's code is left. The job
// servers of prism, which cannot be stopped, leave many others, among them those
// of gRPC, so that goleak has no way to tell.
func checkGoroutines() int {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	limit := time.After(15 * time.Second)
	for {
		var left []string
		for _, g := range strings.Split(allStacks(), "\n\n") {
			if strings.Contains(g, "rocketmq-beam/rocketmq-beam/") && !strings.Contains(g, "allStacks") {
				left = append(left, g)
			}
		}
		if len(left) == 0 {
			return 0
		}
		select {
		case <-ticker.C:
		case <-limit:
			fmt.Fprintf(os.Stderr, "%d goroutines are left:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
			return 1
		}
	}
}

func allStacks() string {
	buf := make([]byte, 16<<20)
	return string(buf[:runtime.Stack(buf, true)])
}

// small is a load that takes seconds.
func small(t *testing.T) Options {
	o := Defaults()
	o.Load = load.Shape{Tenants: 5, Sessions: 1, NoisySessions: 30, CalmRate: 3, NoisyRate: 120, Duration: time.Second, Seed: 1}
	o.Work, o.Workers = 40*time.Millisecond, 2 // 50 a second
	o.Quota, o.Window, o.Defer = 8, 250*time.Millisecond, 2*time.Second
	o.DrainTimeout = 30 * time.Second
	o.Plot = filepath.Join(t.TempDir(), "fairshare.svg")
	return o
}

// withBroker points the options at a broker that the test controls.
func withBroker(t *testing.T, o *Options, opts ...embedded.Option) *embedded.Broker {
	t.Helper()
	b := embedded.Start(t.Context(), append([]embedded.Option{
		embedded.WithLiteTopic(o.Topic), embedded.WithWildcardGroup(o.Group, o.Topic),
	}, opts...)...)
	t.Cleanup(b.Close)
	o.Endpoints = b.Endpoints()
	return b
}

// result reads the last line.
func result(t *testing.T, out string) map[string]stats.Summary {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	var r struct{ Legs map[string]stats.Summary }
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		t.Fatalf("the last line is no JSON: %v\n%s", err, out)
	}
	return r.Legs
}

func TestThePolicyKeepsTheCalmTenantsLatencyLow(t *testing.T) {
	o := small(t)
	var out bytes.Buffer
	if err := Run(t.Context(), o, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	t.Logf("\n%s", &out)
	legs := result(t, out.String())
	none, fair := legs["none"], legs["fair"]
	for name, s := range legs {
		if want := o.Load.Total(); s.Published != want || s.DistinctAcked != want || s.Lost != 0 {
			t.Errorf("%s: published %d, acked %d, lost %d; want %d, %[5]d, 0", name, s.Published, s.DistinctAcked, s.Lost, want)
		}
	}
	if none.Deferred != 0 || fair.Deferred == 0 {
		t.Errorf("deferred %d without and %d with the policy; want none and some", none.Deferred, fair.Deferred)
	}
	// In a quiet machine the factor is about three.
	if *fair.CalmP99*1.4 > *none.CalmP99 {
		t.Errorf("calm p99 is %.0f ms with the policy and %.0f ms without: that is no difference", *fair.CalmP99, *none.CalmP99)
	}
	if *fair.NoisyP99 <= *fair.CalmP99 {
		t.Errorf("with the policy the noisy tenant's p99 is %.0f ms, no more than the calm ones' %.0f ms", *fair.NoisyP99, *fair.CalmP99)
	}
	if _, err := os.Stat(o.Plot); err != nil {
		t.Error(err)
	}
}

func TestRepeatedDeliveriesAreCountedAndNothingIsLost(t *testing.T) {
	o := small(t)
	o.Legs = []string{"none"}
	b := withBroker(t, &o)
	// In the middle of the load every lease ends at once: what is out then comes
	// a second time, and the acknowledgements under way come too late.
	expired := make(chan int, 1)
	go func() {
		out := 0
		if err := b.Wait(t.Context(), func(s embedded.Snapshot) bool {
			out = 0
			for _, m := range s.Messages(o.Topic) {
				if len(m.Deliveries) > 0 && !m.Acked() {
					out++
				}
			}
			return len(s.Messages(o.Topic)) > o.Load.Total() && out > 10
		}); err == nil {
			b.ExpireLeases()
		}
		expired <- out
	}()
	var out bytes.Buffer
	if err := Run(t.Context(), o, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if n := <-expired; n == 0 {
		t.Fatal("nothing was out when the leases were to end")
	}
	got := result(t, out.String())["none"]
	if got.Lost != 0 || got.DistinctAcked != o.Load.Total() {
		t.Errorf("lost %d, acked %d of %d", got.Lost, got.DistinctAcked, o.Load.Total())
	}
	if got.Redelivered == 0 {
		t.Errorf("redelivered 0, want those that were out when the leases ended\n%s", &out)
	}
}

func TestALostMessageIsNamed(t *testing.T) {
	o := small(t)
	o.Legs = []string{"none"}
	o.Work, o.DrainTimeout = time.Millisecond, 5*time.Second // the rest is done long before
	b := withBroker(t, &o)
	// The broker says that it stored a message of the load, and did not.
	warmUp := len(load.WarmUp(o.Load, 1))
	lost := make(chan string, 1)
	b.Control(embedded.SendMessage, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		if b.Requests(embedded.SendMessage) < warmUp+20 {
			return embedded.Pass()
		}
		id := r.Send().GetMessages()[0].GetSystemProperties().GetMessageId()
		lost <- id
		ok := &v2.Status{Code: v2.Code_OK}
		return embedded.Answer(&v2.SendMessageResponse{Status: ok, Entries: []*v2.SendResultEntry{{Status: ok, MessageId: id}}})
	})
	var out bytes.Buffer
	err := Run(t.Context(), o, &out)
	loss, ok := errors.AsType[*LostError](err)
	if !ok {
		t.Fatalf("got %v, want a LostError\n%s", err, &out)
	}
	if id := <-lost; loss.Lost != 1 || len(loss.IDs) != 1 || loss.IDs[0] != id || !strings.Contains(err.Error(), id) {
		t.Errorf("got %v, want it to name %s alone", err, id)
	}
	if got := result(t, out.String())["none"]; got.Lost != 1 {
		t.Errorf("the JSON says lost %d, want 1", got.Lost)
	}
}

func TestMessagesOfEarlierRunsAreAckedAndDoNotCount(t *testing.T) {
	o := small(t)
	o.Legs = []string{"fair"}
	b := withBroker(t, &o)
	const old = 7
	var ids []string
	for range old {
		ids = append(ids, b.Publish(o.Topic, "noisy-s001", []byte("of an earlier run")))
	}
	var out bytes.Buffer
	if err := Run(t.Context(), o, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	got := result(t, out.String())["fair"]
	if got.Foreign != old || got.Published != o.Load.Total() || got.Lost != 0 {
		t.Errorf("foreign %d, published %d, lost %d; want %d, %d, 0", got.Foreign, got.Published, got.Lost, old, o.Load.Total())
	}
	for _, id := range ids {
		if m, _ := b.Message(id); !m.Acked() {
			t.Errorf("message %s of an earlier run was not acked", id)
		}
	}
}

func TestAFailedPipelineIsAnErrorInPlainWords(t *testing.T) {
	o := small(t)
	o.Legs = []string{"none"}
	b := withBroker(t, &o)
	b.ControlAlways(embedded.AckMessage, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.Answer(&v2.AckMessageResponse{Status: &v2.Status{Code: v2.Code_FORBIDDEN, Message: "no permission"}})
	})
	err := Run(t.Context(), o, io.Discard)
	if err == nil {
		t.Fatal("no error")
	}
	text := err.Error()
	for _, want := range []string{"leg none", "no permission", o.Topic, o.Group} {
		if !strings.Contains(text, want) {
			t.Errorf("got %q, want it to name %q", text, want)
		}
	}
	for _, unwanted := range []string{"goroutine", "panic", "plan S", ".go:"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("got %q, want it without %q", text, unwanted)
		}
	}
}
