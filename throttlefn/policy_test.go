// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/google/go-cmp/cmp"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

func init() {
	register.Function1x1(isNoisy)
	RegisterPolicy[everySecond]()
	RegisterPolicy[*byPointer]()
	RegisterPolicy[leaky]()
}

func isNoisy(m coders.AckableMessage) bool { return strings.HasPrefix(m.LiteTopic(), "noisy") }

// everySecond is what a user would write.
type everySecond struct{ Delay time.Duration }

func (p everySecond) Start() Decide {
	return func(_ coders.AckableMessage, at Position) Verdict {
		if at.Index%2 == 1 {
			return DeferAlone(p.Delay)
		}
		return Pass()
	}
}

type byPointer struct{ Limit int }

func (p *byPointer) Start() Decide { return Quota{PerWindow: p.Limit, Defer: time.Minute}.Start() }

type unregistered struct{}

func (unregistered) Start() Decide { return nil }

type leaky struct{ hidden int }

func (l leaky) Start() Decide { return Quota{PerWindow: l.hidden, Defer: time.Minute}.Start() }

func decisions(d Decide, key string, now time.Time, n int) string {
	var out strings.Builder
	passed := 0
	for i := range n {
		v := d(message(key, int64(i), 0), Position{Key: key, Index: i, Passed: passed, Now: now})
		if v.deferred {
			fmt.Fprintf(&out, "%v ", v.delay)
			continue
		}
		passed++
		out.WriteString("pass ")
	}
	return strings.TrimSpace(out.String())
}

// Each policy goes through the graph's JSON and decides as before.
func TestPoliciesSurviveTheGraph(t *testing.T) {
	for _, c := range []struct {
		policy Policy
		key    string
		want   string
	}{
		{Quota{PerWindow: 2, Defer: 20 * time.Second}, "a", "pass pass 20s 20s"},
		{TokenBucket{PerSecond: 2, Burst: 3, Defer: 5 * time.Second}, "a", "pass pass pass 5s"},
		{TokenBucket{PerSecond: 0.5, Burst: 2}, "a", "pass pass 4s 4s"},
		{DeferWhile(isNoisy, time.Minute), "noisy-1", "1m0s 1m0s 1m0s 1m0s"},
		{DeferWhile(isNoisy, time.Minute), "calm", "pass pass pass pass"},
		{everySecond{Delay: 3 * time.Second}, "a", "pass 3s pass 3s"},
		{&byPointer{Limit: 1}, "a", "pass 1m0s 1m0s 1m0s"},
	} {
		e, err := encodePolicy(c.policy)
		if err != nil {
			t.Errorf("%T: %v", c.policy, err)
			continue
		}
		p, err := e.decode()
		if err != nil {
			t.Errorf("%T: %v", c.policy, err)
			continue
		}
		if diff := cmp.Diff(c.want, decisions(p.Start(), c.key, noon, 4)); diff != "" {
			t.Errorf("%T (-want +got):\n%s", c.policy, diff)
		}
	}
}

func TestATokenBucketFillsWithTimeAndKnowsItsKeys(t *testing.T) {
	d := TokenBucket{PerSecond: 1, Burst: 2, Defer: 5 * time.Second}.Start()
	for _, c := range []struct {
		key  string
		at   time.Duration
		want string
	}{
		{"a", 0, "pass pass 5s"},
		{"b", 0, "pass pass 5s"},
		{"a", time.Second, "pass 5s 5s"},
		{"a", time.Minute, "pass pass 5s"},
	} {
		if got := decisions(d, c.key, noon.Add(c.at), 3); got != c.want {
			t.Errorf("%s after %v: %s, want %s", c.key, c.at, got, c.want)
		}
	}
}

func TestAPolicyThatCannotWorkIsRefusedWhenThePipelineIsBuilt(t *testing.T) {
	for want, p := range map[string]Policy{
		"policy throttlefn.unregistered is not registered: call throttlefn.RegisterPolicy[throttlefn.unregistered]()": unregistered{},
		"field hidden is not exported":         leaky{},
		"the policy is nil":                    nil,
		"PerWindow 0 is out of range":          Quota{Defer: time.Minute},
		"Spread 1.5 is out of range":           Quota{PerWindow: 1, Defer: time.Minute, Spread: 1.5},
		"Defer 1ms is out of range":            Quota{PerWindow: 1, Defer: time.Millisecond},
		"Defer 13h0m0s is out of range":        Quota{PerWindow: 1, Defer: 13 * time.Hour},
		"PerSecond 0 is out of range":          TokenBucket{Burst: 1},
		"Burst 0 is out of range":              TokenBucket{PerSecond: 1},
		"DeferWhile: holds is nil":             DeferWhile(nil, time.Minute),
		"DeferWhile: holds is the function":    DeferWhile(func(coders.AckableMessage) bool { return true }, time.Minute),
		"DeferWhile: delay 0s is out of range": DeferWhile(isNoisy, 0),
	} {
		wantPanic(t, "throttlefn.Throttle: ", want, func(s beam.Scope) { Throttle(s, noGroups(s), p) })
	}
}

func TestAWrongOptionPanicsWithNameAndValue(t *testing.T) {
	good := Quota{PerWindow: 1, Defer: time.Minute}
	for want, opts := range map[string][]Option{
		"option MaxDeliveryAttempt: 0":                             {MaxDeliveryAttempt(0)},
		"option MaxDelay: 13h0m0s":                                 {MaxDelay(13 * time.Hour)},
		"option MaxTotalDelay: 1ms":                                {MaxTotalDelay(time.Millisecond)},
		"options MaxDelay(30m0s) and MaxTotalDelay(10m0s)":         {MaxTotalDelay(10 * time.Minute)},
		"option LiteTopicTTL: 1s":                                  {LiteTopicTTL(time.Second)},
		"options MaxTotalDelay(30m0s) and LiteTopicTTL(20m0s)":     {LiteTopicTTL(20 * time.Minute)}, // Y30
		"option WorkWithin: 0s":                                    {WorkWithin(0)},
		"options AckPassed and WorkWithin":                         {WorkWithin(time.Second), AckPassed(true)},
		"option MaxInFlight: 0":                                    {MaxInFlight(0)},
		"option RequestTimeout: 1ms":                               {RequestTimeout(time.Millisecond)},
		"option FlowControlBudget: 2h0m0s":                         {FlowControlBudget(2 * time.Hour)},
		`unknown credentials resolver "nosuch"`:                    {Credentials("nosuch")},
		"option Credentials: the resolver's name is empty":         {Credentials("")},
		"option StaticCredentials: access key and secret key must": {StaticCredentials("", "sk")},
	} {
		wantPanic(t, "throttlefn.Throttle: ", want, func(s beam.Scope) { Throttle(s, noGroups(s), good, opts...) })
	}
	wantPanic(t, "throttlefn.Throttle: ", "want the groups that throttlefn.GroupByLiteTopic", func(s beam.Scope) {
		Throttle(s, beam.Create(s, 1), good)
	})
	wantPanic(t, "throttlefn.GroupByLiteTopic: ", "option GroupEvery: 1ms", func(s beam.Scope) {
		GroupByLiteTopic(s, beam.Create(s, message("a", 1, 0)), GroupEvery(time.Millisecond))
	})
	wantPanic(t, "throttlefn.GroupByLiteTopic: ", "option GroupLateness: -1s", func(s beam.Scope) {
		GroupByLiteTopic(s, beam.Create(s, message("a", 1, 0)), GroupLateness(-time.Second))
	})
	wantPanic(t, "throttlefn.GroupByLiteTopic: ", "of type string: want coders.AckableMessage", func(s beam.Scope) {
		GroupByLiteTopic(s, beam.Create(s, "a"))
	})
	wantPanic(t, "throttlefn.GroupByLiteTopic: ", "option 2 of 2 is nil", func(s beam.Scope) {
		GroupByLiteTopic(s, beam.Create(s, message("a", 1, 0)), GroupEvery(time.Second), nil)
	})
	wantPanic(t, "throttlefn.Throttle: ", "holds is the function literal", func(s beam.Scope) {
		Throttle(s, noGroups(s), DeferWhile(func(coders.AckableMessage) bool { return true }, time.Minute))
	})
	wantPanic(t, "throttlefn.GroupBy: ", "key is the function literal", func(s beam.Scope) {
		GroupBy(s, beam.Create(s, message("a", 1, 0)), func(coders.AckableMessage) string { return "" })
	})
	wantPanic(t, "throttlefn.GroupBy: ", "key is nil", func(s beam.Scope) { GroupBy(s, beam.Create(s, message("a", 1, 0)), nil) })
}

func noGroups(s beam.Scope) beam.PCollection {
	return GroupByLiteTopic(s, beam.Create(s, message("a", 1, 0)))
}

func wantPanic(t *testing.T, prefix, part string, build func(beam.Scope)) {
	t.Helper()
	defer func() {
		t.Helper()
		text := fmt.Sprint(recover())
		if !strings.HasPrefix(text, prefix) || !strings.Contains(text, part) {
			t.Errorf("panic %q, want %s... %s", text, prefix, part)
		}
	}()
	_, s := beam.NewPipelineWithRoot()
	build(s)
}

// A backlog that is deferred does not come back in one window.
func TestAQuotaSpreadsItsDeferrals(t *testing.T) {
	decide := Quota{PerWindow: 1, Defer: 4 * time.Second, Spread: 0.5}.Start()
	seen := map[time.Duration]bool{}
	for range 50 {
		v := decide(coders.AckableMessage{}, Position{Key: "noisy", Passed: 1})
		if !v.deferred || v.delay < 2*time.Second || v.delay > 6*time.Second {
			t.Fatalf("got %+v, want a deferral of 2s to 6s", v)
		}
		seen[v.delay] = true
	}
	if len(seen) < 40 {
		t.Errorf("50 deferrals have %d different lengths: they would come back together", len(seen))
	}
	short := Quota{PerWindow: 1, Defer: time.Second, Spread: 1}.Start()
	for range 50 {
		if v := short(coders.AckableMessage{}, Position{Passed: 1}); v.delay < minDelay {
			t.Fatalf("a deferral of %v, less than the %v that a broker takes", v.delay, minDelay)
		}
	}
}
