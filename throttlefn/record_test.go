// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"errors"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

func sampleDeferral() Deferral {
	m := message("lite-ü", 7, 0)
	return Deferral{Handle: m.Handle, Delay: 20*time.Second + 5, Outcome: ackfn.Expired, Detail: "why"}
}

func sampleEvent() ValveEvent {
	m := message("lite", 7, 3)
	m.Body, m.Keys, m.Properties = []byte("body"), []string{"k"}, map[string]string{"a": "b"}
	return ValveEvent{Message: m, Reason: ReasonTotalDelay, Detail: "why"}
}

// B27: every field survives the registered coder.
func TestRecordsSurviveTheirCoders(t *testing.T) {
	for _, d := range []Deferral{sampleDeferral(), {}} {
		data, err := EncodeDeferral(d)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeDeferral(data)
		if err != nil || !got.Equal(d) {
			t.Errorf("got %+v, %v; want %+v", got, err, d)
		}
	}
	e := sampleEvent()
	data, err := EncodeValveEvent(e)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeValveEvent(data)
	if err != nil || !got.Message.Equal(e.Message) || got.Reason != e.Reason || got.Detail != e.Detail {
		t.Errorf("got %+v, %v; want %+v", got, err, e)
	}
}

func TestARecordCutShortIsRefused(t *testing.T) {
	d, err := EncodeDeferral(sampleDeferral())
	if err != nil {
		t.Fatal(err)
	}
	e, err := EncodeValveEvent(sampleEvent())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 5, len(d) / 2} {
		if _, err := DecodeDeferral(d[:n]); !errors.Is(err, coders.ErrMalformed) {
			t.Errorf("deferral cut to %d bytes: %v", n, err)
		}
	}
	for _, n := range []int{0, 1, 5, len(e) / 2} {
		if _, err := DecodeValveEvent(e[:n]); !errors.Is(err, coders.ErrMalformed) {
			t.Errorf("valve event cut to %d bytes: %v", n, err)
		}
	}
}

func FuzzRecords(f *testing.F) {
	d, _ := EncodeDeferral(sampleDeferral())
	e, _ := EncodeValveEvent(sampleEvent())
	f.Add(d)
	f.Add(e)
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, err := DecodeDeferral(data); err == nil {
			again, err := EncodeDeferral(d)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := DecodeDeferral(again); err != nil || !back.Equal(d) {
				t.Errorf("%+v became %+v, %v", d, back, err)
			}
		}
		_, _ = DecodeValveEvent(data)
	})
}
