// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"errors"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

func sampleResult() Result {
	return Result{Outcome: Expired, Detail: "why ü", Handle: coders.ReceiptHandle{
		Endpoints: "h:1;h:2", Namespace: "ns", ConsumerGroup: "g", Topic: "t", LiteTopic: "l", MessageID: "m", Handle: "1 2 3",
		DeliveryAttempt: 3, InvisibleUntil: time.Date(2026, 11, 30, 12, 0, 0, 123456789, time.UTC),
	}}
}

// B27: every field survives the registered coder.
func TestResultsSurviveTheirCoder(t *testing.T) {
	for _, r := range []Result{sampleResult(), {Outcome: Acked}, {}} {
		data, err := EncodeResult(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeResult(data)
		if err != nil || !got.Equal(r) {
			t.Errorf("got %+v, %v; want %+v", got, err, r)
		}
	}
}

func TestAResultCutShortIsRefused(t *testing.T) {
	data, err := EncodeResult(sampleResult())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 5, len(data) / 2} {
		if _, err := DecodeResult(data[:n]); !errors.Is(err, coders.ErrMalformed) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}

func FuzzResult(f *testing.F) {
	data, _ := EncodeResult(sampleResult())
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := DecodeResult(data)
		if err != nil {
			return
		}
		again, err := EncodeResult(r)
		if err != nil {
			t.Skip("a detail that is not UTF-8 does not matter, a handle that is not is refused on writing")
		}
		if back, err := DecodeResult(again); err != nil || !back.Equal(r) {
			t.Errorf("%+v became %+v, %v", r, back, err)
		}
	})
}
