// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package placed

import (
	"context"
	"errors"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/exec"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/typex"
)

type parcel struct {
	text string
	at   *Place
}

type emitParcel func(parcel)

func take(p *parcel) *Place {
	at := p.at
	p.at = nil
	return at
}

// sink keeps what it is given, as a later transform may.
type sink struct {
	got []exec.FullValue
	err error
}

func (s *sink) ProcessElement(_ context.Context, v *exec.FullValue, _ ...exec.ReStream) error {
	s.got = append(s.got, *v)
	return s.err
}

func emitterTo(n exec.ElementProcessor) (*emitter[parcel, emitParcel], emitParcel) {
	e := newEmitter[parcel, emitParcel](n, take)
	e.Init(context.Background(), typex.NoFiringPane(), window.SingleGlobalWindow, mtime.ZeroTimestamp)
	return e, e.Value().(emitParcel)
}

func TestAnElementGoesToItsPlaceOrStaysHere(t *testing.T) {
	s := &sink{}
	_, emit := emitterTo(s)
	first, second := window.IntervalWindow{Start: 0, End: 1000}, window.IntervalWindow{Start: 1000, End: 2000}
	emit(parcel{"a", &Place{Pane: typex.PaneInfo{Index: 3}, Window: first, Time: 7}})
	emit(parcel{"b", &Place{Window: second, Time: 1008}})
	emit(parcel{"c", nil})
	want := []struct {
		window typex.Window
		time   typex.EventTime
		pane   int64
	}{{first, 7, 3}, {second, 1008, 0}, {window.GlobalWindow{}, mtime.ZeroTimestamp, 0}}
	for i, w := range want {
		v := s.got[i]
		if len(v.Windows) != 1 || !v.Windows[0].Equals(w.window) || v.Timestamp != w.time || v.Pane.Index != w.pane || v.Elm.(parcel).at != nil {
			t.Errorf("element %d: %+v, want %+v", i, v, w)
		}
	}
}

func TestNothingIsDoneForAnOutputThatNobodyConsumes(t *testing.T) {
	_, emit := emitterTo(&exec.PCollection{Out: &exec.Discard{}})
	at := &Place{Window: window.GlobalWindow{}}
	if n := testing.AllocsPerRun(100, func() { emit(parcel{"a", at}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAnErrorOfALaterTransformEndsTheBundle(t *testing.T) {
	s := &sink{err: errors.New("boom")}
	_, emit := emitterTo(s)
	defer func() {
		if recover() != s.err {
			t.Error("the error did not come through")
		}
	}()
	emit(parcel{"a", nil})
}
