// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package fairshare

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/load"
)

// Not under the race detector: when a job is cancelled, the harness of Beam 2.77
// closes the channel of its answers beside a bundle that still sends one.
func TestAnInterruptedRunReportsAndLeavesTheGroup(t *testing.T) {
	o := small(t)
	o.Load.Duration = time.Minute
	b := withBroker(t, &o)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	stopped := make(chan time.Time, 1)
	go func() {
		enough := len(load.WarmUp(o.Load, 1)) + 50
		_ = b.Wait(ctx, func(s embedded.Snapshot) bool { return len(s.Messages(o.Topic)) > enough })
		stopped <- time.Now()
		interrupt()
	}()
	var out bytes.Buffer
	err := Run(ctx, o, &out)
	if !errors.Is(err, ErrInterrupted) {
		t.Fatalf("got %v, want ErrInterrupted", err)
	}
	if took := time.Since(<-stopped); took > 5*time.Second {
		t.Errorf("it took %v to end", took)
	}
	if got := result(t, out.String())["none"]; got.Published == 0 || !strings.HasSuffix(out.String(), `"interrupted":true}`+"\n") {
		t.Errorf("the report of what was reached is missing:\n%s", &out)
	}
	gone, done := context.WithTimeout(t.Context(), 5*time.Second)
	defer done()
	if err := b.Wait(gone, func(s embedded.Snapshot) bool { return len(s.Sessions()) == 0 }); err != nil {
		t.Errorf("sessions are left: %+v", b.Sessions())
	}
}
