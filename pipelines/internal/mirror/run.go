// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/follow"
)

// ErrInterrupted is returned by [Run] when its context ended first.
var ErrInterrupted = errors.New("interrupted")

// Run copies until the options' end, or until ctx ends, which is
// [ErrInterrupted]. It reports to out: a line a second, and at its end one line of
// JSON.
func Run(ctx context.Context, o Options, out io.Writer) error {
	if err := o.Check(); err != nil {
		return err
	}
	if err := o.checkRoutes(ctx); err != nil {
		return err
	}
	pipeline, err := o.build()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s at %s → %s at %s, %s, on %s\n", o.From.Topic, o.From.Address, o.To.Topic, o.To.Address, o.Guarantee, o.Runner.Name())
	return follow.Run(ctx, &o.Runner, "mirror", pipeline, newProgress(out), ErrInterrupted)
}
