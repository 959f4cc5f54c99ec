// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// desk is a planner whose clock stands.
type desk struct {
	planner
	t   *testing.T
	now time.Time
}

func newDesk(t *testing.T, p Policy, opts ...Option) *desk {
	t.Helper()
	s, err := resolve(opts)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, now: noon}
	d.planner = planner{settings: s, memory: newMemory(p, s.MaxTotalDelay), now: func() time.Time { return d.now }}
	return d
}

// message is the one at an offset of a lite topic, stored that many milliseconds
// before noon, delivered at noon for a minute.
func message(lite string, offset int64, age int) coders.AckableMessage {
	return coders.AckableMessage{
		QueueOffset: offset, StoreTime: noon.Add(-time.Duration(age) * time.Millisecond),
		Handle: coders.ReceiptHandle{
			Endpoints: "h:1", ConsumerGroup: testGroup, Topic: testTopic, LiteTopic: lite,
			MessageID: fmt.Sprintf("%s-%d", lite, offset), Handle: "handle", DeliveryAttempt: 1,
			InvisibleUntil: noon.Add(time.Minute),
		},
	}
}

func passedIDs(p plan) []string {
	var out []string
	for _, m := range p.passed {
		out = append(out, m.Handle.MessageID)
	}
	return out
}

// delays maps what is deferred to its delay.
func (d *desk) delays(p plan) map[string]time.Duration {
	out := map[string]time.Duration{}
	for _, x := range p.deferrals {
		out[x.handle.MessageID] = x.until.Sub(d.now)
	}
	return out
}

func (d *desk) want(p plan, passed []string, delays map[string]time.Duration) {
	d.t.Helper()
	if diff := cmp.Diff(passed, passedIDs(p)); diff != "" {
		d.t.Errorf("passed (-want +got):\n%s", diff)
	}
	if delays == nil {
		delays = map[string]time.Duration{}
	}
	if diff := cmp.Diff(delays, d.delays(p)); diff != "" {
		d.t.Errorf("deferred (-want +got):\n%s", diff)
	}
}

// script decides by message id.
type script map[string]Verdict

func (s script) Start() Decide {
	return func(m coders.AckableMessage, _ Position) Verdict { return s[m.Handle.MessageID] }
}

func TestWhatPassesOfALiteTopicIsItsBeginning(t *testing.T) {
	d := newDesk(t, Quota{PerWindow: 2, Defer: 20 * time.Second})
	p := d.plan("a", []coders.AckableMessage{message("a", 4, 10), message("a", 2, 10), message("a", 3, 10), message("a", 1, 10)})
	d.want(p, []string{"a-1", "a-2"}, map[string]time.Duration{"a-3": 20 * time.Second, "a-4": 20 * time.Second})
}

// The lite topics of one key take their turns by age, so that none always comes
// last; the order within each stays, even if a clock went backwards.
func TestTheOldestMessagesOfAKeyPassFirst(t *testing.T) {
	d := newDesk(t, Quota{PerWindow: 3, Defer: 20 * time.Second})
	p := d.plan("tenant", []coders.AckableMessage{
		message("a", 1, 100), message("a", 2, 500), message("b", 7, 300), message("c", 9, 200), message("c", 10, 50),
	})
	d.want(p, []string{"b-7", "c-9", "a-1"}, map[string]time.Duration{"a-2": 20 * time.Second, "c-10": 20 * time.Second})
}

// RocketMQ goes on from the first message that is not acked: what is behind a
// deferred one is deferred with it, to the latest time that was asked for, and
// the policy is not asked, so that others may use the quota.
func TestWhatIsBehindADeferredMessageIsDeferredWithIt(t *testing.T) {
	d := newDesk(t, script{"a-2": Defer(30 * time.Second)})
	p := d.plan("k", []coders.AckableMessage{message("a", 1, 4), message("a", 2, 3), message("a", 3, 2), message("b", 1, 1)})
	d.want(p, []string{"a-1", "b-1"}, map[string]time.Duration{"a-2": 30 * time.Second, "a-3": 30 * time.Second})

	alone := newDesk(t, script{"a-2": DeferAlone(30 * time.Second)})
	p = alone.plan("k", []coders.AckableMessage{message("a", 1, 4), message("a", 2, 3), message("a", 3, 2)})
	alone.want(p, []string{"a-1", "a-3"}, map[string]time.Duration{"a-2": 30 * time.Second})
	if p.deferrals[0].suspend {
		t.Error("a lone deferral suspends the lite topic")
	}
}

// The end of a window cuts a delivery in two: the second half waits like the
// first. A later delivery is a new one.
func TestADeliveryCutByAWindowIsHeldAsOne(t *testing.T) {
	d := newDesk(t, Quota{PerWindow: 1, Defer: 20 * time.Second})
	d.want(d.plan("a", []coders.AckableMessage{message("a", 1, 2), message("a", 2, 2)}), []string{"a-1"}, map[string]time.Duration{"a-2": 20 * time.Second})
	d.now = noon.Add(time.Second)
	third := message("a", 3, 2)
	third.Handle.InvisibleUntil = third.Handle.InvisibleUntil.Add(5 * time.Millisecond)
	d.want(d.plan("a", []coders.AckableMessage{third}), nil, map[string]time.Duration{"a-3": 19 * time.Second})
	d.now = noon.Add(21 * time.Second)
	again := message("a", 2, 2)
	again.Handle.InvisibleUntil = noon.Add(80 * time.Second)
	d.want(d.plan("a", []coders.AckableMessage{again}), []string{"a-2"}, nil)
}

// X04c, Y38, L11: the valve of delivery attempts opens at the limit, whether the
// earlier attempts were deferrals or expired leases.
func TestTheValveOfDeliveryAttempts(t *testing.T) {
	for attempt, opens := range map[int32]bool{1: false, 15: false, 16: true, 17: true, 40: true} {
		d := newDesk(t, script{"a-1": Defer(20 * time.Second)})
		m := message("a", 1, 0)
		m.Handle.DeliveryAttempt = attempt
		p := d.plan("a", []coders.AckableMessage{m})
		if got := len(p.valved) == 1; got != opens || (len(p.passed) == 1) != opens || (len(p.deferrals) == 0) != opens {
			t.Errorf("attempt %d: valve open %v, passed %d, deferred %d; want open %v", attempt, got, len(p.passed), len(p.deferrals), opens)
		}
		if opens && p.valved[0].Reason != ReasonDeliveryAttempt {
			t.Errorf("reason %q", p.valved[0].Reason)
		}
	}
}

// X04c, P03: hidden for 29m50s, 30 s more are asked for: 10 s are granted, then
// the valve opens.
func TestTheValveOfTheTotalDelay(t *testing.T) {
	d := newDesk(t, script{"a-1": Defer(30 * time.Second)})
	m := message("a", 1, 0)
	d.memory.wasDeferred(&m.Handle, 29*time.Minute+50*time.Second, noon)
	p := d.plan("a", []coders.AckableMessage{m})
	d.want(p, nil, map[string]time.Duration{"a-1": 10 * time.Second})
	d.memory.wasDeferred(&m.Handle, 10*time.Second, noon)
	p = d.plan("a", []coders.AckableMessage{m})
	d.want(p, []string{"a-1"}, nil)
	if len(p.valved) != 1 || p.valved[0].Reason != ReasonTotalDelay {
		t.Errorf("valve %+v", p.valved)
	}
	if got := d.memory.spentOn(&m.Handle, noon).total; got != 0 {
		t.Errorf("%v is still remembered of a message that passed", got)
	}
}

// P02: one delay is capped, so that a message is back in time after a crash; in
// a lite topic the tightest cap counts for all, for they come back as one.
func TestDelaysAreCapped(t *testing.T) {
	d := newDesk(t, script{"a-1": Defer(time.Hour), "b-1": Defer(time.Millisecond), "c-1": Defer(20 * time.Second)}, MaxDelay(5*time.Minute))
	c2 := message("c", 2, 0)
	d.memory.wasDeferred(&c2.Handle, 29*time.Minute+48*time.Second, noon)
	p := d.plan("k", []coders.AckableMessage{message("a", 1, 0), message("b", 1, 0), message("c", 1, 0), c2})
	d.want(p, nil, map[string]time.Duration{"a-1": 5 * time.Minute, "b-1": time.Second, "c-1": 12 * time.Second, "c-2": 12 * time.Second})
}

// Y35: a change to the deadline that the lease has already loses the message on
// some brokers; we ask for a second more, or less where a cap is in the way.
func TestADeadlineIsNeverThePresentOne(t *testing.T) {
	for _, c := range []struct {
		name  string
		asked time.Duration
		opts  []Option
		want  time.Duration
	}{
		{"the same", time.Minute, nil, 61 * time.Second},
		{"just before", time.Minute - 900*time.Millisecond, nil, 61 * time.Second},
		{"just behind", time.Minute + 10*time.Millisecond, nil, 61 * time.Second},
		{"a second before", 59 * time.Second, nil, 59 * time.Second},
		{"a second behind", 61 * time.Second, nil, 61 * time.Second},
		{"the same, at the cap", time.Minute, []Option{MaxDelay(time.Minute)}, 59 * time.Second},
	} {
		d := newDesk(t, script{"a-1": Defer(c.asked)}, c.opts...)
		got := d.delays(d.plan("a", []coders.AckableMessage{message("a", 1, 0)}))["a-1"]
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Suspending takes the leases of all messages of the lite topic along. It is
// left off where that would end the lease of one that has passed.
func TestSuspendTakesNoLeaseFromAMessageInWork(t *testing.T) {
	one := func(d *desk, m coders.AckableMessage) bool {
		t.Helper()
		p := d.plan("a", []coders.AckableMessage{m})
		if len(p.deferrals) != 1 {
			t.Fatalf("%d deferrals", len(p.deferrals))
		}
		return p.deferrals[0].suspend
	}
	verdicts := func(d time.Duration) script { return script{"a-2": Defer(d)} }
	passFirst := func(d *desk) *desk { d.plan("a", []coders.AckableMessage{message("a", 1, 0)}); return d }
	later := message("a", 2, 0)
	later.Handle.InvisibleUntil = noon.Add(75 * time.Second)
	for _, c := range []struct {
		name string
		desk *desk
		m    coders.AckableMessage
		want bool
	}{
		{"nothing in work", newDesk(t, verdicts(20*time.Second)), message("a", 2, 0), true},
		{"one in work for longer", passFirst(newDesk(t, verdicts(20*time.Second))), message("a", 2, 0), false},
		{"one in work for less long", passFirst(newDesk(t, verdicts(2*time.Minute))), message("a", 2, 0), true},
		{"a later delivery shows that it is done", passFirst(newDesk(t, verdicts(20*time.Second))), later, true},
		{"work is promised to be done by then", passFirst(newDesk(t, verdicts(20*time.Second), WorkWithin(10*time.Second))), message("a", 2, 0), true},
		{"work is promised to be done later only", passFirst(newDesk(t, verdicts(20*time.Second), WorkWithin(30*time.Second))), message("a", 2, 0), false},
		{"what passes is acked at once", passFirst(newDesk(t, verdicts(20*time.Second), AckPassed(true))), message("a", 2, 0), true},
		{"switched off", newDesk(t, verdicts(20*time.Second), Suspend(false)), message("a", 2, 0), false},
	} {
		if got := one(c.desk, c.m); got != c.want {
			t.Errorf("%s: suspend %v, want %v", c.name, got, c.want)
		}
	}
}

// A message whose lease is over comes again: it neither passes nor is deferred.
func TestAMessageWithoutALeaseIsLeftOut(t *testing.T) {
	old := message("a", 1, 0)
	old.Handle.InvisibleUntil = noon
	d := newDesk(t, Quota{PerWindow: 1, Defer: 20 * time.Second})
	p := d.plan("a", []coders.AckableMessage{old, message("a", 2, 0)})
	d.want(p, []string{"a-2"}, nil) // it used none of the quota
	if len(p.settled) != 1 || p.settled[0].Outcome != ackfn.Expired || p.settled[0].Detail == "" {
		t.Errorf("settled %+v", p.settled)
	}
	d = newDesk(t, Quota{PerWindow: 1, Defer: 20 * time.Second}, PassExpired(true))
	d.want(d.plan("a", []coders.AckableMessage{old}), []string{"a-1"}, nil)
}

// slow is a policy that takes its time over each message, by the desk's clock.
type slow struct {
	takes time.Duration
	desk  *desk
	says  Verdict
}

func (s *slow) Start() Decide {
	return func(coders.AckableMessage, Position) Verdict {
		s.desk.now = s.desk.now.Add(s.takes)
		return s.says
	}
}

// A lease may end while the policy decides, about this message or the ones
// behind it: then the message is being delivered again, and neither passes nor
// is deferred.
func TestALeaseMayEndWhileThePolicyDecides(t *testing.T) {
	for name, says := range map[string]Verdict{"passes": Pass(), "defers": Defer(20 * time.Second)} {
		policy := &slow{takes: 10 * time.Second, says: says}
		d := newDesk(t, policy)
		policy.desk = d
		var msgs []coders.AckableMessage
		for i := range 10 {
			msgs = append(msgs, message(fmt.Sprint("lite-", i), 1, 100-i))
		}
		p := d.plan("k", msgs) // a minute of lease: five are decided about in time
		if got := len(p.passed) + len(p.deferrals); got != 5 || len(p.settled) != 5 {
			t.Errorf("a policy that %s: %d passed and deferred, %d settled; want 5 and 5", name, got, len(p.settled))
		}
		d.handOn(&p, func(ValveEvent) {}, func(m coders.AckableMessage) { t.Errorf("%s went on without a lease", m.Handle.MessageID) })
		if want := 10 - len(p.deferrals); len(p.settled) != want || len(p.passed) != 0 {
			t.Errorf("a policy that %s: %d passed, %d settled; want 0 and %d", name, len(p.passed), len(p.settled), want)
		}
	}
}

// What passes is worked on one after another: the lease of the last may end
// while the first is in work.
func TestALeaseMayEndWhileThoseBeforeItAreInWork(t *testing.T) {
	for _, divert := range []bool{false, true} {
		d := newDesk(t, script{"a-1": Defer(20 * time.Second), "b-1": Defer(20 * time.Second)}, DivertValve(divert))
		msgs := []coders.AckableMessage{message("a", 1, 9), message("b", 1, 8), message("c", 1, 7), message("d", 1, 6)}
		msgs[0].Handle.DeliveryAttempt, msgs[1].Handle.DeliveryAttempt = 16, 16
		p := d.plan("k", msgs)
		var got []string
		work := func(m coders.AckableMessage) {
			got = append(got, m.Handle.MessageID)
			d.now = d.now.Add(time.Minute)
		}
		valve := func(e ValveEvent) {
			if divert {
				work(e.Message)
			}
		}
		d.handOn(&p, valve, work)
		if diff := cmp.Diff([]string{"a-1"}, got); diff != "" {
			t.Errorf("divert %v: worked on (-want +got):\n%s", divert, diff)
		}
		if len(p.settled) != 3 || p.settled[0].Outcome != ackfn.Expired || len(p.passed)+len(p.valved) != map[bool]int{false: 3, true: 1}[divert] {
			t.Errorf("divert %v: settled %d, passed %d, valved %d", divert, len(p.settled), len(p.passed), len(p.valved))
		}
	}
}

// No valve opens without a lease; what the message is told with says so.
func TestAMessageAtTheLastAttemptWithoutALeaseSaysSo(t *testing.T) {
	for attempt, says := range map[int32]bool{15: false, 16: true, 17: true} {
		d := newDesk(t, Quota{PerWindow: 1, Defer: 20 * time.Second})
		m := message("a", 1, 0)
		m.Handle.DeliveryAttempt, m.Handle.InvisibleUntil = attempt, noon
		p := d.plan("a", []coders.AckableMessage{m})
		if len(p.settled) != 1 || len(p.valved)+len(p.passed) != 0 {
			t.Fatalf("attempt %d: settled %d, valved %d, passed %d", attempt, len(p.settled), len(p.valved), len(p.passed))
		}
		if got := strings.Contains(p.settled[0].Detail, fmt.Sprintf("at delivery attempt %d", attempt)); got != says {
			t.Errorf("attempt %d: %q", attempt, p.settled[0].Detail)
		}
	}
}

// Y37, Y01: of two deliveries of a message in one group the later one counts.
func TestTheLatestDeliveryOfAMessageCounts(t *testing.T) {
	first, second := message("a", 1, 0), message("a", 1, 0)
	second.Handle.InvisibleUntil = first.Handle.InvisibleUntil.Add(30 * time.Second)
	second.Handle.Handle, second.Handle.DeliveryAttempt = "newer", 2
	d := newDesk(t, Quota{PerWindow: 5, Defer: 20 * time.Second})
	p := d.plan("a", []coders.AckableMessage{second, first})
	d.want(p, []string{"a-1"}, nil)
	if p.passed[0].Handle.Handle != "newer" || len(p.settled) != 1 || p.settled[0].Outcome != ackfn.Expired {
		t.Errorf("passed %+v, settled %+v", p.passed, p.settled)
	}
}

func TestADivertedMessageIsNotPassed(t *testing.T) {
	d := newDesk(t, script{"a-1": Defer(20 * time.Second)}, DivertValve(true))
	m := message("a", 1, 0)
	m.Handle.DeliveryAttempt = 16
	p := d.plan("a", []coders.AckableMessage{m})
	d.want(p, nil, nil)
	if len(p.valved) != 1 || p.valved[0].Message.Handle.MessageID != "a-1" {
		t.Errorf("valve %+v", p.valved)
	}
}

func TestLiteTopicsOfTheSameNameUnderTwoTopicsAreApart(t *testing.T) {
	other := message("a", 2, 0)
	other.Handle.Topic = "another"
	d := newDesk(t, script{"a-1": Defer(20 * time.Second)})
	d.want(d.plan("a", []coders.AckableMessage{message("a", 1, 9), other}), []string{"a-2"}, map[string]time.Duration{"a-1": 20 * time.Second})
}
