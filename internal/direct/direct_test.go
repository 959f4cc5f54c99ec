// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package direct

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOnlyTheDirectRunnersBundleIsRefused(t *testing.T) {
	for _, tt := range []struct {
		name    string
		ctx     func(context.Context) context.Context
		refused bool
	}{
		{"no bundle at all", func(ctx context.Context) context.Context { return ctx }, false},
		{"a bundle of another runner", func(ctx context.Context) context.Context { return metrics.SetBundleID(ctx, "inst001_stage-000_23") }, false},
		{"that of the direct runner", func(ctx context.Context) context.Context { return metrics.SetBundleID(ctx, "direct") }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := Refuse(tt.ctx(t.Context()), "io.Read", "io.ReadBounded")
			if (err != nil) != tt.refused {
				t.Fatalf("got %v, want it refused: %v", err, tt.refused)
			}
			for _, want := range []string{"io.Read is unbounded", "io.ReadBounded", "--runner=prism"} {
				if tt.refused && !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it to say %q", err, want)
				}
			}
		})
	}
}

// endlessFn stands for a source without an end.
type endlessFn struct{}

var errNotRefused = errors.New("it was not refused")

func (*endlessFn) Setup(ctx context.Context) error {
	return Refuse(ctx, "io.Read", "io.ReadBounded")
}

func (*endlessFn) ProcessElement([]byte) error { return errNotRefused }

func init() { beam.RegisterDoFn(&endlessFn{}) }

// The name of the bundle is one that the runner of this version of Beam really
// gives, already in Setup.
func TestTheDirectRunnerItselfIsRecognised(t *testing.T) {
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &endlessFn{}, beam.Impulse(s))
	_, err := direct.Execute(t.Context(), p)
	if err == nil || errors.Is(err, errNotRefused) || !strings.Contains(err.Error(), "io.Read is unbounded") {
		t.Errorf("got %v, want the refusal", err)
	}
}
