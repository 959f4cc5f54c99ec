// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scalebench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/litebench"
)

// Run says how the points are measured.
type Run struct {
	Dimensions []Dimension
	Pairs      int
	// Endpoints are those of a server with topics and groups for Legs.
	Endpoints string
	// Runner gives the runner of a point's pipelines; nil is prism in this
	// process. Not called where it is nil itself.
	Runner func(ctx context.Context, d Dimension, p Point) (litebench.Runner, error)
	// Around is called around each leg of the pipeline, for profiles. May be nil.
	Around func(leg func() error) error
	Log    *slog.Logger
}

// Legs are the names of all legs, see [litebench.Comparison.Legs].
func (r *Run) Legs() []string {
	legs := []string{litebench.WarmUp}
	for _, d := range r.Dimensions {
		for _, p := range d.Points {
			legs = append(legs, r.comparison(d, p).Legs()...)
		}
	}
	return legs
}

func (r *Run) comparison(d Dimension, p Point) *litebench.Comparison {
	return &litebench.Comparison{Name: fmt.Sprintf("%s-%d", d.Name, p.Value), Load: p.Load, Endpoints: r.Endpoints,
		Pairs: r.Pairs, Around: r.Around, Log: r.Log}
}

// SkippedError tells why a dimension cannot be measured here; the others can.
type SkippedError struct{ Reason error }

// Error is the reason.
func (e *SkippedError) Error() string { return e.Reason.Error() }

// Unwrap is the reason.
func (e *SkippedError) Unwrap() error { return e.Reason }

// Measure measures all points. A dimension that fails ends there: the result has
// its points so far and says why, which is an error at the end; the others are
// measured. Of what ctx ends, too, the points so far are in the result. Tell is called with each curve
// that is complete.
func (r *Run) Measure(ctx context.Context, tell func(*Curve) error) (*Result, error) {
	result := &Result{Machine: machineNow(), Pairs: r.Pairs, Curves: map[string]*Curve{}, Skipped: map[string]string{}}
	begin := time.Now()
	defer func() {
		result.Seconds, result.LoadAfter = comparison.Round(time.Since(begin).Seconds(), 0), loadAverage()
	}()
	warm := *r.comparison(Dimension{}, Point{Load: base})
	warm.Load.Messages = warmUpMessages
	if err := warm.WarmUp(ctx); err != nil {
		return result, err
	}
	var failed []error
	for _, d := range r.Dimensions {
		curve := &Curve{Dimension: d}
		result.Curves[d.Name] = curve
		err := r.measure(ctx, d, curve)
		if skipped, ok := errors.AsType[*SkippedError](err); ok {
			delete(result.Curves, d.Name)
			result.Skipped[d.Name] = skipped.Error()
			r.Log.Warn("not measured", "dimension", d.Name, "why", skipped.Error())
			continue
		}
		if err != nil && ctx.Err() != nil {
			return result, err
		}
		if err != nil {
			if len(curve.Points) == 0 {
				delete(result.Curves, d.Name)
			}
			result.Skipped[d.Name] = err.Error()
			failed = append(failed, err)
			continue
		}
		if err := tell(curve); err != nil {
			return result, err
		}
	}
	return result, errors.Join(failed...)
}

// warmUpMessages are enough for a JVM to begin compiling.
const warmUpMessages = 2000

func (r *Run) measure(ctx context.Context, d Dimension, curve *Curve) error {
	for i, p := range d.Points {
		r.Log.Info("measuring", "dimension", d.Name, "at", d.label(p.Value), "point", i+1, "of", len(d.Points))
		c := r.comparison(d, p)
		if r.Runner != nil {
			var err error
			if c.Runner, err = r.Runner(ctx, d, p); err != nil {
				return err
			}
		}
		pairs, err := c.Compare(ctx)
		if err != nil {
			return fmt.Errorf("%s %s: %w", d.Name, d.label(p.Value), err)
		}
		curve.Points = append(curve.Points, measured(p, pairs))
	}
	return nil
}
