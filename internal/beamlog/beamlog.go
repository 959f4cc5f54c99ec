// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package beamlog carries log/slog records into Beam's log, which a worker
// sends to its runner.
package beamlog

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
)

// Logger returns a logger whose records of level Info and above go to Beam's
// log, each as one line that begins with name.
func Logger(name string) *slog.Logger { return slog.New(&handler{prefix: name}) }

type handler struct {
	prefix string // the name, then the attributes of With
	group  string
}

func (h *handler) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	var line strings.Builder
	line.WriteString(h.prefix + ": " + r.Message)
	r.Attrs(func(a slog.Attr) bool {
		line.WriteString(h.format(a))
		return true
	})
	log.Output(ctx, severity(r.Level), 4, line.String())
	return nil
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	for _, a := range attrs {
		next.prefix += h.format(a)
	}
	return &next
}

func (h *handler) WithGroup(name string) slog.Handler {
	next := *h
	next.group += name + "."
	return &next
}

func (h *handler) format(a slog.Attr) string {
	return fmt.Sprintf(" %s%s=%v", h.group, a.Key, a.Value.Resolve())
}

func severity(l slog.Level) log.Severity {
	switch {
	case l >= slog.LevelError:
		return log.SevError
	case l >= slog.LevelWarn:
		return log.SevWarn
	default:
		return log.SevInfo
	}
}
