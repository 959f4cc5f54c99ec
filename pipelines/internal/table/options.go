// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package table runs SQL scripts of tables as pipelines: CREATE TABLE statements
// name topics and how their messages are written, INSERT INTO … SELECT … FROM …
// statements what goes from one to another.
package table

import (
	"errors"
	"fmt"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/runnerflag"
)

// Options say how to run a script.
type Options struct {
	// Runner is where the pipeline runs.
	Runner runnerflag.Choice
	// Explain shows the pipeline and the effective options, and runs nothing.
	Explain bool
	// Bounded ends reading normal topics at what is there when the pipeline starts,
	// and lite topics when nothing came for IdleTimeout.
	Bounded     bool
	IdleTimeout time.Duration
}

// Defaults run until the context ends.
func Defaults() Options { return Options{IdleTimeout: 20 * time.Second} }

// Check refuses options that cannot work.
func (o *Options) Check() error {
	var idle error
	if !o.Bounded && o.IdleTimeout != Defaults().IdleTimeout {
		idle = fmt.Errorf("--idle-timeout %v: give it with --bounded, for the tables do not end without", o.IdleTimeout)
	}
	if o.IdleTimeout < 100*time.Millisecond || o.IdleTimeout > 24*time.Hour {
		idle = fmt.Errorf("--idle-timeout %v: want 100ms to 24h", o.IdleTimeout)
	}
	return errors.Join(idle, o.Runner.Check())
}
