// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"log/slog"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// console is where a command says what it does.
type console struct {
	stdout, stderr io.Writer
	log            *slog.Logger // to stderr
}

// newConsole makes Beam ready, too. Beam, prism and the transforms log warnings
// only.
func newConsole(stdout, stderr io.Writer) *console {
	if !beam.Initialized() {
		beam.Init() // which sets the default logger
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	return &console{stdout, stderr, slog.New(slog.NewTextHandler(stderr, nil))}
}
