// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

var fullPrepared = prepared{
	half: remoting.Half{Topic: "t", Group: "g", Broker: "b", UniqueKey: "k", QueueOffset: 7, PhysicalOffset: 1 << 40},
	keys: []string{"a", ""}, queue: 3, born: time.UnixMilli(1_700_000_000_123), attempts: 2, repeated: true, source: &Position{Queue{"s", "b", 1}, 9},
	until: time.UnixMilli(1_700_000_010_123), origin: "o",
}

func TestHandlesComeBackAsTheyWere(t *testing.T) {
	for _, p := range []prepared{fullPrepared, {born: time.UnixMilli(0)}} {
		if got, err := decodePrepared(encodePrepared(p)); err != nil || !got.equal(p) {
			t.Errorf("got %+v, %v, want %+v", got, err, p)
		}
	}
	for typ, want := range map[reflect.Type]int{reflect.TypeFor[prepared](): 11, reflect.TypeFor[remoting.Half](): 6} {
		if typ.NumField() != want {
			t.Errorf("%v has %d fields: extend the coder and this test", typ, typ.NumField())
		}
	}
}

func TestDamagedHandlesAreRefused(t *testing.T) {
	data := encodePrepared(fullPrepared)
	for n := range data {
		if p, err := decodePrepared(data[:n]); err == nil && p.equal(fullPrepared) || err != nil && !errors.Is(err, coders.ErrMalformed) {
			t.Errorf("%d of %d bytes: %+v, %v", n, len(data), p, err)
		}
	}
	if _, err := decodePrepared([]byte{8, 2}); !errors.Is(err, coders.ErrVersion) {
		t.Errorf("got %v", err)
	}
}

func FuzzDecodePrepared(f *testing.F) {
	f.Add(encodePrepared(fullPrepared))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := decodePrepared(data)
		if err != nil {
			if !errors.Is(err, coders.ErrMalformed) && !errors.Is(err, coders.ErrVersion) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		if again, err := decodePrepared(encodePrepared(p)); err != nil || !again.equal(p) {
			t.Fatalf("%+v came back as %+v, %v", p, again, err)
		}
	})
}

func TestMemoryForgetsInTheEnd(t *testing.T) {
	m := newMemory()
	begin := m.turnedAt
	m.tried("t", "k", attempt{at: begin, open: true})
	if got := m.last("t", "k"); !got.open || !got.at.Equal(begin) {
		t.Errorf("got %+v", got)
	}
	if got := m.last("u", "k"); !got.at.IsZero() {
		t.Errorf("another topic's key: got %+v", got)
	}
	m.tried("t", "x", attempt{at: begin.Add(memoryAge + 1)})
	if got := m.last("t", "k"); got.at.IsZero() {
		t.Error("forgotten too early")
	}
	m.tried("t", "y", attempt{at: begin.Add(2*memoryAge + 2)})
	if got := m.last("t", "k"); !got.at.IsZero() {
		t.Errorf("got %+v, want it forgotten", got)
	}
	if first := m.hear("t", begin); !first.Equal(begin) || !m.hear("t", begin.Add(1)).Equal(begin) || !m.heardAt("u").IsZero() {
		t.Error("the first answer is what counts")
	}
}
