// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package portable

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
)

func init() {
	register.Function1x1(length)
	register.Function2x1(fail)
	register.Function2x1(wait)
}

func length(b []byte) int { return len(b) }

func fail(context.Context, []byte) error { return errors.New("the disk is full") }

// waiting tells a test that wait has begun.
var waiting = make(chan struct{}, 1)

func wait(ctx context.Context, _ []byte) error {
	waiting <- struct{}{}
	<-ctx.Done()
	return ctx.Err()
}

func TestMain(m *testing.M) {
	Init(io.Discard, false)
	os.Exit(m.Run())
}

func start(t *testing.T) *Server {
	t.Helper()
	r, err := Prism(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRunRunsAPipelineToItsEnd(t *testing.T) {
	p, s := beam.NewPipelineWithRoot()
	passert.Equals(s, beam.ParDo(s, length, beam.Impulse(s)), 0)
	if err := start(t).Run(t.Context(), "test", p, Options{}); err != nil {
		t.Error(err)
	}
}

func TestRunSaysInPlainWordsWhyAPipelineFailed(t *testing.T) {
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, fail, beam.Impulse(s))
	err := start(t).Run(t.Context(), "test", p, Options{})
	if err == nil || err.Error() != "the disk is full" {
		t.Errorf("got %q, want %q", err, "the disk is full")
	}
}

func TestRunLeavesNoFileBehind(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo(s, length, beam.Impulse(s))
	if err := start(t).Run(t.Context(), "test", p, Options{}); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestFilterKeepsTheRunnerQuiet(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(filter{slog.NewTextHandler(&out, nil)}).With("a", 1).WithGroup("g")
	log.Warn("from a transform", "b", 2)
	if !strings.Contains(out.String(), "from a transform") {
		t.Errorf("got %q, want the warning", &out)
	}
	for function, want := range map[string]bool{
		"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism/internal/worker.(*W).Data": true,
		"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness.(*dataWriter).send": true,
		"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/exec.(*Plan).Execute":       false,
		"github.com/rocketmq-beam/rocketmq-beam/internal/beamlog.(*handler).Handle":          false,
	} {
		if got := fromRunner(function); got != want {
			t.Errorf("fromRunner(%q) = %v, want %v", function, got, want)
		}
	}
}
