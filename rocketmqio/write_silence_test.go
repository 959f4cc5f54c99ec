// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestASinkThatNothingGetsThroughWarns(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	var w silence
	begin := time.Now()
	for s := range 13 { // a failure a second
		w.failed(log, "orders", errors.New("connection refused"), begin.Add(time.Duration(s)*time.Second))
	}
	if n := strings.Count(out.String(), "nothing gets through"); n != 2 || !strings.Contains(out.String(), `topic=orders for=10s error="connection refused"`) {
		t.Errorf("%d warnings in 12 s, want 2: %s", n, out.String())
	}
	out.Reset()
	w.broken()
	w.failed(log, "orders", errors.New("busy"), begin.Add(14*time.Second))
	if out.Len() > 0 {
		t.Errorf("a single failure is warned of: %s", out.String())
	}
}
