// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
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

// When time is up while an acknowledgement is tried again, its error says what was
// wrong before.
func TestTheEndOfTimeDoesNotHideTheCause(t *testing.T) {
	refused := &litegrpc.Error{Op: "acking", Class: litegrpc.Transient, Err: errors.New("connection refused")}
	b := batch{handles: make([]coders.ReceiptHandle, 1), verdicts: make([]verdict, 1)}
	again, at, _ := b.judge(b.handles, nil, []error{refused})
	if len(again) != 1 {
		t.Fatalf("a transient error is not tried again: %+v", b.verdicts[0])
	}
	b.judge(again, at, []error{&litegrpc.Error{Op: "acking", Class: litegrpc.Transient, Err: context.DeadlineExceeded}})
	err := b.verdicts[0].err
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, refused) {
		t.Errorf("got %v, want both the end of time and %v", err, refused)
	}
}
