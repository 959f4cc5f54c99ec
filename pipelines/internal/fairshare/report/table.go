// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/stats"
)

// Leg is the result of one leg.
type Leg struct {
	Name    string
	Summary stats.Summary
	Points  []stats.Point
}

// Table writes the legs side by side, and what the policy changed for the calm
// tenants if both legs measured it. What an interrupted run did not acknowledge
// is not lost.
func Table(out io.Writer, legs []Leg, interrupted bool) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	missing := "lost"
	if interrupted {
		missing = "left"
	}
	fmt.Fprint(w, "leg\tpublished\tacked\t"+missing+"\tdeferred\tredelivered\tcalm p50\tcalm p99\tnoisy p50\tnoisy p99\ttook\t\n")
	for _, l := range legs {
		s := l.Summary
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%.1f s\t\n", l.Name,
			s.Published, s.DistinctAcked, s.Lost, s.Deferred, s.Redelivered,
			millis(s.CalmP50), millis(s.CalmP99), millis(s.NoisyP50), millis(s.NoisyP99), s.Duration)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if verdict := compare(legs); verdict != "" && !interrupted {
		fmt.Fprintln(out, verdict)
	}
	return nil
}

func millis(ms *float64) string {
	if ms == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f ms", *ms)
}

func compare(legs []Leg) string {
	byName := make(map[string]stats.Summary, len(legs))
	for _, l := range legs {
		byName[l.Name] = l.Summary
	}
	none, fair := byName[NameNone].CalmP99, byName[NameFair].CalmP99
	if none == nil || fair == nil || *none <= 0 || *fair <= 0 {
		return ""
	}
	if *fair >= *none {
		return fmt.Sprintf("The policy did not help: calm tenants waited %.0f ms (p99) with it, %.0f ms without.", *fair, *none)
	}
	return fmt.Sprintf("With the policy, calm tenants waited %.1f times less (p99 %.0f ms instead of %.0f ms).\n"+
		"The noisy tenant waited longer: that is its quota.", *none / *fair, *fair, *none)
}

// The names of the legs.
const (
	NameNone = "none"
	NameFair = "fair"
)
