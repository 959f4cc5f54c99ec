// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package portable

import (
	"context"
	"io"
	"log/slog"
	"runtime"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
)

// Init makes Beam ready and sends its log to out: what the transforms warn of,
// or with verbose everything, also from the runner. Call it once, before a
// pipeline is built.
func Init(out io.Writer, verbose bool) {
	// The worker lives in this process and may log where the process does. By
	// default it would send its lines to the runner, which logs them once more,
	// and complain on stderr when a job's end cuts that connection.
	hooks.DisableHook(harness.DefaultRemoteLoggingHook)
	if err := hooks.EnableHook(countingHook); err != nil {
		panic(err) // it is registered in this package
	}
	if !beam.Initialized() {
		beam.Init() // it sets the default logger, so ours comes after it
	}
	level := slog.LevelWarn
	if verbose {
		level = slog.LevelInfo
	}
	var handler slog.Handler = slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})
	if !verbose {
		handler = filter{handler}
		log.SetLogger(transformsOnly{&log.Structural{}})
	}
	slog.SetDefault(slog.New(handler))
}

// runnerCode are the parts of Beam whose log only says once more, and with many
// words, what reaches the program as the error of a job, or complains of
// connections that the end of a job has cut.
var runnerCode = []string{"/beam/runners/", "/beam/core/runtime/harness"}

func fromRunner(function string) bool {
	for _, part := range runnerCode {
		if strings.Contains(function, part) {
			return true
		}
	}
	return false
}

// filter drops what the runner logs through package slog.
type filter struct{ slog.Handler }

// Handle drops the record or passes it on.
func (h filter) Handle(ctx context.Context, r slog.Record) error {
	frame, _ := runtime.CallersFrames([]uintptr{r.PC}).Next()
	if fromRunner(frame.Function) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps the filter.
func (h filter) WithAttrs(attrs []slog.Attr) slog.Handler { return filter{h.Handler.WithAttrs(attrs)} }

// WithGroup keeps the filter.
func (h filter) WithGroup(name string) slog.Handler { return filter{h.Handler.WithGroup(name)} }

// transformsOnly drops what the runner logs through Beam's own package.
type transformsOnly struct{ log.Logger }

// Log drops the message or passes it on. calldepth counts from the caller of
// this method to the code that logs.
func (l transformsOnly) Log(ctx context.Context, sev log.Severity, calldepth int, msg string) {
	if pc, _, _, ok := runtime.Caller(calldepth + 1); ok && fromRunner(runtime.FuncForPC(pc).Name()) {
		return
	}
	l.Logger.Log(ctx, sev, calldepth+1, msg)
}
