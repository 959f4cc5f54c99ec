// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"context"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
)

// emitDeferral is a type of its own, so that what is answered later gets the
// windows and times of its group.
type emitDeferral func(Deferral)

func init() {
	placed.Register[Deferral, emitDeferral](func(d *Deferral) *placed.Place {
		p := d.place
		d.place = nil
		return p
	})
	beam.RegisterDoFn(&throttleFn{}) // called once a group: by reflection, which costs the compiler far less
	register.Iter1[coders.AckableMessage]()
	register.Emitter1[coders.AckableMessage]()
	register.Emitter1[ValveEvent]()
}

// throttleFn applies a policy to groups. Its exported fields travel in the
// graph.
type throttleFn struct {
	Settings settings
	Policy   encodedPolicy

	client   *ackfn.Client // for deferrals
	acker    *ackfn.Client // for AckPassed
	requests *deferrer
	toAck    []coders.ReceiptHandle
	before   ackfn.Stats
}

// Setup makes the clients. There is no Teardown, because no runner calls it and
// nothing is held between bundles.
func (f *throttleFn) Setup() (err error) {
	if f.client, err = f.Settings.client(changeAttempts); err != nil {
		return err
	}
	f.acker, err = f.Settings.client(ackfn.DefaultMaxAttempts)
	return err
}

// StartBundle makes ready for a bundle. What a former one left behind, because
// it failed somewhere else, is ended.
func (f *throttleFn) StartBundle(ctx context.Context, _ func(coders.AckableMessage), _ emitDeferral, _ func(ValveEvent)) {
	f.abandon()
	f.requests = startDeferrer(ctx, f.client, f.Settings.MaxInFlight, time.Now)
	f.before = f.client.Stats()
	f.toAck = f.toAck[:0]
}

// ProcessElement decides about one group: the deferrals are asked for in the
// background, what passes goes on at once.
func (f *throttleFn) ProcessElement(ctx context.Context, pane beam.PaneInfo, w beam.Window, t beam.EventTime, key string,
	values func(*coders.AckableMessage) bool, passed func(coders.AckableMessage), deferred emitDeferral, valve func(ValveEvent)) error {
	return f.guarded(func() error {
		remembered, hold, err := recall(ctx, f.Settings, f.Policy)
		if err != nil {
			return err
		}
		defer hold.Release()
		p := planner{settings: f.Settings, memory: remembered, now: time.Now}
		todo := p.plan(key, all(values))
		f.requests.add(placed.Place{Pane: pane, Window: w, Time: t}, todo.deferrals)
		p.handOn(&todo, valve, func(m coders.AckableMessage) {
			passed(m)
			if f.Settings.AckPassed {
				f.toAck = append(f.toAck, m.Handle)
			}
		})
		for _, d := range todo.settled {
			countOutcome(ctx, d.Outcome)
			deferred(d)
		}
		count(ctx, valvePassedCount, len(todo.valved))
		count(ctx, passedCount, len(todo.passed))
		return f.report(ctx, remembered, deferred)
	})
}

func all(values func(*coders.AckableMessage) bool) []coders.AckableMessage {
	var out []coders.AckableMessage
	var m coders.AckableMessage
	for values(&m) {
		out = append(out, m)
	}
	return out
}

// FinishBundle returns when the broker has answered for every deferral.
func (f *throttleFn) FinishBundle(ctx context.Context, _ func(coders.AckableMessage), deferred emitDeferral, _ func(ValveEvent)) error {
	return f.guarded(func() error {
		remembered, hold, err := recall(ctx, f.Settings, f.Policy)
		if err != nil {
			return err
		}
		defer hold.Release()
		f.requests.wait()
		if err := f.report(ctx, remembered, deferred); err != nil {
			return err
		}
		if len(f.toAck) > 0 {
			_, err = f.acker.Ack(ctx, f.toAck...)
		}
		count(ctx, throttledMs, int((f.client.Stats().Throttled - f.before.Throttled).Milliseconds()))
		return err
	})
}

// report emits and counts the deferrals that were answered since the last call.
func (f *throttleFn) report(ctx context.Context, m *memory, emit emitDeferral) error {
	for _, a := range f.requests.take() {
		if err := a.fatal(); err != nil {
			return err
		}
		countOutcome(ctx, a.result.Outcome)
		deferLatencyMs.Update(ctx, a.took.Milliseconds())
		d := Deferral{Handle: a.result.Handle, Outcome: a.result.Outcome, Detail: a.result.Detail, place: &a.place}
		if d.Outcome == ackfn.Deferred {
			d.Delay = a.delay
			m.wasDeferred(&a.handle, a.until.Sub(a.asked), time.Now())
			delayMs.Update(ctx, d.Delay.Milliseconds())
			if f.Settings.Suspend && !a.suspend {
				unsuspendedCount.Inc(ctx, 1)
			}
		}
		emit(d)
	}
	if m.becameForgetful() {
		log.Warnf(ctx, "throttlefn.Throttle: more than %d messages are being deferred, which is more than are remembered: MaxTotalDelay(%v) does not hold for all of them. Deferrals are made without suspend until there are fewer, so that MaxDeliveryAttempt(%d) does",
			ledgerKept, f.Settings.MaxTotalDelay, f.Settings.MaxDeliveryAttempt)
	}
	return nil
}

// guarded ends the bundle's requests if do fails or panics, as an emitter does
// when a later transform fails.
func (f *throttleFn) guarded(do func() error) (err error) {
	ok := false
	defer func() {
		if !ok || err != nil {
			f.abandon()
		}
	}()
	err = do()
	ok = true
	return err
}

func (f *throttleFn) abandon() {
	if f.requests != nil {
		f.requests.abandon()
	}
}
