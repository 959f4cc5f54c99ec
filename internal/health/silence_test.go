// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestRequestsThatDoNotGetThroughAreWarnedOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, nil))
		var s Silence
		for range 13 { // a failure a second
			s.Failed(log, time.Now(), errors.New("connection refused"), "topic", "orders")
			time.Sleep(time.Second) // on the test's own clock
		}
		if n := strings.Count(out.String(), "nothing gets through"); n != 2 || !strings.Contains(out.String(), `topic=orders for=10s error="connection refused"`) {
			t.Errorf("%d warnings in 12 s, want 2: %s", n, out.String())
		}
		out.Reset()
		s.Broken()
		s.Failed(log, time.Now(), errors.New("busy"))
		if out.Len() > 0 {
			t.Errorf("a single failure is warned of: %s", out.String())
		}
		s.Broken()
		s.Failed(log, time.Now().Add(-30*time.Second), errors.New("no answer"))
		if !strings.Contains(out.String(), "for=30s") {
			t.Errorf("one that took long is not: %q", out.String())
		}
	})
}
