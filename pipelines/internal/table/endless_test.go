// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package table

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// Not under the race detector: when a job is cancelled, the harness of Beam 2.77
// closes the channel of its answers beside a bundle that still sends one.

// A script of the documents as it stands begins at the latest message and runs
// until it is interrupted, with progress on the way and figures at its end.
func TestAScriptWithoutEnd(t *testing.T) {
	onEach(t, false, func(t *testing.T, c *cluster) {
		in, out := c.topic(t, "in"), c.topic(t, "out")
		c.send(t, in, bodies("0\x01before\x01the start")...)
		script := document(t, c, "source_and_sink.sql", in, out) + "INSERT INTO rocketmq_sink SELECT id, UPPER(name), message FROM rocketmq_source WHERE id > 0;"
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		var report bytes.Buffer
		ended := make(chan error, 1)
		go func() { ended <- Run(ctx, "test.sql", script, Defaults(), &report) }()
		// Where it begins is known only from what arrives: send until something does.
		stop := make(chan struct{})
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			ticker := time.NewTicker(200 * time.Millisecond)
			defer ticker.Stop()
			for {
				select {
				case <-stop:
					return
				case <-ticker.C:
					c.send(t, in, bodies("1\x01Ann\x01x", "-1\x01nobody\x01x")...)
				}
			}
		}()
		got := c.await(t, out, 1)
		close(stop)
		<-sent
		if _, ok := got["1\x01ANN\x01x"]; !ok || len(got) != 1 {
			t.Errorf("bodies %v, want that of Ann alone", got)
		}
		interrupt()
		begin := time.Now()
		if err := <-ended; !errors.Is(err, ErrInterrupted) {
			t.Errorf("got %v, want ErrInterrupted", err)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("it took %v to end", took)
		}
		if !strings.HasSuffix(report.String(), `"interrupted":true}`+"\n") || !strings.Contains(report.String(), "messages read") {
			t.Errorf("the report of what was reached is missing:\n%s", &report)
		}
	})
}
