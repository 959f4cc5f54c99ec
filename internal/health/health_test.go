// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newTestHealth(stall time.Duration) (*Health, *bytes.Buffer) {
	var out bytes.Buffer
	return New(stall, slog.New(slog.NewTextHandler(&out, nil)), epoch), &out
}

// X02: a permanent failure fails the bundle after three tries; X06b, X09: it is
// never polled away in silence.
func TestAPermanentFailureFailsTheBundleAfterThreeTries(t *testing.T) {
	h, _ := newTestHealth(time.Hour)
	cause := errors.New("no such group")
	for i := range 2 {
		h.Failed(epoch, cause, true)
		if err := h.Verdict(epoch); err != nil {
			t.Fatalf("after %d: %v", i+1, err)
		}
	}
	h.Failed(epoch, cause, true)
	if err := h.Verdict(epoch); !errors.Is(err, cause) {
		t.Errorf("got %v, want the cause", err)
	}
	h.Answered(epoch)
	if err := h.Verdict(epoch); err != nil {
		t.Errorf("after an answer: %v", err)
	}
}

// Y34, L32: silence becomes warnings, then an error.
func TestSilenceIsWarnedAboutAndThenFails(t *testing.T) {
	h, log := newTestHealth(100 * time.Second)
	passing := errors.New("unavailable")
	for s := range 99 {
		now := epoch.Add(time.Duration(s) * time.Second)
		h.Failed(now, passing, false)
		if err := h.Verdict(now); err != nil {
			t.Fatalf("after %d s: %v", s, err)
		}
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 9 {
		t.Errorf("%d warnings in 99 s, want 9", n)
	}
	now := epoch.Add(100 * time.Second)
	h.Failed(now, passing, false)
	if err := h.Verdict(now); !errors.Is(err, ErrStalled) || !errors.Is(err, passing) {
		t.Errorf("got %v", err)
	}
}

// L19, L37, X25c: empty answers are no failures and no noise.
func TestEmptyAnswersAreHealthAndMakeNoNoise(t *testing.T) {
	h, log := newTestHealth(time.Minute)
	for s := range 600 {
		now := epoch.Add(time.Duration(s) * time.Second)
		h.Answered(now)
		if err := h.Verdict(now); err != nil {
			t.Fatal(err)
		}
	}
	if log.Len() != 0 {
		t.Errorf("it logged: %s", log)
	}
}
