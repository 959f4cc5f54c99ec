// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report shows what a run measured: a line a second while it goes on,
// and a table, a plot and a line of JSON at its end.
package report

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/stats"
)

// Live shows snapshots as they come. On a terminal it keeps rewriting one line
// a leg; elsewhere it writes one line each.
type Live struct {
	out      io.Writer
	terminal bool
	open     bool // the cursor stands behind a line that will be rewritten
}

// NewLive makes one that writes to out.
func NewLive(out io.Writer) *Live { return &Live{out: out, terminal: isTerminal(out)} }

// isTerminal says whether out can rewrite a line.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// Control sequences: a rewritten line must not wrap in a narrow terminal, for
// then only its last part would be rewritten.
const (
	eraseLine = "\r\x1b[K"
	wrapOff   = "\x1b[?7l"
	wrapOn    = "\x1b[?7h"
)

// Head writes the names of the columns.
func (v *Live) Head() {
	v.End()
	fmt.Fprintln(v.out, "leg   time  published  delivered  deferred  acked  redelivered  calm p50  calm p99  noisy p99")
}

// Show shows one snapshot.
func (v *Live) Show(leg string, s stats.Snapshot) {
	line := liveLine(leg, s)
	if v.terminal {
		fmt.Fprint(v.out, eraseLine+wrapOff+line+wrapOn)
		v.open = true
		return
	}
	fmt.Fprintln(v.out, line)
}

// Note writes a line that stays.
func (v *Live) Note(format string, args ...any) {
	v.End()
	fmt.Fprintf(v.out, format+"\n", args...)
}

// End leaves the last line as it is.
func (v *Live) End() {
	if v.open {
		fmt.Fprintln(v.out)
		v.open = false
	}
}

func liveLine(leg string, s stats.Snapshot) string {
	return fmt.Sprintf("%-5s %3.0fs %10d %10d %9d %6d %12d %9s %9s %10s",
		leg, s.Elapsed.Seconds(), s.Published, s.Delivered, s.Deferred, s.Acked, s.Redelivered,
		short(s.CalmP50), short(s.CalmP99), short(s.NoisyP99))
}

// short is a latency for people.
func short(q stats.Quantile) string {
	switch {
	case !q.Measured:
		return "-"
	case q.Latency < time.Second:
		return fmt.Sprintf("%d ms", q.Latency.Milliseconds())
	default:
		return fmt.Sprintf("%.1f s", q.Latency.Seconds())
	}
}
