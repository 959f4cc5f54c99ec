// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"io"
	"log/slog"
	"runtime"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
)

// Init makes Beam ready. Its log, and that of this module's transforms, goes to
// out: warnings and errors, or with verbose everything. Call it once, before a
// pipeline is built.
func Init(out io.Writer, verbose bool) {
	level := slog.LevelWarn
	if verbose {
		level = slog.LevelInfo
	}
	handler := slog.Handler(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level}))
	if !verbose {
		handler = withoutRunner{handler}
	}
	slog.SetDefault(slog.New(handler))
	// The worker lives in this process and logs where the process does. Sent to
	// the runner first, its lines would come back twice at best, and when a job
	// ends the connection's own complaints would come with them.
	hooks.DisableHook(harness.DefaultRemoteLoggingHook)
	if !beam.Initialized() {
		beam.Init()
	}
}

// withoutRunner drops what prism and the SDK's harness log on their own: what
// went wrong reaches the program as the error of the job, and the rest is about
// connections that a cancelled job has cut.
type withoutRunner struct{ slog.Handler }

// Handle drops the record or passes it on.
func (h withoutRunner) Handle(ctx context.Context, r slog.Record) error {
	frame, _ := runtime.CallersFrames([]uintptr{r.PC}).Next()
	if strings.Contains(frame.Function, "/runners/prism/") {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps the filter.
func (h withoutRunner) WithAttrs(attrs []slog.Attr) slog.Handler {
	return withoutRunner{h.Handler.WithAttrs(attrs)}
}

// WithGroup keeps the filter.
func (h withoutRunner) WithGroup(name string) slog.Handler {
	return withoutRunner{h.Handler.WithGroup(name)}
}
