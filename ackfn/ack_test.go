// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func init() {
	register.Function1x1(handleOf)
	register.Function1x1(outcomeOf)
	register.Function1x1(idOf)
	register.Function1x1(withoutLiteTopic)
	register.Function1x2(byID)
	register.Function1x2(keyedByID)
	register.Function2x1(keyOnly)
	register.Function3x1(where)
	register.Function3x0(everyMessage)
	register.Function3x0(everyString)
	beam.RegisterDoFn(&stampFn{})
	beam.RegisterDoFn(&failingFn{})
	register.Emitter1[coders.AckableMessage]()
	register.Iter1[coders.AckableMessage]()
}

func handleOf(m coders.AckableMessage) coders.ReceiptHandle { return m.Handle }
func outcomeOf(r Result) string                             { return r.Outcome.String() }
func idOf(r Result) string                                  { return r.Handle.MessageID }

func keyedByID(r Result) (string, int)            { return r.Handle.MessageID, 1 }
func keyOnly(id string, _ func(*int) bool) string { return id }

func byID(m coders.AckableMessage) (string, coders.AckableMessage) { return m.Handle.MessageID, m }

func withoutLiteTopic(m coders.AckableMessage) coders.AckableMessage {
	m.Handle.LiteTopic = ""
	return m
}

func where(w beam.Window, t beam.EventTime, r Result) string {
	return fmt.Sprintf("%s %d %d", r.Handle.LiteTopic, w.MaxTimestamp().Milliseconds(), t.Milliseconds())
}

func everyMessage(_ string, next func(*coders.AckableMessage) bool, emit func(coders.AckableMessage)) {
	var m coders.AckableMessage
	for next(&m) {
		emit(m)
	}
}

func everyString(_ int, next func(*string) bool, emit func(string)) {
	var text string
	for next(&text) {
		emit(text)
	}
}

// stampFn gives lite-N the time of N times 700 ms.
type stampFn struct{}

func (stampFn) ProcessElement(m coders.AckableMessage) (beam.EventTime, coders.AckableMessage) {
	var n int64
	fmt.Sscanf(m.LiteTopic(), "lite-%d", &n)
	return mtime.FromMilliseconds(n * 700), m
}

// failingFn fails at the message of one lite topic.
type failingFn struct{ At string }

func (f failingFn) ProcessElement(m coders.AckableMessage) (coders.AckableMessage, error) {
	if m.LiteTopic() == f.At {
		return m, errors.New("the work failed")
	}
	return m, nil
}

func TestAckTakesMessagesAndHandlesWithAndWithoutKeys(t *testing.T) {
	for name, shape := range map[string]func(beam.Scope, beam.PCollection) beam.PCollection{
		"messages":       func(_ beam.Scope, col beam.PCollection) beam.PCollection { return col },
		"handles":        func(s beam.Scope, col beam.PCollection) beam.PCollection { return beam.ParDo(s, handleOf, col) },
		"keyed messages": func(s beam.Scope, col beam.PCollection) beam.PCollection { return beam.ParDo(s, byID, col) },
		"keyed handles": func(s beam.Scope, col beam.PCollection) beam.PCollection {
			return beam.AddFixedKey(s, beam.ParDo(s, handleOf, col))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBus(t)
			ids := b.publish(40, 40)
			p, s := beam.NewPipelineWithRoot()
			results := Ack(s, shape(s, beam.CreateList(s, b.receive(40))))
			passert.EqualsList(s, beam.ParDo(s, idOf, results), ids)
			passert.Count(s, results, "results", 40)
			if err := ptest.Run(p); err != nil {
				t.Fatal(err)
			}
			b.wantAcked(ids...)
		})
	}
}

func TestAckOfAnotherTypePanicsWithWhatIsWanted(t *testing.T) {
	for name, build := range map[string]func(beam.Scope){
		"input is of type string: want coders.AckableMessage": func(s beam.Scope) { Ack(s, beam.Create(s, "a")) },
		"KV<int,string>": func(s beam.Scope) { Ack(s, beam.AddFixedKey(s, beam.Create(s, "a"))) },
		"option BatchSize: 0 is out of range": func(s beam.Scope) {
			Ack(s, beam.Create(s, coders.ReceiptHandle{}), BatchSize(0))
		},
		"no PCollection": func(s beam.Scope) { Ack(s, beam.PCollection{}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				text := fmt.Sprint(recover())
				if !strings.HasPrefix(text, "ackfn.Ack: ") || !strings.Contains(text, name) {
					t.Errorf("panic %q, want ackfn.Ack: ... %s", text, name)
				}
			}()
			_, s := beam.NewPipelineWithRoot()
			build(s)
		})
	}
}

// Results are emitted when the bundle ends, yet each is in the window and at the
// time of its message: what Beam emits there by itself would not be.
func TestResultsKeepTheWindowAndTimeOfTheirMessages(t *testing.T) {
	b := newBus(t)
	b.publish(5, 5)
	p, s := beam.NewPipelineWithRoot()
	msgs := beam.ParDo(s, &stampFn{}, beam.CreateList(s, b.receive(5)))
	windowed := beam.WindowInto(s, window.NewFixedWindows(time.Second), msgs)
	results := Ack(s, windowed, BatchSize(3))
	grouped := beam.GroupByKey(s, beam.AddFixedKey(s, beam.ParDo(s, where, results))) // a shuffle writes the windows
	flat := beam.ParDo(s, everyString, grouped)
	passert.Equals(s, beam.WindowInto(s, window.NewGlobalWindows(), flat),
		"lite-0 999 0", "lite-1 999 700", "lite-2 1999 1400", "lite-3 2999 2100", "lite-4 2999 2800")
	if err := ptest.Run(p); err != nil {
		t.Fatal(err)
	}
}

// X22c: the counters tell what the results tell.
func TestCountersTellTheOutcomes(t *testing.T) {
	b := newBus(t)
	b.publish(5, 5)
	msgs := b.receive(5)
	b.FailAckEntry(1, v2.Code_INVALID_RECEIPT_HANDLE)
	b.FailAckEntry(2, v2.Code_INVALID_RECEIPT_HANDLE)
	b.FailAckEntry(3, v2.Code_INTERNAL_SERVER_ERROR) // once: it is acked by the retry
	p, s := beam.NewPipelineWithRoot()
	results := Ack(s, beam.CreateList(s, msgs))
	passert.Equals(s, beam.ParDo(s, outcomeOf, results), "acked", "acked", "acked", "expired", "expired")
	res, err := ptest.RunWithMetrics(p)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"acked": 3, "expired": 2, "retried": 1}
	for _, c := range res.Metrics().AllMetrics().Counters() {
		if c.Key.Namespace == metricsNamespace && c.Result() != want[c.Key.Name] {
			t.Errorf("%s is %d, want %d", c.Key.Name, c.Result(), want[c.Key.Name])
		}
		delete(want, c.Key.Name)
	}
	if len(want) > 0 {
		t.Errorf("counters %v are missing", want)
	}
}

// X03: a transform that drops the lite topic makes the bundle fail, once, with
// an error that names the field.
func TestALostLiteTopicFailsTheBundle(t *testing.T) {
	b := newBus(t)
	b.publish(3, 3)
	p, s := beam.NewPipelineWithRoot()
	Ack(s, beam.ParDo(s, withoutLiteTopic, beam.CreateList(s, b.receive(3))))
	err := ptest.Run(p)
	if err == nil || !strings.Contains(err.Error(), "has no LiteTopic") {
		t.Errorf("error %v, want one that names LiteTopic", err)
	}
	if n := b.Requests(embedded.AckMessage); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestAPermanentErrorFailsTheBundleWithWhatToCheck(t *testing.T) {
	b := newBus(t)
	b.publish(3, 3)
	msgs := b.receive(3)
	b.ControlAlways(embedded.AckMessage, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.Answer(&v2.AckMessageResponse{Status: &v2.Status{Code: v2.Code_FORBIDDEN, Message: "no right"}})
	})
	p, s := beam.NewPipelineWithRoot()
	Ack(s, beam.CreateList(s, msgs))
	err := ptest.Run(p)
	for _, part := range []string{testTopic, testGroup, "and 2 more", "FORBIDDEN", "check the permissions"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not say %q", err, part)
		}
	}
}

// P04: when the work on a message fails, nothing of the bundle has been acked
// before its end.
func TestNothingIsAckedOfABundleWhoseWorkFails(t *testing.T) {
	b := newBus(t)
	ids := b.publish(5, 5)
	p, s := beam.NewPipelineWithRoot()
	Ack(s, beam.ParDo(s, &failingFn{At: "lite-4"}, beam.CreateList(s, b.receive(5))))
	if err := ptest.Run(p); err == nil {
		t.Error("the pipeline did not fail")
	}
	for _, id := range ids {
		if m, _ := b.Message(id); m.Acked() {
			t.Errorf("%s is acked", id)
		}
	}
}

// L10: encoded, shuffled, decoded, acked by a worker that has only the record.
func TestMessagesAreAckedBehindAShuffle(t *testing.T) {
	b := newBus(t)
	ids := b.publish(20, 4)
	p, s := beam.NewPipelineWithRoot()
	grouped := beam.GroupByKey(s, beam.ParDo(s, byID, beam.CreateList(s, b.receive(20))))
	Ack(s, beam.ParDo(s, everyMessage, grouped))
	if err := ptest.Run(p); err != nil {
		t.Fatal(err)
	}
	b.wantAcked(ids...)
}

// L24, Y37: deliveries that came twice are both acked, and their results are
// one a message when distinct by id.
func TestDoubleDeliveriesAreOneByMessageID(t *testing.T) {
	b := newBus(t)
	ids := b.publish(10, 10)
	msgs := b.receive(10)
	for _, id := range ids[:4] {
		b.DeliverTwice(id)
	}
	msgs = append(msgs, b.receive(4)...)
	p, s := beam.NewPipelineWithRoot()
	results := Ack(s, beam.CreateList(s, msgs))
	passert.EqualsList(s, beam.ParDo(s, idOf, results), append(append([]string{}, ids...), ids[:4]...))
	passert.EqualsList(s, beam.ParDo(s, keyOnly, beam.GroupByKey(s, beam.ParDo(s, keyedByID, results))), ids)
	if err := ptest.Run(p); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if m, _ := b.Message(id); !m.Acked() {
			t.Errorf("%s is not acked", id)
		}
	}
}

// B20: nothing depends on bundle finalization; the direct runner has none.
func TestAckRunsOnTheDirectRunner(t *testing.T) {
	b := newBus(t)
	ids := b.publish(10, 10)
	p, s := beam.NewPipelineWithRoot()
	results := Ack(s, beam.CreateList(s, b.receive(10)))
	passert.EqualsList(s, beam.ParDo(s, idOf, results), ids)
	if _, err := beam.Run(t.Context(), "direct", p); err != nil {
		t.Fatal(err)
	}
	b.wantAcked(ids...)
}

// X04d: eight transforms, one session.
func TestManyTransformsShareOneSession(t *testing.T) {
	b := newBus(t)
	ids := b.publish(80, 80)
	msgs := b.receive(80)
	sessions.CloseIdle()
	known := len(b.Sessions())
	p, s := beam.NewPipelineWithRoot()
	for i := range 8 {
		Ack(s, beam.CreateList(s, msgs[i*10:i*10+10]))
	}
	if err := ptest.Run(p); err != nil {
		t.Fatal(err)
	}
	b.wantAcked(ids...)
	if n := len(b.Sessions()) - known; n != 1 {
		t.Errorf("%d sessions, want 1", n)
	}
}

// Batches of one bundle are sent at the same time, within the bound.
func TestBatchesAreSentInParallelWithinTheBound(t *testing.T) {
	b := newBus(t)
	ids := b.publish(64, 64)
	gauge := newGauge()
	b.ControlAlways(embedded.AckMessage, gauge.control)
	p, s := beam.NewPipelineWithRoot()
	Ack(s, beam.CreateList(s, b.receive(64)), BatchSize(4), MaxInFlight(3))
	if err := ptest.Run(p); err != nil {
		t.Fatal(err)
	}
	b.wantAcked(ids...)
	if got := gauge.most(); got < 2 || got > 3 {
		t.Errorf("%d requests at a time, want 2 or 3", got)
	}
}
