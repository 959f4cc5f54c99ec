// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package coders

import (
	"errors"
	"testing"
)

// Foreign bytes give an error of a known kind, never a panic; what is accepted
// means the same after another round.
func FuzzDecodeAckableMessage(f *testing.F) {
	f.Add([]byte{})
	f.Add(mustEncode(f, AckableMessage{}))
	f.Add(mustEncode(f, sampleMessage()))
	f.Add(mustEncode(f, sampleMessage())[:40])
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := DecodeAckableMessage(data)
		if err != nil {
			wantKnown(t, err)
			return
		}
		again, err := DecodeAckableMessage(mustEncode(t, m))
		if err != nil || !again.Equal(m) {
			t.Fatalf("got %+v (%v), want %+v", again, err, m)
		}
	})
}

func FuzzDecodeMessage(f *testing.F) {
	sample, err := EncodeMessage(sampleQueueMessage())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{})
	f.Add(sample)
	f.Add(sample[:60])
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := DecodeMessage(data)
		if err != nil {
			wantKnown(t, err)
			return
		}
		encoded, err := EncodeMessage(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeMessage(encoded)
		if err != nil || !again.Equal(m) {
			t.Fatalf("got %+v (%v), want %+v", again, err, m)
		}
	})
}

func FuzzDecodeReceiptHandle(f *testing.F) {
	sample, err := EncodeReceiptHandle(sampleHandle())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{})
	f.Add(sample)
	f.Add(sample[:20])
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := DecodeReceiptHandle(data)
		if err != nil {
			wantKnown(t, err)
			return
		}
		encoded, err := EncodeReceiptHandle(h)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeReceiptHandle(encoded)
		if err != nil || !again.Equal(h) {
			t.Fatalf("got %+v (%v), want %+v", again, err, h)
		}
	})
}

func wantKnown(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrVersion) {
		t.Fatalf("error of no known kind: %v", err)
	}
}
