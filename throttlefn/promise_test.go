// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"fmt"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

// backlog is messages that come again and again, each in a lite topic of its
// own or all in one. It counts their attempts as RocketMQ does: a delivery adds
// one, a suspend takes one back from all messages of its lite topic.
type backlog struct {
	desk   *desk
	before []int // deliveries that count, without the present one
	one    bool  // lite topic
	opened int   // valves
	delays []time.Duration
}

func newBacklog(d *desk, n int, oneLiteTopic bool) *backlog {
	return &backlog{desk: d, before: make([]int, n), one: oneLiteTopic, delays: make([]time.Duration, n)}
}

// round delivers what has not passed, and moves the clock behind the deferrals.
func (b *backlog) round(defers time.Duration) (suspended int) {
	var msgs []coders.AckableMessage
	for i, n := range b.before {
		if n < 0 {
			continue
		}
		lite := "all"
		if !b.one {
			lite = fmt.Sprint("lite-", i)
		}
		m := message(lite, int64(i), 0)
		m.Handle.DeliveryAttempt, m.Handle.InvisibleUntil = int32(n+1), b.desk.now.Add(time.Minute)
		msgs = append(msgs, m)
	}
	p := b.desk.plan("k", msgs)
	b.opened += len(p.valved)
	for _, m := range p.passed {
		b.before[m.QueueOffset] = -1
	}
	number := map[string]int{}
	for _, m := range msgs {
		number[m.Handle.MessageID] = int(m.QueueOffset)
	}
	for _, x := range p.deferrals {
		b.desk.memory.wasDeferred(&x.handle, x.until.Sub(x.asked), b.desk.now)
		b.delays[number[x.handle.MessageID]] += x.until.Sub(x.asked)
		if x.suspend {
			suspended++
			b.takeBack(number[x.handle.MessageID])
		}
	}
	for i := range b.before {
		if b.before[i] >= 0 {
			b.before[i]++
		}
	}
	b.desk.now = b.desk.now.Add(defers + time.Second)
	return suspended
}

func (b *backlog) takeBack(i int) {
	for j := range b.before {
		if (b.one || i == j) && b.before[j] > 0 {
			b.before[j]--
		}
	}
}

func always(d time.Duration) Policy { return &slow{desk: &desk{}, says: Defer(d)} }

// With more messages under way than the ledger holds each is forgotten before it
// comes again. Then their attempts count, and the valve of these opens.
func TestAFullLedgerKeepsNoMessageBackForEver(t *testing.T) {
	for _, c := range []struct {
		name     string
		messages int
		one      bool
		rounds   int // by then all have passed
	}{
		{"they fit: the valve of the total delay", 100, false, 4},
		{"they do not: the valve of attempts", 120, false, 17},
		{"they do not, and are of one lite topic", 120, true, 17},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, always(10*time.Minute))
			d.memory.ledger = newRecent[messageKey, spent](100)
			b := newBacklog(d, c.messages, c.one)
			for range c.rounds {
				b.round(10 * time.Minute)
			}
			if b.opened != c.messages {
				t.Errorf("%d of %d messages passed after %d rounds; attempts %v", b.opened, c.messages, c.rounds, b.before)
			}
		})
	}
}

// A restart loses the ledger. What comes again after one is counted by the
// broker from then on, also if a restart follows the other.
func TestRestartsKeepNoMessageBackForEver(t *testing.T) {
	for _, one := range []bool{false, true} {
		d := newDesk(t, always(10*time.Minute))
		b := newBacklog(d, 5, one)
		for round := range 18 {
			if round%2 == 0 {
				d.memory = newMemory(always(10*time.Minute), d.settings.MaxTotalDelay)
			}
			b.round(10 * time.Minute)
		}
		if b.opened != 5 {
			t.Errorf("in one lite topic %v: %d of 5 messages passed; attempts %v", one, b.opened, b.before)
		}
	}
}

// The second half of a delivery that a window cut in two does not take back what
// the first half had to count.
func TestTheRestOfADeliveryCountsAsItsBeginning(t *testing.T) {
	d := newDesk(t, always(20*time.Second))
	again := message("a", 1, 0)
	again.Handle.DeliveryAttempt = 3
	first := d.plan("a", []coders.AckableMessage{again})
	d.now = noon.Add(time.Second)
	second := d.plan("a", []coders.AckableMessage{message("a", 2, 0)})
	if len(first.deferrals) != 1 || first.deferrals[0].suspend || len(second.deferrals) != 1 || second.deferrals[0].suspend {
		t.Errorf("deferred %+v and %+v, want both without suspend", first.deferrals, second.deferrals)
	}
}

// As long as the ledger knows all messages, none costs an attempt; once it had
// to forget some, all do until that was long ago.
func TestDeferralsAreSuspendedAgainWhenTheLedgerHasRoom(t *testing.T) {
	d := newDesk(t, always(10*time.Minute), MaxTotalDelay(10*time.Hour))
	d.memory.ledger = newRecent[messageKey, spent](10)
	few := newBacklog(d, 10, false)
	for range 3 {
		if got := few.round(10 * time.Minute); got != 10 {
			t.Fatalf("%d of 10 deferrals are suspended", got)
		}
	}
	fresh := func(id int64) deferral {
		t.Helper()
		m := message(fmt.Sprint("fresh-", id), id, 0)
		m.Handle.InvisibleUntil = d.now.Add(time.Minute)
		p := d.plan("k", []coders.AckableMessage{m})
		if len(p.deferrals) != 1 {
			t.Fatalf("%d deferrals", len(p.deferrals))
		}
		d.memory.wasDeferred(&m.Handle, time.Second, d.now)
		return p.deferrals[0]
	}
	if !fresh(1000).suspend || d.memory.becameForgetful() != true {
		t.Error("the eleventh message is the first that does not fit")
	}
	if fresh(1001).suspend || d.memory.becameForgetful() {
		t.Error("suspended although the ledger is full, or told twice")
	}
	d.now = d.now.Add(20*time.Hour + time.Second)
	if !fresh(1002).suspend {
		t.Error("not suspended although what is in the ledger is of no use any more")
	}
	if !fresh(1003).suspend || d.memory.becameForgetful() {
		t.Error("what is of no use any more was counted as forgotten")
	}
}
